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
    _rule(
        "function of any, a function that returns NaN, a function that returns text, a function that returns complex, "
        "a function that returns an empty tuple, a function that returns a vector of 7, a function that returns a ragged list, "
        "a function that returns an object",
        "plot.animate: draw",
        "a drawing draws, and what it returns is not looked at",
    ),
    _rule("0.5", "plot.animate: fps", "pictures may be shown for two seconds each"),
    _rule("0.5, huge, 1e300", "plot.animate: speed", "any pace; a film has at least two pictures"),
    _rule("0", "plot.animate: gait, plot.contacts: guards", "the number of a guard"),
    _rule("True", "plot.animate: gait", "all contacts"),
    _rule("text, empty text, True", "plot.animate: progress", "whether there is a bar, or its title"),
    _rule("-1", "plot.contacts: sign, plot.stretches: sign", "the other side"),
    _rule("0", "plot.stretches: sign", "stretches of sliding and rest"),
    _rule("-1, 0, 0.5, huge, 1e300", "plot.contacts: ties", "any time; a negative one draws no ties"),
    _rule("one more, a name twice", "plot.trajectory: states, plot.cycle: states", "a state may be drawn twice"),
    _rule("0.5, huge, 1e300", "plot.fan: radius, plot.perturbations: radius", "a circle of any size"),
    _rule("0", "plot.fan: state, plot.residuals: experiment", "a number"),
    _rule(
        "empty list, one more, one less, ten times as many",
        "plot.fan: levels",
        "any number of bands, or the median alone",
    ),
    _rule("text, empty text, another name", "plot.map: label, plot.track: label", "any text is a label"),
    _rule(
        "True",
        "plot.map: bar, plot.perturbations: flow, plot.trajectory: mark, plot.mechanisms.frame: floor",
        "a switch",
    ),
    _rule(
        "a key of nobody, a key of another kind",
        "plot.track: truth, plot.track: data",
        "columns that are not drawn are not looked at",
    ),
    _rule(
        "-1, 0, 0.5, huge, 1e300",
        "plot.mechanisms.frame: t, plot.mechanisms.project: azimuth, plot.mechanisms.project: elevation, "
        "plot.mechanisms.spring: width",
        "any number is a time, an angle or a width",
    ),
    _rule("reversed span", "plot.mechanisms.frame: across, plot.mechanisms.frame: up", "limits may run backwards"),
    _rule("reversed span", "plot.mechanisms.spring: start, plot.mechanisms.spring: stop", "two numbers are a point"),
    _rule("one more, ten times as many", "plot.mechanisms.project: points", "any number of points"),
]


def reason(name, argument, label, call):
    """Why this value is good for this argument; None if nothing says so."""
    plain = name.partition(" (")[0]
    for rule in RULES:
        if label in rule.values and ({argument, f"{plain}: {argument}"} & rule.arguments):
            return rule.reason
    return None
