"""Values of the zoo that an argument takes without a word, and why that is right: all others must be refused."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Rule:
    """These values are good for these arguments. An argument is "rtol" (of everything) or "Solution.word: side" (of one call)."""

    values: frozenset
    arguments: frozenset
    reason: str


def _rule(values, arguments, reason):
    labels, names = (frozenset(text.strip() for text in part.split(",")) for part in (values, arguments))
    return Rule(labels, names, reason)


RULES: list[Rule] = [
    _rule("reversed span", "x0, atol, eps, guess", "two numbers: a value for each of two states, or guards"),
    _rule(
        "-1, 0, empty list, slice",
        "Events.__getitem__: key",
        "numbers of events (from the end too), slices and an empty list choose events as in NumPy",
    ),
    _rule(
        "0, 0.5, empty list",
        "Solution.__call__: t, Solution.word: t, Solution.rate: t",
        "a time within the trajectory, or no times",
    ),
    _rule("text, another name", "Solution.save: path", "any text is the name of a file"),
    _rule("-1, 0, 0.5, huge", "integrate: t0, integrate: tf", "any time is a start, and any later one an end"),
    _rule("reversed span", "integrate: x0", "two numbers are a state"),
]


def reason(name, argument, label, call):
    """Why this value is good for this argument; None if nothing says so."""
    plain = name.partition(" (")[0]
    for rule in RULES:
        if label in rule.values and ({argument, f"{plain}: {argument}"} & rule.arguments):
            return rule.reason
    return None
