"""Damaged files of solutions: each is loaded, with and without its system, and all of it is used."""

from __future__ import annotations

import json
import pathlib
import random
import tempfile
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

import bouligand as bd
from bouligand.models.plate import START
from bouligand.solution import sealed

Arrays = dict[str, Any]

INTS = (-1, 0, 1, 2, 3, 5, 7, 11, 20, 30, 99, 101, 513, 1000, 2**31, 2**62, -(2**63))
FLOATS = (np.nan, np.inf, -np.inf, 1e308, -1.0, 0.0, 1.0, 1e-320, 0.5, 1e15, -0.3)
JSON: tuple[Any, ...] = (
    None,
    -1,
    0,
    10**30,
    "x",
    "",
    [],
    {},
    True,
    float("nan"),
    [[]],
    1.5,
    ["a"] * 3,
    {"a": 1},
    [-1],
    [10**9],
    2**63,
)
_OTHER_INTEGERS = [("events", field) for field in ("shown", "jumped", "returns")]
TYPES = ("f4", ">f8", "c16", "i4", "i8", "u8", "U4", "S8", "?", "O", "M8[s]", "V8")


# ------------------------------------------------------------------------------------------------------ what is damaged


def hopper() -> tuple[bd.System, bd.Solution]:
    system = bd.models.hopper()
    return system, bd.solve(system, (0.0, 2.0), [2.0, 0.0], rtol=1e-8)


def plate() -> tuple[bd.System, bd.Solution]:
    """Steps across many crossings, and requested times."""
    system = bd.models.plate(100)
    return system, bd.solve(system, (0.0, 1.0), START, t_eval=[0.1, 0.9])


def ball() -> tuple[bd.System, bd.Solution]:
    """Jumps of the state."""
    system = bd.models.bouncing_ball()
    return system, bd.solve(system, (0.0, 1.0), [1.0, 0.0])


def resting() -> tuple[bd.System, bd.Solution]:
    """A ball that comes to rest."""
    system = bd.System(
        lambda t, x, b, p: (x[1], -p[0]),
        lambda t, x, p: (x[0],),
        states=("z", "vz"),
        guards=("floor",),
        params={"g": 9.81},
        jumps={"floor": lambda t, x, b, p: (x[0], -0.5 * x[1])},
        direction={"floor": -1},
        rest="floor",
    )
    return system, bd.solve(system, (0.0, 3.0), [1.0, 0.0])


def moon() -> tuple[bd.System, bd.Solution]:
    """Parameters that change on the way."""
    system = bd.models.hopper()
    stepper = bd.Stepper(system, (0.0, 1.0), [2.0, 0.0])
    stepper.advance(0.5)
    stepper.p = {"g": 1.62}
    return system, stepper.finish()


def block() -> tuple[bd.System, bd.Solution]:
    """A guard on which the trajectory stays, and steps of the stiff method."""
    system = bd.System(
        lambda t, x, b, p: (x[1], -x[0] - p[0] * b[0], -1e3 * (x[2] - x[0])),
        lambda t, x, p: (x[1],),
        states=("x", "v", "fast"),
        guards=("slips",),
        params={"mu": 0.3},
        sliding="filippov",
    )
    return system, bd.solve(system, (0.0, 12.0), [2.0, 0.0, 0.0], method="stiff")


def blocks() -> tuple[bd.System, bd.Solution]:
    """Several guards on which the trajectory stays in turn."""
    system = bd.models.three_blocks()
    return system, bd.solve(system, (0.0, 5.0), bd.models.available()["three_blocks"].start, rtol=1e-5)


def relay() -> tuple[bd.System, bd.Solution]:
    """An integration that failed."""
    system = bd.System(lambda t, x, b, p: (-b[0],), lambda t, x, p: (x[0],), n=1, guards=("switch",))
    return system, bd.solve(system, (0.0, 2.0), [1.0], on_failure="return")


GOOD = (hopper, plate, ball, resting, moon, block, blocks, relay)


def used(solution: bd.Solution, system: bd.System | None) -> Arrays:
    """All that a solution gives, or the name of the documented error where it gives none."""
    times = np.linspace(solution.t[0], solution.t[-1], 7) if len(solution.t) else np.zeros(7)
    events = solution.events
    asked: dict[str, Callable[[], Any]] = {}
    if system is not None:  # (first what compiled code makes of the record)
        asked |= {
            "dense": lambda: solution(times),
            "one": lambda: solution(float(times[3])),
            "derivative": lambda: solution.bderivative().matrix(),
            "adjoint": lambda: solution.bderivative(params=True).vjp(np.ones(system.n)),
            "sensitivity": lambda: solution.sensitivity("x", times[1:]),
            "rate": lambda: solution.rate(float(times[2])),
        }
    asked |= {
        "t": lambda: solution.t,
        "x": lambda: solution.x,
        "b": lambda: solution.b,
        "p": lambda: solution.p,
        "events": lambda: events.array,
        "names": lambda: events.name,
        "before": lambda: events.before,
        "after": lambda: events.after,
        "x_after": lambda: events.x_after,
        "residual": lambda: events.residual,
        "margins": lambda: solution.margins,
        "words": lambda: solution.word(times, side="left"),
        "counts": lambda: list(vars(solution.counts).values()),
        "texts": lambda: [repr(solution), repr(events), solution._repr_html_(), solution.message, str(solution.error)],
    }
    return {name: _given(value) for name, value in asked.items()}


def _given(value: Callable[[], Any]) -> Any:
    try:
        return value()
    except (ValueError, bd.BouligandError) as error:
        return type(error).__name__


def same(one: Any, other: Any) -> bool:
    """Whether two values have the same bits."""
    if isinstance(one, tuple | list):
        return isinstance(other, tuple | list) and len(one) == len(other) and all(map(same, one, other))
    if isinstance(other, tuple | list):
        return False
    one, other = np.asarray(one), np.asarray(other)
    return (
        one.dtype == other.dtype and one.shape == other.shape and one.tolist().__repr__() == other.tolist().__repr__()
    )


# ------------------------------------------------------------------------------------------------------ the damage


def bits(rng: random.Random, data: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 8, 64))):
        changed[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def cut(rng: random.Random, data: bytes) -> bytes:
    return data[: rng.randrange(len(data))]


def hole(rng: random.Random, data: bytes) -> bytes:
    first = rng.randrange(len(data))
    length = rng.randrange(1, 2 + len(data) // 4)
    inside = rng.choice((b"", b"\0" * len(data[first : first + length]), bytes(rng.randbytes(length))))
    return data[:first] + inside + data[first + length :]


def twice(rng: random.Random, data: bytes) -> bytes:
    first, second = sorted(rng.randrange(len(data)) for _ in range(2))
    return data[:second] + data[first:]


OF_BYTES = (bits, bits, cut, hole, twice)


def number(rng: random.Random, arrays: Arrays) -> None:
    """Another number somewhere."""
    name = rng.choice([name for name in arrays if arrays[name].size and arrays[name].dtype.kind in "ifV"])
    array = arrays[name]
    if array.dtype.names:
        array = array[rng.choice(array.dtype.names)]
    place = rng.randrange(array.size)
    array.flat[place] = rng.choice(INTS if array.dtype.kind == "i" or rng.random() < 0.2 else FLOATS)


def numbers(rng: random.Random, arrays: Arrays) -> None:
    for _ in range(rng.randrange(2, 6)):
        number(rng, arrays)


def integers(rng: random.Random, arrays: Arrays) -> None:
    """Another integer in all rows, or in one of them."""
    name, field = rng.choice((("steps", "kind"), ("events", "record"), ("events", "guard"), *_OTHER_INTEGERS))
    column = arrays[name][field]
    rows = slice(None) if rng.random() < 0.5 or not column.size else rng.randrange(column.size)
    column[rows] = rng.choice(INTS)


def type_of(rng: random.Random, arrays: Arrays) -> None:
    name, kind = rng.choice(list(arrays)), rng.choice(TYPES)
    try:
        arrays[name] = arrays[name].astype(kind)
    except (TypeError, ValueError):
        arrays[name] = np.zeros(arrays[name].shape, kind)


def shape(rng: random.Random, arrays: Arrays) -> None:
    name = rng.choice(list(arrays))
    array = arrays[name]
    changes = [lambda: array.reshape(-1), lambda: array[None], lambda: array[:0], lambda: array[:-1]]
    changes += [lambda: np.concatenate([array, array]), lambda: array[1:], lambda: array.T, lambda: array.flat[0]]
    try:
        arrays[name] = np.array(rng.choice(changes)())
    except (IndexError, ValueError):
        arrays[name] = np.zeros((1, 2, 3))


def all_rows(rng: random.Random, arrays: Arrays) -> None:
    """All arrays with a row for each step (or event) with fewer rows, or in another order."""
    names = rng.choice((("steps", "states"), ("events",)))
    count = len(arrays[names[0]])
    rows = list(range(count))
    if rng.random() < 0.5:
        rows = rows[: rng.randrange(count + 1)]
    else:
        rng.shuffle(rows)
    for name in names:
        arrays[name] = arrays[name][np.array(rows, dtype=np.int64)]


def swapped(rng: random.Random, arrays: Arrays) -> None:
    one, other = rng.sample(list(arrays), 2)
    arrays[one], arrays[other] = arrays[other], arrays[one]


def rows_swapped(rng: random.Random, arrays: Arrays) -> None:
    name = rng.choice([name for name in arrays if arrays[name].ndim and len(arrays[name]) > 1] or ["p"])
    order = rng.sample(range(len(arrays[name])), len(arrays[name]))
    arrays[name] = arrays[name][order]


def removed(rng: random.Random, arrays: Arrays) -> None:
    del arrays[rng.choice(list(arrays))]


def added(rng: random.Random, arrays: Arrays) -> None:
    arrays[rng.choice(("extra", "leg_rows", "t_eval", "../x", "done", "é"))] = np.zeros(rng.randrange(3))


def words(rng: random.Random, arrays: Arrays) -> None:
    """Another value in the description."""
    about = json.loads(str(arrays["about"]))
    inside = about
    while True:
        key = rng.choice(list(inside))
        deeper = inside[key]
        if not (isinstance(deeper, dict) and deeper and rng.random() < 0.7):
            break
        inside = deeper
    if rng.random() < 0.2:
        del inside[key]
    elif isinstance(inside[key], list) and inside[key] and rng.random() < 0.5:
        inside[key] = rng.choice((inside[key][:-1], inside[key][::-1], [*inside[key], "more"], inside[key] * 2))
    else:
        inside[key] = rng.choice(JSON)
    arrays["about"] = np.array(json.dumps(about))


def no_json(rng: random.Random, arrays: Arrays) -> None:
    text = str(arrays["about"])
    found = rng.choice((text[:-1], "[" * 100_000, "1", "null", "[]", "{}", "", text.replace('"', "'"), "9" * 5000))
    arrays["about"] = np.array(found)


Edit = Callable[[random.Random, Arrays], None]
OFTEN: list[Edit] = [number, number, number, integers, integers, words]
SOMETIMES: list[Edit] = [numbers, type_of, shape, all_rows, swapped, rows_swapped, removed, added, no_json]
OF_ARRAYS = [*OFTEN, *OFTEN, *SOMETIMES, numbers, shape, all_rows]


# ------------------------------------------------------------------------------------------------------ the attack


def attack(seed: int) -> Callable[[int], Iterator[str]]:
    """Good files in a folder of their own, what they give, and the function that damages one and uses it."""
    folder = tempfile.TemporaryDirectory()
    where = pathlib.Path(folder.name)
    good: dict[str, tuple[bd.System, bytes, list[Arrays]]] = {}
    for make in GOOD:
        system, solution = make()
        solution.save(where / "good.npz")
        values = [used(bd.load(where / "good.npz", given), given) for given in (system, None)]
        assert same(used(solution, system)["x"], values[0]["x"])
        good[make.__name__] = system, (where / "good.npz").read_bytes(), values

    def attempt(number: int) -> Iterator[str]:
        assert folder
        rng = random.Random(f"{seed} {number}")
        name = rng.choice(list(good))
        system, data, values = good[name]
        path, kind = where / "damaged.npz", rng.random()
        changed, how = _damaged(rng, data, kind, path)
        yield f"{how} of {name}"
        path.write_bytes(changed)
        forged = kind >= FORGED
        yield _outcome(path, system, values, forged)

    return attempt


STALE, FORGED = 0.3, 0.45  # below: of the bytes; between: of arrays under the former seal; above: sealed again


def _damaged(rng: random.Random, data: bytes, kind: float, path: pathlib.Path) -> tuple[bytes, str]:
    if kind < STALE:
        change = rng.choice(OF_BYTES)
        return change(rng, data), change.__name__
    path.write_bytes(data)
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files}
    edit = rng.choice(OF_ARRAYS)
    if kind >= FORGED:
        del arrays[sealed.SEAL]
    edit(rng, arrays)
    if kind >= FORGED and not any(array.dtype.hasobject for array in arrays.values()):
        arrays[sealed.SEAL] = np.array(sealed.seal_of(arrays))
    np.savez_compressed(path, **arrays)
    return path.read_bytes(), edit.__name__ + (" (sealed again)" if kind >= FORGED else " (old seal)")


def _outcome(path: pathlib.Path, system: bd.System, values: list[Arrays], forged: bool) -> str:
    outcomes = []
    for given, right in zip((system, None), values, strict=True):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                solution = bd.load(path, given)
            except ValueError as error:
                outcomes.append("refused" if str(path) in str(error) else f"WRONG: refused without its path: {error}")
                continue
            except Exception as error:
                return f"FOREIGN: load: {type(error).__name__}: {error}"
            try:
                found = used(solution, given)
                solution.save(path.with_name("again.npz"))
            except Exception as error:
                if given is None and isinstance(error, ValueError) and "without its system" in str(error):
                    continue
                return f"FOREIGN: {type(error).__name__}: {error}"
        if all(same(found[name], right[name]) for name in right):
            outcomes.append("right")
        else:
            wrong = [name for name in right if not same(found[name], right[name])]
            outcomes.append("another solution" if forged else f"WRONG: {', '.join(wrong)}")
    return _worst(outcomes)


def _worst(outcomes: list[str]) -> str:
    order = ("refused", "right", "another solution")
    return max(outcomes, key=lambda outcome: order.index(outcome) if outcome in order else len(order))


def make(seed: int) -> Callable[[], Callable[[int], Iterator[str]]]:
    """The attack, as it is sent to processes."""
    return partial(attack, seed)
