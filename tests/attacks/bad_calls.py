"""Bad calls of the public API, generated: each must raise a documented exception that names the argument, within seconds.

    python -m tests.attacks.bad_calls 1500 7      # so many calls, this seed

A call is a good one in which one argument is replaced by a value that is wrong for it. `tests/attacks/test_bad_calls.py` runs
some of them.
"""

import datetime
import decimal
import sys
import time
import warnings
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

import bouligand as bd

DOCUMENTED = (ValueError, TypeError, bd.BouligandError)
SLOW = 5.0  # seconds


@dataclass
class Call:
    """A good call: what is called, its arguments by name, and the values that are wrong for each."""

    function: object
    arguments: dict
    wrong: dict = field(default_factory=dict)
    says: dict = field(default_factory=dict)  # what the message may call an argument instead of its name


# ------------------------------------------------------------------------------------------------------ wrong values

NOT_NUMBERS = ["a", b"a", 1j, None, object(), {}, {"a": 1}, [], (), "1.0", datetime.date(2020, 1, 1), lambda: 1.0, [[]]]
NOT_NUMBERS += [np.datetime64("2020-01-01"), decimal.Decimal("NaN"), np.array("a"), np.ma.masked, slice(3)]
NOT_FINITE = [np.nan, np.inf, -np.inf, np.float32("nan")]


_RAGGED = [[1.0, 2.0, 3.0], [1.0]]


def vectors(n, signs=False, batches=False):
    """What is no vector of n finite numbers (or, with batches, no matrix of n columns either)."""
    long, short = [1.0] * (n + 1), [1.0] * (n - 1)
    out: list[Any] = [
        "abc",
        b"abc",
        1j,
        object(),
        {1.0: 2.0},
        long,
        short,
        np.ones((n, n)),
        np.ones((1, n + 1)),
        ["a"] * n,
        [None] * n,
    ]
    out += [np.ones(n, dtype=complex), [1j] * n, _RAGGED, np.array(["x"] * n), [[1.0, 2.0]] * n, set("ab")]
    out += [
        np.ma.masked_array(np.ones(n), mask=[True] + [False] * (n - 1)),
        np.ones(n, dtype="datetime64[s]"),
        [object()] * n,
    ]
    bad = [np.nan, np.inf] + ([0.0, 2.0, 0.5] if signs else [])
    if batches:
        out = [value for value in out if not (value is not _RAGGED and np.ndim(value) == 2 and np.shape(value)[1] == n)]
    return out + [[value] + [1.0] * (n - 1) for value in bad]


def positive():
    return [*NOT_NUMBERS[:3], *NOT_NUMBERS[4:], *NOT_FINITE, 0.0, -1.0, [1.0, 2.0, 3.0]]


def counts():
    return [*NOT_NUMBERS, *NOT_FINITE, -1, 0, 1.5, True, [1, 2]]


def functions(count):
    """Functions with a wrong number of arguments, and what is no function."""
    few = [lambda: 1.0, lambda a: 1.0, lambda *a: 1.0, lambda **a: 1.0, lambda a, b, c, d, e, f, g: 1.0]
    return [*few, 1.0, "f", [], {}, object(), np.ones(3), print if count == 0 else 3]


# ------------------------------------------------------------------------------------------------------ the good calls


def f(t, x, b, p):
    return np.array([x[1], (p[1] * (p[2] - x[0]) if b[0] > 0 else 0.0) - p[0]])


def h(t, x, p):
    return np.array([p[2] - x[0]])


PARAMS = {"g": 9.81, "k": 1000.0, "rest": 1.0}


@cache
def system():
    return bd.System(f, h, states=("z", "vz"), guards=("foot",), params=PARAMS, name="hopper")


@cache
def solution():
    return bd.solve(system(), (0.0, 2.0), [2.0, 0.0])


@cache
def derivative():
    return solution().bderivative(params=True)


@cache
def corner():
    return bd.Corner(lambda word: np.array([1.0, 1.0 + 0.1 * word[0]]), np.eye(2))


def stepped(**arguments):
    stepper = bd.Stepper(system(), (0.0, 2.0), [2.0, 0.0])
    stepper.p = arguments["p"]


def python_system(f, h):
    """One that is not compiled, to the end: what functions return is only known when they are called."""
    return bd.solve(bd.System(f, h, n=2, m=1, params=PARAMS, compile=False), (0.0, 1.0), [2.0, 0.0])


def compiled_system(f, h):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bd.PerformanceWarning)
        return bd.solve(bd.System(f, h, n=2, m=1, params=PARAMS), (0.0, 1.0), [2.0, 0.0])


def returns(*values):
    """Functions f(t, x, b, p) that return such values."""
    return [lambda t, x, b, p, value=value: value for value in values]


def guards_return(*values):
    return [lambda t, x, p, value=value: value for value in values]


def writes_x(t, x, b, p):
    x[0] = 3.0
    return np.array([0.0, 1.0])


def writes_p(t, x, b, p, dx):
    dx[0], dx[1] = 0.0, 0.0
    p[0] += 1.0


def writes_b(t, x, b, p):
    b[0] = -b[0]
    return np.array([0.0, 1.0])


def adds(t, x, b, p, dx):
    dx[0] = 1.0
    dx[1] += 1.0


def forgets(t, x, b, p, dx):
    dx[0] = 1.0
    if b[0] > 0:
        dx[1] = 1.0


def fails(t, x, b, p):
    raise ValueError("f says so")


BAD_F = [writes_x, writes_p, writes_b, adds, forgets, fails]
BAD_F += returns(
    None, 1.0, (), (1.0,), [1.0, 2.0, 3.0], np.ones((2, 2)), "ab", [1j, 1.0], [None, 1.0], ["1", "2"], {"a": 1}
)
BAD_H = guards_return(None, (), [1.0, 2.0], "a", [1j], [None], np.ones((1, 2)), ["1"])


def calls():
    """Every good call, with what is wrong for each of its arguments."""
    s, sol, B, c = system(), solution(), derivative(), corner()
    names = [1, 1.5, [1, 2], [None], object(), ["a", "a"], ("a", "b", "c", 5)]
    no_guards = ["nobody", 7, -1, 1.5, object(), ["nobody"], [None], [1.5], ("foot", "nobody")]
    no_system = [f, None, 1, "hopper", object(), solution()]
    no_times = [*NOT_NUMBERS[:2], 1j, object(), *NOT_FINITE, -1.0, 5.0, [0.0, 3.0], [0.0, np.nan], ["a"], [[1j]]]
    spans: list[object] = [
        None,
        1.0,
        (0.0,),
        (0.0, 1.0, 2.0),
        (1.0, 0.0),
        ("a", 1.0),
        (0.0, np.nan),
        (0.0, np.inf),
        (0.0, 1j),
        {},
        "ab",
    ]
    spans += [(None, 1.0), ([0.0], [1.0, 2.0]), np.ones((2, 2)), "0", (np.nan, np.nan), object(), (0.0, 1e305)]
    options = {
        "rtol": [*positive(), 1.0, 1e-20, 2.0],
        "atol": ["a", 1j, object(), -1.0, np.nan, np.inf, [1.0, 2.0, 3.0], ["a", "b"], [1e-6, -1.0], [np.nan, 1.0], {}],
        "method": ["rk45", None, 5, ["dopri5"], object(), "DOP853", b"dopri5"],
        "max_step": [x for x in positive() if x is not np.inf and x != np.inf],
        "max_steps": counts(),
        "t_eval": [[0.0, 3.0], [1.0, 0.5], "a", [np.nan], [[0.0, 1.0]], ["a"], [1j], object(), 0.5, [-1.0], [None]],
        "terminal": [*no_guards, True, {"foot": 0}, {"foot": 1.5}, {"foot": "a"}, {"nobody": 1}, {"foot": None}, 3.5],
        "breakpoints": ["a", [np.nan], [1j], object(), ["a"], [None], [np.inf], {"a": 1}],
        "b0": [x for x in vectors(1, True) if not isinstance(x, list) or len(x) != 1 or x != [1.0]],
        "eps": [
            "a",
            0.0,
            -1.0,
            np.nan,
            np.inf,
            [1.0, 2.0],
            {"nobody": 1.0},
            {"foot": "a"},
            1j,
            object(),
            ["a"],
            {"foot": -1.0},
        ],
        "projection": [2, 4, "euler", None, object(), 1.5, [2]],
    }
    several = vectors(2)
    base = {"system": s, "t_span": (0.0, 1.0), "x0": [2.0, 0.0], "p": {"k": 900.0}}
    wrong_p = [
        {"nobody": 1.0},
        {"k": "a"},
        {"k": np.nan},
        {"k": None},
        {"k": [1.0, 2.0]},
        {1: 2.0},
        "abc",
        5.0,
        *vectors(3),
    ]
    common = {"system": no_system, "t_span": spans, "x0": several, "p": wrong_p}
    good = {"rtol": 1e-6, "method": "auto"}
    made = {"f": f, "h": h, "states": ("z", "vz"), "guards": ("foot",), "params": PARAMS}
    sized = {"f": f, "h": h, "n": 2, "m": 1, "params": PARAMS}
    with_projection = {key: value for key, value in options.items() if key != "projection"}
    return [
        Call(bd.solve, base | good, common | with_projection | {"on_failure": ["ignore", None, 1, ["raise"]]}),
        Call(bd.solve, base, {"projection": options["projection"][:1] + options["projection"][1:3]}, {"projection": ("eps",)}),
        Call(bd.solve, base | {"eps": 1e-3}, {"projection": [4, "euler", object(), 1.5, [2]]}),
        Call(bd.Stepper, base, common | with_projection),
        Call(stepped, {"p": {"k": 1.0}}, {"p": wrong_p}),
        Call(bd.System, made, {
            "f": functions(4), "h": functions(3), "states": names, "guards": names, "params": [
                "a", 1j, {"k": "a"}, {"k": None}, {"k": np.nan}, {"k": [1.0, 2.0]}, {1: 2.0}, [np.nan], ["a"], object(), [[1j]],
            ],
            "direction": [2, "a", [1, 1], {"nobody": 1}, {"foot": 3}, np.nan, 0.5, 1j, object(), {"foot": "a"}],
            "observers": no_guards, "reset": [np.ones((2, 2)), "a", [[1.0]], [[np.nan]], 5, object(), [["a"]]],
            "breakpoints": options["breakpoints"], "compile": ["yes", None, 2, [True], object()], "name": [5, ["a"], object()],
            "unit": [["z"], [("z", "nobody")], 5, [5], [("vz", "z")], [(0, 7)], [slice(0, 1)], [(0.5, 1.5)], "z", [object()]],
            "context": [5, "a", []], "Dh": functions(3), "Df": functions(4), "g": [lambda t, x, k, p: x], "colour": ["red"],
            "fh": functions(6), "Dh_row": functions(4), "Dt_h": functions(3), "Dp_f": functions(4), "f0": functions(3),
        }, {"g": ("f0",), "Dh": ("Dh",)}),
        Call(bd.System, sized, {
            "n": [*counts(), 10**9, 10**30], "m": [q for q in counts() if q != 0 and q is not None], "states": [("a", "b", "c")]},
             {"states": ("n =",), "n": ("states", "n"), "m": ("guards", "m")}),
        Call(python_system, {"f": f, "h": h}, {"f": BAD_F, "h": BAD_H}),
        Call(compiled_system, {"f": f, "h": h}, {"f": BAD_F[:8], "h": BAD_H[:4]}),
        Call(s.parameters, {"p": {"k": 1.0}}, {"p": wrong_p}),
        Call(s.guard_index, {"guard": "foot"}, {"guard": ["nobody", 7, -1, 1.5, None, object(), True, [0], "0", np.nan, 1j]}),
        Call(s.function, {"name": "f"}, {"name": ["F", None, 5, "nobody", ["f"]]}, {"name": ("function",)}),
        Call(bd.check, {"system": s, "x": [1.5, -1.0]}, {
            "system": no_system, "x": several, "p": wrong_p, "t": ["a", 1j, np.nan, np.inf, None, [1.0], object()],
            "guards": no_guards[:7], "tol": ["a", None, np.nan, 1j, object(), [1.0]],
        }),
        Call(bd.normalised, {"system": s, "eps": 1e-3, "x": [1.5, -1.0]}, {
            "system": no_system, "eps": [*NOT_NUMBERS, *NOT_FINITE, 0.0, -1.0], "x": several,
        }),
        Call(sol, {"t": 0.5}, {"t": [*no_times, None]}),
        Call(sol.word, {"t": 0.5}, {"t": [*no_times, None], "side": ["up", None, 1, ["left"]]}),
        Call(sol.rate, {"t": 0.5}, {"t": [*no_times, None, [0.5, 0.6]], "side": ["up", None, 1, ["left"]]}),
        Call(sol.bderivative, {}, {
            "t": ["a", 1j, np.nan, -1.0, 5.0, 0.0, [], [5.0], ["a"], [np.nan], [[0.5]], object()],
            "rtol": ["a", 0.0, -1.0, np.nan, 1j, [1.0]], "since": ["a", 1j, np.nan, -1.0, 5.0, 2.0, [1.0], object()],
            "event": ["a", 99, -99, 1.5, [0], object(), True], "merge": ["a", -1.0, np.nan, np.inf, 1j, [1.0], object()],
        }),
        Call(B, {"dx": [0.1, 0.0]}, {
            "dx": vectors(2, batches=True), "dp": [*vectors(3, batches=True), {"nobody": 1.0}, {"k": "a"}, {"k": None}],
            "dt0": ["a", 1j, np.nan, np.inf, None, object(), ["a"], [[1.0]], {}],
        }),
        Call(B.matrix, {"dx": [0.1, 0.0]}, {"dx": several, "wrt": ["y", None, 1, ["x"]], "dt0": ["a", np.nan, None, object()]}),
        Call(B.vjp, {"w": [1.0, 0.0]}, {"w": [*several, None], "dx": several}),
        Call(sol.sensitivity, {}, {
            "wrt": ["nobody", 5, [None], object()], "t": [*no_times, [[0.5]]], "dx": several, "dp": [{"nobody": 1.0}, {"k": "a"}],
        }),
        Call(sol.bderivative([0.3, 0.5]).matrix, {}, {"wrt": ["p", "nobody", 5, [None]], "dx": several}),
        Call(sol.bderivative([0.3, 0.4, 0.5]).vjp, {"w": np.ones((3, 2))}, {"w": [*several, None], "dx": several}),
        Call(B.event_times, {"dx": [0.1, 0.0]}, {"dx": several, "dt0": ["a", np.nan, None]}),
        Call(B.pieces, {}, {"limit": ["a", None, 0, -1, 1.5, np.nan, object()]}),
        Call(bd.Corner, {"F": {(-1,): (1.0,), (1,): (2.0,)}, "Dh": [[1.0]]}, {
            "F": [5, None, "a", {5: 1.0}, object(), [1, 2]], "Dh": ["a", [1.0], [[np.nan]], [[1j]], 5, None, object(), [["a"]]],
            "Dt_h": [[1.0, 2.0], "a", [np.nan], 1j, object()], "before": [[0.0], [1.0, 1.0], "a", [np.nan], object()],
        }),
        Call(c, {"dx": [0.1, 0.0]}, {"dx": [*vectors(2, batches=True), None]}),
        Call(c.matrix, {"dx": [0.1, 0.0]}, {"dx": [*several, None]}),
        Call(bd.saltation, {"f_before": [1.0, 0.0], "f_after": [2.0, 0.0], "Dh": [1.0, 0.0]}, {
            "f_before": [*several, None], "f_after": [*several, None], "Dh": [*several, None],
            "Dt_h": ["a", 1j, np.nan, None, object(), [1.0, 2.0]],
        }),
        Call(bd.Shooting, {"system": s, "t_span": (0.0, 0.2), "x0": [2.0, 0.0]}, {
            "system": no_system, "x0": several, "p": wrong_p, "free": [5, ["nobody"], [None], [1], "nobody", object()],
            "failed": ["a", np.nan, 1j, [1.0], object()],
        }),
        Call(bd.Shooting(s, (0.0, 0.2), [2.0, 0.0]).fit, {"t": [0.1], "data": [[1.0, 0.0]]}, {
            "t": ["a", [], [np.nan], 1j, [[0.1]], object(), [0.1, 0.2]], "data": ["a", [np.nan], 5.0, [[1.0]], None, object()],
            "observe": [5, "nobody", ["z", None], object()], "weights": ["a", np.nan, [1.0, 2.0], None, object()],
            "rtol": ["a", None, np.nan, object()],
        }, {"t": ("t must", "data must"), "observe": ("observe", "data must")}),
        Call(bd.Shooting(s, (0.0, 0.2), [2.0, 0.0]), {"theta": [2.0, 0.0]}, {"theta": [*several, None]}),
        Call(bd.models.oscillators, {"count": 2}, {"count": [*counts(), 10**9], "a": ["a", np.nan, None, [1.0]]}),
        Call(bd.models.plate, {"contacts": 2}, {
            "contacts": counts(), "positions": ["a", [np.nan], [[1.0]], [], 1j, object()], "mass": ["a", np.nan, None],
        }, {"mass": ("mass", "inertia", "unsupported operand", "params", "can't multiply")}),
        Call(bd.models.hand, {"fingers": 2}, {"fingers": counts(), "torque": ["a", [1.0, 2.0, 3.0], np.nan, 1j, None, object()]}),
        Call(bd.models.hopper, {}, {"g": ["a", np.nan, None, [1.0], 1j, object()]}),
        Call(bd.integrate, {
            "f": lambda x, b: [x[1], -1.0 + (0.5 if b[0] > 0 else 0.0)], "h": lambda x: [x[0]], "Dh": lambda x: [[1.0, 0.0]],
            "eps": 1e-3, "x0": [-1.0, 1.0], "t0": 0.0, "tf": 0.5,
        }, {
            "f": [5, None, "a"], "h": [5, None, lambda x: "a", lambda x: [1j]], "Dh": [5, None, lambda x: [1.0], lambda x: "a"],
            "eps": options["eps"], "x0": ["a", [[1.0]], [1j, 1.0], object(), ["a", "b"], None],
            "pool": ["mine", None, 1, ["armed"]],
            "t0": ["a", np.nan, None, 1.0, 1j, object()], "tf": ["a", np.nan, np.inf, None, -1.0, 1j, object()],
        }, {"t0": ("t_span",), "tf": ("t_span",)}),
    ]  # fmt: skip


# ------------------------------------------------------------------------------------------------------------ the attack


def every_call():
    """(call, argument, wrong value) for all there are."""
    return [(call, name, value) for call in calls() for name, values in call.wrong.items() for value in values]


def attack(slow, call, name, value):
    """What is wrong with how the library answers to a bad call; None if nothing is."""
    label = getattr(call.function, "__qualname__", type(call.function).__name__)
    what = f"{label}({name}={str(value)[:60]})"
    began = time.perf_counter()
    try:
        call.function(**(call.arguments | {name: value}))
    except DOCUMENTED as error:
        text = str(error) + " ".join(getattr(error, "__notes__", ()))
        if not any(word in text for word in call.says.get(name, (name,))):
            return f"{what}: the message does not name it: {type(error).__name__}: {text[:150]}"
    except BaseException as error:
        return f"{what}: {type(error).__name__}: {str(error)[:150]}"
    else:
        return f"{what}: no exception"
    seconds = time.perf_counter() - began
    return f"{what}: took {seconds:.1f} s" if seconds > slow else None


def attacks(count, seed, slow=SLOW):
    """So many bad calls, chosen at random; what was wrong with the answers."""
    everything = every_call()
    chosen = np.random.default_rng(seed).permutation(len(everything))[:count]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return len(chosen), [found for q in chosen if (found := attack(slow, *everything[q])) is not None]


if __name__ == "__main__":
    done, found = attacks(
        int(sys.argv[1]) if len(sys.argv) > 1 else 10**9, int(sys.argv[2]) if len(sys.argv) > 2 else 0
    )
    print("\n".join(sorted(found)))
    print(f"{done} bad calls, {len(found)} answered wrongly")
