"""Executors: the same bits from threads, processes, loky and a Dask cluster, also when a worker is killed."""

import multiprocessing
import os
import signal
import subprocess
import sys
from concurrent.futures import CancelledError, Future, ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest

import bouligand as bd
from bouligand.ensembles import executors
from bouligand.ensembles.layout import Layout
from tests.helpers.robots import BALL

HOPPER = bd.models.hopper()
SPAN = (0.0, 2.0)
X0 = np.column_stack([1.5 + np.random.default_rng(5).random(600), np.zeros(600)])


@pytest.fixture(scope="module")
def here():
    return bd.solve_many(HOPPER, SPAN, X0, threads=1)


@pytest.fixture(scope="module")
def processes():
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        yield pool


@pytest.fixture(scope="module")
def cluster():
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as local,
        distributed.Client(local) as client,
    ):
        yield client


def same(ens, other):
    assert ens.failed.size == 0
    for name in ("x", "t", "b"):
        assert getattr(ens, name).tobytes() == getattr(other, name).tobytes()
    assert ens.events.t.tobytes() == other.events.t.tobytes()
    assert np.array_equal(ens.events.offsets, other.events.offsets)


@pytest.mark.parametrize("block", [1, 7, 599, 10_000])
def test_threads_of_an_executor(here, block):
    x0 = X0[:40] if block == 1 else X0
    with ThreadPoolExecutor(3) as pool:
        ens = bd.solve_many(HOPPER, SPAN, x0, executor=pool, block=block)
    same(ens, here if block > 1 else bd.solve_many(HOPPER, SPAN, x0))


@pytest.mark.fresh
def test_processes_with_functions_that_are_local(processes, here):
    same(bd.solve_many(HOPPER, SPAN, X0, executor=processes), here)
    rate = 2.0
    system = bd.System(lambda t, x, b, p: (-rate * p[0] * x[0],), n=1, params={"a": 1.0})
    ens = bd.solve_many(system, (0.0, 1.0), [1.0], bd.grid(a=[1.0, 2.0, 3.0]), executor=processes, block=2, rtol=1e-9)
    assert ens.x[:, 0] == pytest.approx(np.exp([-2.0, -4.0, -6.0]), rel=1e-7)


@pytest.mark.fresh
def test_robots_and_equations_in_processes(processes):
    sympy, mj = pytest.importorskip("sympy"), pytest.importorskip("bouligand.bridges.mujoco")
    x, side = sympy.symbols("x side")
    switching = bd.bridges.sympy.system([x], [-3 - side], {"switch": x}, sides=[side])
    robot = mj.load(BALL, contacts=["ball"])
    start = robot.x()
    starts = start + 0.01 * np.arange(6)[:, None] * np.eye(robot.n)[robot.n - 1]
    for system, x0, span in ((switching, [[0.5], [1.0]], (0.0, 1.0)), (robot, starts, (0.0, 0.6))):
        ens = bd.solve_many(system, span, x0, executor=processes, block=1, derivative="matrix")
        here = bd.solve_many(system, span, x0, threads=2, derivative="matrix")
        assert len(here.events) > 0
        same(ens, here)
        assert np.array_equal(ens.B, here.B)
        assert all(np.array_equal(sol.x[-1], end) for sol, end in zip(here, here.x, strict=True))


def test_loky(here):
    loky = pytest.importorskip("loky")
    executor = loky.get_reusable_executor(max_workers=2)
    same(bd.solve_many(HOPPER, SPAN, X0, executor=executor, block=200), here)
    executor.shutdown(kill_workers=True)


@pytest.mark.fresh
@pytest.mark.parametrize("victims", [1, 2])
def test_a_dask_cluster_whose_workers_are_killed(cluster, here, tmp_path, victims):
    """Also all those that hold the problem: it is sent again."""
    same(bd.solve_many(HOPPER, SPAN, X0, executor=cluster, block=100), here)
    cluster.wait_for_workers(2)
    pids = list(cluster.run(os.getpid).values())
    long = {"max_step": 1e-3}  # (some hundredths of a second for a block)
    blocks = {"block": 5, "store": tmp_path / "runs.zarr"}
    before = bd.solve_many(HOPPER, SPAN, X0[:120], **long)
    seen = []

    class Watched:
        """A client whose workers are killed when a few tasks have been handed over."""

        def __getattr__(self, name):
            return getattr(cluster, name)

        def submit(self, *arguments, **options):
            seen.append(arguments)
            if len(seen) == 8:
                for pid in pids[:victims]:
                    os.kill(pid, signal.SIGKILL)
            return cluster.submit(*arguments, **options)

    ens = bd.solve_many(HOPPER, SPAN, X0[:120], executor=Watched(), **long, **blocks)
    assert len(seen) >= 12
    same(ens, before)
    assert ens.verify() == []


@pytest.mark.fresh
def test_a_pool_whose_process_is_killed_ends_in_an_error_after_which_the_call_goes_on(here, tmp_path):
    store = tmp_path / "runs.zarr"
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:

        class Watched:
            def submit(self, *arguments):
                if len(arguments) > 1 and arguments[5] == 4:  # (the number of a block)
                    os.kill(next(iter(pool._processes)), signal.SIGKILL)
                return pool.submit(*arguments)

            _max_workers = 1

        with pytest.raises(bd.ExecutorError, match=r"BrokenProcessPool.*Call again.*made anew"):
            bd.solve_many(HOPPER, SPAN, X0, executor=Watched(), store=store, block=100)
        with pytest.raises(bd.ExecutorError, match="Call again"):
            bd.solve_many(HOPPER, SPAN, X0, executor=pool, store=store, block=100)
    same(bd.solve_many(HOPPER, SPAN, X0, store=store, block=100), here)


class Losing:
    """A client of a cluster whose workers are killed: the first tasks of each block, and what was sent to them, are lost."""

    def __init__(self, times, error, workers=1):
        self._times, self._error, self._workers = times, error, workers
        self.tasks: list[int] = []
        self.sent: list[str] = []

    def nthreads(self):
        return {f"worker {q}": 1 for q in range(self._workers)}

    def scatter(self, packed, broadcast, hash):
        self.sent.append(packed)
        return len(self.sent), packed

    def submit(self, function, *arguments, **options):
        future: Future = Future()
        if not arguments:
            future.set_result(function())
        elif self._workers:
            (number, packed), *rest = arguments
            assert number == len(self.sent)  # (what was sent last)
            self.tasks.append(rest[3])
            if self.tasks.count(rest[3]) <= self._times:
                future.set_exception(self._error)
            else:
                future.set_result(function(packed, *rest))
        return future


@pytest.mark.parametrize("error", [CancelledError("lost dependencies"), TimeoutError()])
def test_blocks_that_are_lost_are_handed_over_again(here, error):
    client = Losing(executors.TRIES - 1, error)
    same(bd.solve_many(HOPPER, SPAN, X0, executor=client, block=300), here)
    assert sorted(client.tasks) == [0] * executors.TRIES + [1] * executors.TRIES
    assert len(client.sent) > 1
    client = Losing(executors.TRIES, error)
    with pytest.raises(bd.ExecutorError, match=rf"was lost {executors.TRIES} times.*Call again"):
        bd.solve_many(HOPPER, SPAN, X0, executor=client, block=300)


def test_a_cluster_without_workers_and_errors_of_the_task_itself(monkeypatch):
    monkeypatch.setattr(executors, "ALONE", 0.5)
    with pytest.raises(bd.ExecutorError, match="no worker"):
        bd.solve_many(HOPPER, SPAN, X0[:5], executor=Losing(0, None, workers=0), block=5)
    client = Losing(1, ZeroDivisionError("in the cost"))
    with pytest.raises(ZeroDivisionError, match="in the cost"):
        bd.solve_many(HOPPER, SPAN, X0[:5], executor=client, block=5)
    assert client.tasks == [0]


def test_what_is_refused(here):
    with pytest.raises(TypeError, match="executor must have a method submit"):
        bd.solve_many(HOPPER, SPAN, X0, executor=object())
    pool = ThreadPoolExecutor(1)
    pool.shutdown()
    with pytest.raises(ValueError, match="executor does not run tasks"):
        bd.solve_many(HOPPER, SPAN, X0, executor=pool)
    with pytest.raises(ValueError, match="block must be"):
        bd.solve_many(HOPPER, SPAN, X0, block=0)


@pytest.mark.parametrize("executor", [None, "threads"])
def test_a_stream_of_blocks(here, executor):
    pool = ThreadPoolExecutor(2) if executor else None
    ens = bd.solve_many(HOPPER, SPAN, iter(np.array_split(X0, 4)), executor=pool)
    same(ens, here)
    assert np.array_equal(ens[500].x[-1], here.x[500])
    pairs = ((X0[i : i + 200], {"k": 900.0}) for i in range(0, 600, 200))
    same(bd.solve_many(HOPPER, SPAN, pairs, executor=pool), bd.solve_many(HOPPER, SPAN, X0, {"k": 900.0}))
    with pytest.raises(ValueError, match="block 1 of the stream: x0 must have 2 values"):
        bd.solve_many(HOPPER, SPAN, iter([X0[:2], [1.0]]), executor=pool)
    with pytest.raises(ValueError, match="gives no blocks"):
        bd.solve_many(HOPPER, SPAN, iter([]), executor=pool)


@pytest.mark.parametrize("shape", [(10,), (3, 4), (3, 4, 5), (1, 7), (100,)])
@pytest.mark.parametrize("block", [1, 2, 5, 20, 1000])
def test_blocks_are_consecutive_chunks(shape, block):
    layout = Layout.cut(shape, block)
    numbers = np.arange(np.prod(shape)).reshape(shape)
    done = 0
    for number in layout:
        first, stop = layout.rows(number)
        assert first == done
        assert stop - first <= max(block, 1)
        assert np.array_equal(numbers[layout.region(number)].ravel(), np.arange(first, stop))
        done = stop
    assert done == layout.count


def test_the_progress_bar(capsys):
    bd.solve_many(HOPPER, SPAN, X0, progress="hoppers", threads=1)
    shown = capsys.readouterr().err
    assert "hoppers: 100%" in shown
    assert "trajectories/s" in shown


INTERRUPTED = """
import signal, sys, threading, time, os
import bouligand as bd
hopper = bd.models.hopper()
bd.solve_many(hopper, (0.0, 2.0), [2.0, 0.0])
threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
begun = time.monotonic()
try:
    bd.solve_many(hopper, (0.0, 2000.0), [2.0, 0.0], {"k": [900.0] * 100_000}, threads=int(sys.argv[1]))
except KeyboardInterrupt:
    print("interrupted", time.monotonic() - begun < 30.0)
"""


@pytest.mark.fresh
@pytest.mark.parametrize("threads", ["1", "2"])
def test_ctrl_c(threads):
    run = subprocess.run([sys.executable, "-c", INTERRUPTED, threads], capture_output=True, text=True, check=True)
    assert run.stdout == "interrupted True\n"
