"""Damaged stores of ensembles: each is opened, printed, read, verified, repaired and opened again."""

from __future__ import annotations

import json
import pathlib
import random
import shutil
import tempfile
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

import bouligand as bd
from bouligand.ensembles import metadata

from .solutions import JSON, OF_BYTES, same

HOPPER, SPAN, COUNT = bd.models.hopper(), (0.0, 2.0), 40
X0 = np.column_stack([1.5 + np.random.default_rng(6).random(COUNT), np.zeros(COUNT)])

Open = Callable[[pathlib.Path], bd.Ensemble]
Edit = Callable[[random.Random, pathlib.Path], None]


# ------------------------------------------------------------------------------------------------------ what is damaged


def arrays(store: pathlib.Path) -> bd.Ensemble:
    """Starts as an array, and all that can be kept."""
    options: dict[str, Any] = {"t_eval": [0.5, 1.0], "derivative": "matrix", "wrt": ("z", "k")}
    return bd.solve_many(HOPPER, SPAN, X0, store=store, block=10, **options)


def grid(store: pathlib.Path) -> bd.Ensemble:
    values = bd.grid(k=[400.0, 900.0], z=np.linspace(1.1, 3.0, 20))
    return bd.solve_many(HOPPER, SPAN, [2.0, 0.0], values, store=store, block=10)


def stream(store: pathlib.Path) -> bd.Ensemble:
    return bd.solve_many(HOPPER, SPAN, (X0[i : i + 12] for i in range(0, COUNT, 12)), store=store)


GOOD: tuple[Open, ...] = (arrays, grid, stream)


def asked(ens: bd.Ensemble) -> dict[str, Callable[[], Any]]:
    """All that an ensemble gives."""
    return {
        "x": lambda: ens.x,
        "t": lambda: ens.t,
        "b": lambda: ens.b,
        "guard": lambda: ens.guard,
        "status": lambda: ens.status,
        "failed": lambda: ens.failed,
        "message": lambda: ens.message,
        "counts": lambda: list(ens.counts.values()),
        "offsets": lambda: ens.events.offsets,
        "event times": lambda: ens.events.t,
        "event guards": lambda: ens.events.guard,
        "directions": lambda: ens.events.direction,
        "states": lambda: ens.states,
        "B": lambda: ens.B,
        "x0": lambda: ens.x0,
        "p": lambda: ens.p,
        "one": lambda: ens[7].x,
        "table": lambda: ens.to_pandas().to_csv(),
        "printed": lambda: repr(ens),
    }


def given(values: dict[str, Callable[[], Any]]) -> dict[str, Any]:
    """The values, or the StoreErrors that came instead. (An AttributeError: it was not kept.)"""
    found: dict[str, Any] = {}
    for name, value in values.items():
        try:
            found[name] = value()
        except (bd.StoreError, AttributeError) as error:
            found[name] = error
    return found


# ------------------------------------------------------------------------------------------------------ the damage


def some_file(rng: random.Random, store: pathlib.Path, chunks: float = 0.7) -> pathlib.Path:
    files = sorted(file for file in store.rglob("*") if file.is_file())
    wanted = [file for file in files if (file.name != "zarr.json") == (rng.random() < chunks)]
    return rng.choice(wanted or files)


def missing(rng: random.Random, store: pathlib.Path) -> None:
    some_file(rng, store).unlink()


def altered(rng: random.Random, store: pathlib.Path) -> None:
    file = some_file(rng, store)
    file.write_bytes(rng.choice(OF_BYTES)(rng, file.read_bytes() or b"\0"))


def empty(rng: random.Random, store: pathlib.Path) -> None:
    some_file(rng, store).write_bytes(b"")


def another_chunk(rng: random.Random, store: pathlib.Path) -> None:
    one = some_file(rng, store, 1.0)
    others = [file for file in sorted(store.rglob("*")) if file.is_file() and file.name == one.name]
    content = rng.choice(others).read_bytes()
    rng.choice((one, one.with_name(str(rng.randrange(5))))).write_bytes(content)


def swapped(rng: random.Random, store: pathlib.Path) -> None:
    one, other = (some_file(rng, store) for _ in range(2))
    first, second = one.read_bytes(), other.read_bytes()
    one.write_bytes(second)
    other.write_bytes(first)


def another_block(rng: random.Random, store: pathlib.Path) -> None:
    """All of one block in the place of another one."""
    one, other = rng.sample(range(4), 2)
    for name in (
        "blocks/{:08d}",
        "x_end/c/{}",
        "t_end/c/{}",
        "outcome/c/{}",
        "counts/c/{}",
        "event_count/c/{}",
        "x0/c/{}",
    ):
        source, target = store / name.format(one), store / name.format(other)
        if source.is_dir():
            shutil.rmtree(target, ignore_errors=True)
            shutil.copytree(source, target)
        elif source.is_file():
            shutil.copyfile(source, target)


def folder(rng: random.Random, store: pathlib.Path) -> None:
    """A folder is gone, or a file in its place."""
    gone = rng.choice(sorted(file for file in store.rglob("*") if file.is_dir()))
    shutil.rmtree(gone)
    if rng.random() < 0.4:
        gone.write_bytes(b"1")


def file_is_folder(rng: random.Random, store: pathlib.Path) -> None:
    file = some_file(rng, store, 0.4)
    file.unlink()
    file.mkdir()


def extra(rng: random.Random, store: pathlib.Path) -> None:
    """Files that do not belong there."""
    place = rng.choice((store, store / "x_end", store / "x_end" / "c", store / "blocks"))
    (place / rng.choice(("9", "more", "zarr.json.partial", "00000009", ".zgroup"))).write_bytes(rng.randbytes(9))


def lock(rng: random.Random, store: pathlib.Path) -> None:
    """What is not a lock in the place of one; and a block that is not done."""
    texts = (b"", b"\xff\xfe", b"[]", b"1", b'{"host": 3}', b'{"host": "x", "pid": "y"}', b"[" * 100_000)
    store.with_name(store.name + ".lock").write_bytes(rng.choice(texts))
    (store / "blocks" / "00000001" / "zarr.json").unlink()


def words(rng: random.Random, store: pathlib.Path, seal: bool = False) -> None:
    """Another value somewhere in the metadata."""
    one = rng.choice((".", ".", ".", "x_end", "outcome", "blocks/00000001", "blocks/00000002/event_t"))
    file = store / one / metadata.FILE
    content = inside = json.loads(file.read_text())
    while True:
        key = rng.choice(list(inside))
        if seal and inside is content and one in (".", "blocks/00000001"):
            key = "attributes"
        if not (isinstance(inside[key], dict) and inside[key] and rng.random() < 0.8):
            break
        inside = inside[key]
    if rng.random() < 0.2:
        del inside[key]
    elif isinstance(inside[key], list) and inside[key] and rng.random() < 0.5:
        inside[key] = rng.choice((inside[key] * 2, inside[key][1:], [-1], [0], [7], [10**12], [None], ["x"]))
    else:
        inside[key] = rng.choice((*JSON, 2, 3, "float32", "<f8"))
    if seal:
        sealed_again(content)
    file.write_text(json.dumps(content))


def sealed_again(content: Any) -> None:
    """Make the digests again."""
    about = content.get("attributes")
    if isinstance(about, dict) and isinstance(about.get(metadata.OURS), dict):
        about[metadata.OURS] = metadata.sealed(about[metadata.OURS])
    elif isinstance(about, dict) and "digest" in about:
        content["attributes"] = metadata.sealed(about)


def words_sealed(rng: random.Random, store: pathlib.Path) -> None:
    words(rng, store, seal=True)


EDITS: tuple[Edit, ...] = (missing, missing, altered, altered, altered, empty, another_chunk, another_chunk, swapped)
EDITS += (another_block, folder, file_is_folder, extra, lock, words, words, words_sealed, words_sealed)


# ------------------------------------------------------------------------------------------------------ the attack


def attack(seed: int) -> Callable[[int], Iterator[str]]:
    """Good stores in a folder of their own, what they give, and the function that damages one and uses it."""
    place = tempfile.TemporaryDirectory()
    where = pathlib.Path(place.name)
    good = {}
    for make in GOOD:
        values = given(asked(make(where / make.__name__)))
        assert same(given(asked(make(where / make.__name__)))["x"], values["x"])
        good[make.__name__] = make, values

    def attempt(number: int) -> Iterator[str]:
        assert place
        rng = random.Random(f"{seed} {number}")
        name = rng.choice(list(good))
        make, values = good[name]
        store, edit = where / f"{number}.zarr", rng.choice(EDITS)
        late = rng.random() < 0.2 and edit is not lock  # when the ensemble is open already
        yield f"{edit.__name__} of {name}{', open' if late else ''}"
        try:
            shutil.copytree(where / name, store)
            yield _outcome(make, values, store, partial(edit, rng), late, edit is words_sealed)
        finally:
            shutil.rmtree(store, ignore_errors=True)

    return attempt


def _outcome(
    make: Open,
    values: dict[str, Any],
    store: pathlib.Path,
    edit: Callable[[pathlib.Path], None],
    late: bool,
    forged: bool,
) -> str:
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            ens = make(store) if late else None
            edit(store)
            ens = make(store) if ens is None else ens
        said = any(one.category is bd.errors.StoreWarning for one in caught)
        found = given(asked(ens))
        refused = [name for name, value in found.items() if isinstance(value, bd.StoreError)]
        shown = "damaged" in str(found["printed"])
        right = [name for name in values if name != "printed" and _is_same(found[name], values[name])]
        wrong = [name for name in values if name not in (*right, *refused, "printed")]
        if wrong:
            return f"WRONG: {', '.join(wrong)}"
        if refused and not late and not (said and shown):
            return f"WRONG: not said at first: {found[refused[0]]}"
        if not (refused or said or forged or same(found["printed"], values["printed"])):
            return f"WRONG: printed {found['printed']}"
        damaged = ens.verify(repair=True)
        if bool(damaged) < bool(refused) and not late:
            return "WRONG: verify finds nothing"
        if damaged:
            again = given(asked(make(store)))
            if not all(_is_same(again[name], values[name]) for name in values):
                return "WRONG: after the repair"
        return "said" if refused or said else "right"
    except bd.StoreError as error:
        return "refused" if store.name in str(error) else f"WRONG: refused without its path: {error}"
    except Exception as error:
        return f"FOREIGN: {type(error).__name__}: {error}"


def _is_same(one: Any, other: Any) -> bool:
    if isinstance(other, AttributeError):
        return isinstance(one, AttributeError)
    return not isinstance(one, Exception) and same(one, other)


def make(seed: int) -> Callable[[], Callable[[int], Iterator[str]]]:
    """The attack, as it is sent to processes."""
    return partial(attack, seed)
