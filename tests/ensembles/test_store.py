"""Stores: what is written once stays, survives kills and damage, and belongs to one problem."""

import hashlib
import json
import linecache
import os
import pathlib
import random
import runpy
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import time

import numpy as np
import pytest

import bouligand as bd
from bouligand.ensembles import metadata
from bouligand.ensembles.identity import identity
from bouligand.ensembles.problem import Problem
from tests.helpers.robots import BALL

pytest.importorskip("zarr")
HOPPER = bd.models.hopper()
SPAN = (0.0, 2.0)
X0 = np.column_stack([1.5 + np.random.default_rng(6).random(300), np.zeros(300)])
GRID = bd.grid(k=np.linspace(400.0, 900.0, 6), z=np.linspace(1.1, 3.0, 20))


def into(store, x0=X0, p=None, **options):
    return bd.solve_many(HOPPER, SPAN, x0, p, store=store, **{"block": 70, **options})


def take_away(store, number):
    """One of the blocks is not done any more."""
    (store / "blocks" / f"{number:08d}" / "zarr.json").unlink()


def contents(folder):
    """A hash of every file, by its name."""
    folder = pathlib.Path(folder)
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_as_in_memory(tmp_path):
    stored, here = into(tmp_path / "a.zarr"), bd.solve_many(HOPPER, SPAN, X0)
    for name in ("x", "t", "b", "status", "guard"):
        assert np.array_equal(getattr(stored, name), getattr(here, name))
    assert np.array_equal(stored.events.t, here.events.t)
    assert np.array_equal(stored.counts["f"], here.counts["f"])
    assert repr(stored).splitlines() == repr(here).splitlines()[:2]
    assert np.array_equal(stored[7].x[-1], here.x[7])
    assert not (tmp_path / "a.zarr.lock").exists()
    into(tmp_path / "b.zarr", threads=1)
    assert contents(tmp_path / "a.zarr") == contents(tmp_path / "b.zarr")


def test_xarray_opens_it(tmp_path, recwarn):
    xarray = pytest.importorskip("xarray")
    ens = into(tmp_path / "g.zarr", [2.0, 0.0], GRID, block=45, t_eval=[0.5, 1.0])
    data = xarray.open_zarr(tmp_path / "g.zarr")
    assert not [w for w in recwarn if "onsolidated" in str(w.message)]
    assert data.x_end.dims == ("k", "z", "state")
    one = data.x_end.sel(k=400.0, z=3.0, state="vz")
    assert float(one) == ens.on_grid(ens.x)[0, -1, 1]
    assert data.states.sel(time=0.5).shape == (6, 20, 2)
    meanings = data.outcome.attrs["flag_meanings"].split()
    assert meanings[int(data.outcome[0, 0])] == "finished"
    events = xarray.open_zarr(tmp_path / "g.zarr", group="blocks/00000001", consolidated=False)
    assert events.event_t.dims == ("event",)
    there = ens.to_xarray()
    assert there.x_end.equals(bd.solve_many(HOPPER, SPAN, [2.0, 0.0], GRID).to_xarray().x_end)


def test_axes_with_the_names_of_arrays(tmp_path):
    xarray = pytest.importorskip("xarray")
    system = bd.System(lambda t, x, b, p: (-p[0] * x[0],), states=("x",), params={"time": 1.0})
    values = bd.grid(x=[1.0, 2.0], time=[1.0, 2.0, 3.0])
    ens = bd.solve_many(system, (0.0, 1.0), [1.0], values, store=tmp_path / "a.zarr", t_eval=[0.5])
    data = xarray.open_zarr(tmp_path / "a.zarr")
    assert data.states.dims == ens.to_xarray().states.dims == ("x", "time", "time_", "state")


def test_resuming_does_not_integrate_again(tmp_path):
    store = tmp_path / "a.zarr"
    into(store)
    before = {path: path.stat().st_mtime_ns for path in store.rglob("*") if path.is_file()}
    take_away(store, 2)
    ens = into(store)
    after = {path: path.stat().st_mtime_ns for path in store.rglob("*") if path.is_file()}
    changed = {str(path.relative_to(store)) for path in after if after[path] != before[path]}
    assert changed
    assert all("/c/2" in name or name.startswith("blocks/00000002") for name in changed)
    assert ens.success.all()
    with pytest.raises(bd.StoreError, match="is there already"):
        into(store, resume=False)


@pytest.mark.parametrize("damage", ["truncated", "altered", "missing", "mark"])
def test_damage_is_found_and_repaired(tmp_path, damage):
    store = tmp_path / "a.zarr"
    ens = into(store)
    whole = contents(store)
    assert ens.verify() == []
    chunk = store / "x_end" / "c" / "4" / "0"  # (the last block, which is shorter)
    event = store / "blocks" / "00000001" / "event_t" / "c" / "0"
    for path in (chunk, event):
        data = path.read_bytes()
        if damage == "truncated":
            path.write_bytes(data[: len(data) // 2])
        elif damage == "altered":
            path.write_bytes(data[:20] + bytes([data[20] ^ 1]) + data[21:])
        elif damage == "missing":
            path.unlink()
    if damage == "mark":
        for number in (1, 4):
            (store / "blocks" / f"0000000{number}" / "zarr.json").write_text('{"attributes": {"ha')
    with pytest.warns(bd.errors.StoreWarning, match=r"2 of 5 blocks are damaged \(block 1: (event_t|its mark) is"):
        ens = into(store)
    assert repr(ens).splitlines()[-1] == "  damaged     90, in block 1, 4: see ens.verify"
    for read in (lambda: ens.x, lambda: ens.events) if damage == "mark" else (lambda: ens.x,):
        with pytest.raises(bd.StoreError, match=r"block [14]: .* damaged; ens\.verify"):
            read()
    if damage != "mark":
        assert ens.t.shape == (300,)  # (the other arrays are whole)
    assert ens.verify() == [1, 4]
    assert ens.verify(repair=True) == [1, 4]
    assert into(store).verify() == []
    assert contents(store) == whole


def test_all_chunks_of_a_block_may_be_missing(tmp_path):
    """Nothing is filled in; and the first block is repaired without harm to coordinates, which are chunks of that number, too."""
    store = tmp_path / "a.zarr"
    into(store, t_eval=[0.5])
    whole = contents(store)
    names = ("x_end", "outcome", "word_end", "t_end", "counts", "event_count", "states")
    for name in names:
        shutil.rmtree(store / name / "c" / "0", ignore_errors=True)
        (store / name / "c" / "0").unlink(missing_ok=True)
    with pytest.warns(bd.errors.StoreWarning, match="a block is damaged"):
        ens = into(store, t_eval=[0.5])
    for name in ("x", "t", "b", "status", "counts", "states", "failed", "message"):
        with pytest.raises(bd.StoreError, match="block 0"):
            getattr(ens, name)
    ens.verify(repair=True)
    into(store, t_eval=[0.5])
    assert contents(store) == whole


def test_damage_after_it_was_opened(tmp_path):
    here = bd.solve_many(HOPPER, SPAN, X0)
    ens = bd.solve_many(HOPPER, SPAN, (X0[i : i + 80] for i in range(0, 300, 80)), store=tmp_path / "s.zarr")
    (tmp_path / "s.zarr" / "x0" / "c" / "1" / "0").unlink()
    assert np.array_equal(ens[79].x[-1], here.x[79])
    with pytest.raises(bd.StoreError, match="block 1: x0 is missing"):
        ens[80]
    assert np.array_equal(ens.x, here.x)
    shutil.rmtree(tmp_path / "s.zarr" / "t_end")
    with pytest.raises(bd.StoreError, match="block 0: t_end is missing"):
        ens.t  # noqa: B018
    shutil.rmtree(tmp_path / "s.zarr")
    assert repr(ens).splitlines()[1:] == ["  pending     300"]


def test_coordinates(tmp_path):
    into(tmp_path / "g.zarr", [2.0, 0.0], GRID)
    (tmp_path / "g.zarr" / "k" / "c" / "0").unlink()
    with pytest.warns(bd.errors.StoreWarning, match="what xarray reads as k is missing or damaged"):
        assert into(tmp_path / "g.zarr", [2.0, 0.0], GRID).success.all()


@pytest.mark.skipif(sys.platform == "win32", reason="rights are others there")
def test_a_finished_store_is_read_without_the_right_to_write():
    with tempfile.TemporaryDirectory() as place:
        os.chmod(place, 0o755)  # (the folders above pytest's are closed to others)
        store = pathlib.Path(place, "a.zarr")
        whole = into(store).x
        for path in (store.parent, *store.rglob("*")):
            path.chmod(0o555 if path.is_dir() else 0o444)
        me = os.geteuid()
        try:
            if me == 0:
                os.seteuid(65534)  # (root may write anywhere)
            ens = into(store)
            assert np.array_equal(ens.x, whole)
            assert ens.verify() == []
            with pytest.raises(bd.StoreError, match="cannot write to"):
                into(store.with_name("b.zarr"))
            with pytest.raises(bd.StoreError, match="block 0 cannot be removed"):
                ens._source.forget(0)
        finally:
            os.seteuid(me)
            for path in (store.parent, *store.rglob("*")):
                path.chmod(0o755)


def test_a_store_belongs_to_one_problem(tmp_path):
    store = tmp_path / "a.zarr"
    into(store)
    other = bd.System(lambda t, x, b, p: (x[1], -p[0]), states=("z", "vz"), params={"g": 9.81, "k": 1.0, "rest": 1.0})
    changes = {
        "the options": lambda: into(store, rtol=np.nextafter(1e-6, 1.0)),
        "t_eval": lambda: into(store, t_eval=[0.1]),
        "keep": lambda: into(store, keep="x"),
        "the number of trajectories": lambda: into(store, X0[:-1]),
        "block 0 differs": lambda: into(store, X0[::-1]),
        "p": lambda: into(store, p={"k": 999.0}),
        "the grid": lambda: into(store, [2.0, 0.0], GRID),
        "t_span": lambda: bd.solve_many(HOPPER, (0.0, 2.5), X0, store=store),
        "the system": lambda: bd.solve_many(other, SPAN, X0, store=store),
    }
    before = contents(store)
    for what, call in changes.items():
        with pytest.raises(bd.StoreMismatchError, match=what):
            call()
    assert contents(store) == before


def test_places_that_cannot_be_used(tmp_path):
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(bd.StoreError, match="cannot write to"):
        into(tmp_path / "file" / "a.zarr")
    (tmp_path / "folder").mkdir()
    with pytest.raises(bd.StoreError, match="is not a store of solve_many"):
        into(tmp_path / "folder")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "zarr.json").write_text(
        json.dumps({"zarr_format": 3, "node_type": "group", "attributes": {}})
    )
    with pytest.raises(bd.StoreMismatchError, match="was not written by solve_many"):
        into(tmp_path / "other")
    zarr = pytest.importorskip("zarr")
    zarr.create_group(tmp_path / "theirs.zarr").create_array("x_end", shape=(300, 2), dtype=float)
    with pytest.raises(bd.StoreMismatchError, match="was not written by solve_many"):
        into(tmp_path / "theirs.zarr")


@pytest.mark.parametrize(
    ("change", "error", "says"),
    [
        (lambda about: about.update(format=1), bd.StoreMismatchError, "has the format 1; this version reads 2"),
        (lambda about: about.update(chunk=[0]), bd.StoreError, "is damaged: it was changed"),
        (lambda about: about.update(chunk=None), bd.StoreError, "is damaged: it was changed"),
        (lambda about: about.update(shape="a"), bd.StoreError, "is damaged: it was changed"),
        (lambda about: about.update(shape=[10**18], chunk=[1]), bd.StoreError, "blocks"),
        (lambda about: about.update(shape=[1000]), bd.StoreMismatchError, "the number of trajectories"),
        (lambda about: about.update(axes=[]), bd.StoreError, "is damaged: it was changed"),
        (lambda about: about.update(identity=None), bd.StoreError, "is damaged: it was changed"),
        (lambda about: about.update(identity={}), bd.StoreMismatchError, "different: the system"),
        (lambda about: about.update(arrays={"../x": "1"}), bd.StoreError, "is damaged: it was changed"),
        (lambda about: about.pop("stream"), bd.StoreError, "is damaged: it was changed"),
    ],
)
@pytest.mark.parametrize("sealed", [True, False])
def test_metadata_of_another_kind(tmp_path, change, error, says, sealed):
    store = tmp_path / "a.zarr"
    into(store)
    group = metadata.read_json(store / "zarr.json")
    about = group["attributes"]["bouligand"]
    change(about)
    if sealed:
        group["attributes"]["bouligand"] = metadata.sealed(about)
    metadata.write_json(store / "zarr.json", group)
    with pytest.raises(error if sealed else bd.StoreError, match=says if sealed or "format" in says else "was changed"):
        into(store)


def test_metadata_of_arrays(tmp_path):
    into(tmp_path / "a.zarr")
    file = tmp_path / "a.zarr" / "t_end" / "zarr.json"
    text = file.read_text()
    for changed, says in ((text.replace("float64", "int64"), "it was changed"), (text[:-9], "it is not JSON")):
        file.write_text(changed)
        with pytest.raises(bd.StoreError, match=rf"t_end/zarr\.json is damaged: {says}"):
            into(tmp_path / "a.zarr")
    file.unlink()
    with pytest.raises(bd.StoreError, match=r"t_end/zarr\.json cannot be read: No such file"):
        into(tmp_path / "a.zarr")


def test_one_writer_at_a_time(tmp_path):
    store, lock = tmp_path / "a.zarr", tmp_path / "a.zarr.lock"
    host = os.uname().nodename
    lock.write_text(json.dumps({"host": host, "pid": os.getppid(), "id": "x"}))
    with pytest.raises(bd.StoreError, match=f"process {os.getppid()} on"):
        into(store)
    lock.unlink()
    into(store, block=100)
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    for left in (
        json.dumps({"host": host, "pid": gone.pid, "id": "x"}),  # of a process that is gone
        json.dumps({"host": "elsewhere", "pid": 1, "id": "x"}),  # of another host, without a sign of life
        '{"host',  # cut off
        '["host"]',
        '{"host": 1, "pid": "x"}',
        "\0",
    ):
        take_away(store, 2)
        lock.write_text(left)
        os.utime(lock, (time.time() - 100.0,) * 2)
        assert into(store).success.all()
        assert not lock.exists()
    lock.write_text(json.dumps({"host": "elsewhere", "pid": 1, "id": "x"}))
    assert into(store).success.all()  # (all is done: nothing is written)
    take_away(store, 0)
    with pytest.raises(bd.StoreError, match="elsewhere is writing"):
        into(store)


def test_a_stream(tmp_path):
    here = bd.solve_many(HOPPER, SPAN, X0)
    store = tmp_path / "s.zarr"

    def blocks(count):
        return (X0[i : i + 80] for i in range(0, min(80 * count, 300), 80))

    bd.solve_many(HOPPER, SPAN, blocks(2), store=store)
    ens = bd.solve_many(HOPPER, SPAN, blocks(4), store=store)
    assert np.array_equal(ens.x, here.x)
    assert np.array_equal(ens[299].x[-1], here.x[299])
    assert np.array_equal(ens.x0, X0)
    with pytest.raises(bd.StoreMismatchError, match="block 0 differs"):
        bd.solve_many(HOPPER, SPAN, iter([X0[:80] + 0.1]), store=store)
    with pytest.raises(ValueError, match="all blocks but the last must have 80 rows"):
        bd.solve_many(HOPPER, SPAN, iter([X0[:80], X0[80:90], X0[90:100]]), store=tmp_path / "t.zarr")


IDENTITY = """
    import numpy as np, bouligand as bd
    from bouligand.ensembles.identity import identity
    from bouligand.ensembles.problem import Problem
    RATE, TABLE = 3.0, np.arange(3.0)
    def helper(x):
        return RATE * x
    def f(t, x, b, p):
        return (-helper(x[0]) * TABLE[1],)
    def h(t, x, p):
        return (x[0] - p[0],)
    system = bd.System(f, h, n=1, m=1, params=[0.5])
    print(identity(Problem(system, (0.0, 1.0)))["the system"])
"""


@pytest.mark.fresh
def test_the_identity_of_a_system(tmp_path):
    """The same in another process and after use; another one where a value that a function reads is another."""

    def found(text, seed):
        script = tmp_path / "script.py"
        script.write_text(textwrap.dedent(text))
        run = subprocess.run(
            [sys.executable, script],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        )
        return run.stdout.strip()

    first = found(IDENTITY, "1")
    again = "bd.solve(system, (0.0, 1.0), [1.0]).bderivative().matrix()\n    print("
    assert found(IDENTITY.replace("print(", again), "2") == first
    changes = (
        ("RATE, TABLE = 3.0", "RATE, TABLE = 3.5"),
        ("arange(3.0)", "ones(3)"),
        ("return RATE * x", "return 2.0 * RATE * x"),
        ("params=[0.5]", "params=[0.6]"),
    )
    made, _, _ = textwrap.dedent(IDENTITY).partition("print(")
    for old, new in changes:
        assert old in made
        path = tmp_path / "changed.py"
        path.write_text(made.replace(old, new))
        linecache.checkcache()
        system = runpy.run_path(str(path))["system"]
        assert identity(Problem(system, (0.0, 1.0)))["the system"] != first


def test_the_identity_of_bridges():
    mj, sympy = pytest.importorskip("bouligand.bridges.mujoco"), pytest.importorskip("sympy")
    robots = [mj.load(BALL.replace('mass="1"', f'mass="{mass}"'), contacts=["ball"]) for mass in (1, 1, 2)]
    bd.solve(robots[1], (0.0, 0.01), robots[1].x())
    x = sympy.symbols("x")
    symbolic = [bd.bridges.sympy.system([x], [-rate * x]) for rate in (1, 1, 2)]
    bd.solve(symbolic[1], (0.0, 0.01), [1.0])
    for systems in (robots, symbolic):
        one, same, other = (identity(Problem(system, SPAN))["the system"] for system in systems)
        assert one == same != other


KILLED = """
    import numpy as np, bouligand as bd
    x0 = np.column_stack([1.5 + np.random.default_rng(6).random(300), np.zeros(300)])
    bd.solve_many(bd.models.hopper(), (0.0, 2.0), x0, store={store!r}, block=10, threads=1, max_step=2e-4)
    print("done", flush=True)
"""


@pytest.mark.fresh
def test_kill_9(tmp_path):
    """Drivers that are killed at random moments: resumed, the store has the same bytes as an undisturbed one."""
    whole, store = tmp_path / "whole.zarr", tmp_path / "killed.zarr"

    def start(path):
        text = textwrap.dedent(KILLED).format(store=str(path))
        return subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE, text=True)

    assert start(whole).communicate()[0] == "done\n"
    rng, kills = random.Random(4), 0
    while kills < 3:
        driver = start(store)
        while not (store / "blocks").exists() and driver.poll() is None:
            time.sleep(0.005)
        time.sleep(0.3 * rng.random())
        driver.send_signal(signal.SIGKILL)
        kills += driver.wait() == -signal.SIGKILL
        driver.stdout.close()
    assert start(store).communicate()[0] == "done\n"
    assert contents(store) == contents(whole)
    assert not list(tmp_path.glob("*.lock"))


FULL = """
    import resource, signal, numpy as np, bouligand as bd
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    x0 = np.column_stack([1.5 + np.random.default_rng(6).random(4000), np.zeros(4000)])
    def go(): return bd.solve_many(bd.models.hopper(), (0.0, 2.0), x0, store={store!r}, block=4000)
    bd.solve_many(bd.models.hopper(), (0.0, 2.0), x0[:5], store={store!r} + "2", block=5)
    resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, resource.RLIM_INFINITY))
    try:
        go()
    except bd.StoreError as error:
        print(error)
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    ens = go()
    print(ens.success.all(), ens.verify())
"""


@pytest.mark.fresh
@pytest.mark.skipif(sys.platform == "win32", reason="no limits of file sizes")
def test_no_room_on_the_disk(tmp_path):
    text = textwrap.dedent(FULL).format(store=str(tmp_path / "a.zarr"))
    run = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    error, after = run.stdout.splitlines()
    assert "block 0 cannot be written: File too large. What is done is not lost" in error
    assert after == "True []"
