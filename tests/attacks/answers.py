"""How the library answers to one bad call, and whether that is as it should be."""

import re
import time
import warnings
from dataclasses import dataclass

import bouligand as bd

from . import accepted, good_calls, public_api, zoo

OF_PYTHON = (TypeError, ValueError)
# options that may be None
WITHOUT = {"atol", "eps", "projection", "t_eval", "terminal", "breakpoints", "b0", "progress"}
# values that are wrong only for some sizes, names and times of others
SIZES = {"vector of 7", "matrix", "cube", "one more", "one less", "ten times as many", "one axis more", "reversed span"}
SIZES |= {
    "empty list",
    "empty dict",
    "dict of nobody",
    "name of nobody",
    "a key of nobody",
    "another name",
    "text",
    "0.5",
    "huge",
}
WELL = ("refused", "justified", "no solution")  # the other answers are defects


@dataclass
class Answer:
    """One bad call and what came of it.

    kind : "refused" (by an error that names the argument), "no solution" (an error of the library that says what is wrong with
    the problem), "justified" (accepted, and a rule says why), "silent" (accepted without a reason), "unnamed" (TypeError or
    ValueError that does not name the argument), "undocumented" (another exception), "late" (accepted by the call, refused in
    use), "slow", "hang" or "crash".
    """

    name: str
    argument: str
    label: str
    kind: str
    detail: str = ""

    def __str__(self):
        return f"{self.kind:12} {self.name}({self.argument}={self.label}) {self.detail}"


def tasks(name):
    """(argument, label) of all bad calls made from one good call, which is tried first."""
    call = good_calls.GOOD[name]()
    result = call.function(**call.arguments)
    if call.then is not None:
        call.then(result)
    call = good_calls.GOOD[name]()
    return [(argument, label) for argument in attacked(call) for label, _ in values(call, argument)]


def attacked(call):
    """The arguments of a call that are attacked: those given, and those that have defaults."""
    names = dict.fromkeys([*public_api.arguments(call.function), *call.arguments])
    return [name for name in names if name not in call.leave]


def values(call, argument):
    """(label, function that makes a value) of what is wrong for an argument, or may be."""
    default = public_api.arguments(call.function).get(argument)
    for label, make in zoo.wrong_values(call.arguments.get(argument), call.particular.get(argument, ())):
        if label == "None" and (default is None or argument in WITHOUT):
            continue  # (it is documented to be left out)
        if label == "other system" and argument == "system":
            continue  # (a good one)
        yield label, make


def ask(name, argument, label):
    """Makes one bad call, and judges the answer."""
    call = good_calls.GOOD[name]()
    value = dict(values(call, argument))[label]()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        kind, detail = _called(call, argument, label, value)
    if kind == "silent":
        reason = None if label.startswith("particular") else accepted.reason(name, argument, label, call)
        kind, detail = ("justified", reason) if reason is not None else (kind, detail)
    return Answer(name, argument, label, kind, detail)


def _called(call, argument, label, value):
    began = time.perf_counter()
    try:
        result = call.function(**(call.arguments | {argument: value}))
    except BaseException as error:
        kind, detail = _judged(call, argument, error)
    else:
        try:
            if call.then is not None:
                call.then(result)
            return "silent", ""
        except bd.BouligandError as error:
            kind, detail = "no solution", _text(error)
        except BaseException as error:
            # (what a function returns is only known when it is called; and what it raises itself is passed on with a note)
            kind, detail = _judged(call, argument, error)
            own = re.search(r" in [fh]\(t = ", detail)
            known_later = (callable(value) and not isinstance(value, type)) or (
                argument in call.later and label in SIZES
            )
            if not own and (kind != "refused" or not known_later):
                kind, detail = "late", f"{type(error).__name__}: {_text(error)}"
            elif own:
                kind = "refused"
    seconds = time.perf_counter() - began
    return kind, f"({seconds:.1f} s) {detail}" if seconds > 5.0 else detail


def _judged(call, argument, error):
    text = _text(error)
    if isinstance(error, (*OF_PYTHON, *call.raises)):
        words = (argument, *call.says.get(argument, ()))
        if any(re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text) for word in words):
            return "refused", text
        return "unnamed", text
    if isinstance(error, bd.BouligandError):
        return "no solution", text
    if isinstance(error, KeyError) and "the function's own error" in text:
        return "refused", text
    return "undocumented", f"{type(error).__name__}: {text}"


def _text(error):
    text = " ".join([str(error), *getattr(error, "__notes__", ())])
    return text if len(text) < 300 else text[:290] + " ..."


def refused_constructors():
    """Classes that only the library makes, but whose constructors do not say so."""
    public, out = public_api.callables(), []
    for name in sorted(good_calls.MADE_BY_THE_LIBRARY):
        for arguments in ((), (object(),), (1, 2, 3)):
            try:
                public[name](*arguments)
            except TypeError as error:
                if "no public constructor" in str(error):
                    continue
                out.append(f"{name}{arguments}: {error}")
            except BaseException as error:
                out.append(f"{name}{arguments}: {type(error).__name__}: {error}")
            else:
                out.append(f"{name}{arguments}: made")
    return out


def missing():
    """Public callables without a good call."""
    named = {name.partition(" (")[0] for name in good_calls.GOOD} | good_calls.MADE_BY_THE_LIBRARY
    named |= good_calls.CALLED_BY_THE_LIBRARY.keys()
    public = public_api.callables()
    return sorted(name for name in set(public) - named if public_api.arguments(public[name]).keys() - {"self", "cls"})


def unknown():
    """Good calls of what is not public."""
    named = {name.partition(" (")[0] for name in good_calls.GOOD} | good_calls.MADE_BY_THE_LIBRARY
    named |= good_calls.CALLED_BY_THE_LIBRARY.keys()
    return sorted(named - set(public_api.callables()))
