"""Many hoppers: time per trajectory in an ensemble, against single solves and against the peers' own ways to run many.

- hopper: N drops from 1.5 to 2.5 m over 2 s, ours and the peers', with the largest error of each against the closed form;
- threads: what two threads gain, beside what two threads of plain arithmetic gain in the same round; also where 1 % of the
  trajectories take 1,000 times as long;
- a store, and Dask: time against threads, bytes for each trajectory, memory of the process for N and 10 N.

    python -m benchmarks ensembles            # a few minutes
    python -m benchmarks.ensembles --quick
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile
import threading
import time
from functools import partial
from unittest import mock

import numpy as np
from numba import int64, njit

import bouligand as bd
from bouligand.core.codes import FINISHED
from bouligand.core.compiler.jit import address_of
from bouligand.core.entries import Kernel
from bouligand.integration import compiled_entries
from bouligand.models.hopper import exact

from .ensemble_peers import CORES, SPAN, diffrax_arm, heyoka_arms, mujoco_arm, scipy_arm

BLOCK = 50_000  # trajectories of a chunk of a store


def starts(count):
    return np.column_stack([1.5 + (np.arange(count) + 0.5) / count, np.zeros(count)])


def truth(x0):
    return np.array([exact([SPAN[1]], z)[0] for z in x0[:, 0]])


# ---------------------------------------------------------------------------------------------------------------- arms
# each: a function of the starts that returns the end states


def single_solves(rtol, x0):
    hopper = bd.models.hopper()
    return np.array([bd.solve(hopper, SPAN, x, rtol=rtol).x[-1] for x in x0.tolist()])


def ensemble(rtol, threads, x0):
    return bd.solve_many(bd.models.hopper(), SPAN, x0, rtol=rtol, threads=threads).x


# ---------------------------------------------------------------------------------------------------------------- tables


def in_turn(arms, rounds):
    """Times of functions that are run one after the other, again and again: a list for each."""
    times = {name: [] for name in arms}
    for function in arms.values():
        function()
    for _ in range(rounds):
        for name, function in arms.items():
            begun = time.perf_counter()
            function()
            times[name].append(time.perf_counter() - begun)
    return times


def hopper(quick):
    count, rounds = (2_000, 3) if quick else (100_000, 5)
    skipped = {}
    for rtol in (1e-6, 1e-9):
        arms = {
            "bouligand, single solves": (partial(single_solves, rtol), count // 5),
            "bouligand, ensemble, 1 thread": (partial(ensemble, rtol, 1), count),
            f"bouligand, ensemble, {CORES} threads": (partial(ensemble, rtol, CORES), count),
        }
        for make in (
            partial(heyoka_arms, rtol),
            partial(mujoco_arm, 1e-3 if rtol > 1e-8 else 2e-5),
            partial(diffrax_arm, rtol),
            partial(scipy_arm, rtol),
        ):
            try:
                arms |= make()
            except ImportError as error:
                skipped[str(error.name)] = True
        given = {
            name: starts(max(size // (10 if quick and 1000 < size < 10_000 else 1), 4))
            for name, (_, size) in arms.items()
        }
        times = in_turn({name: partial(function, given[name]) for name, (function, _) in arms.items()}, rounds)
        each = {name: 1e6 * np.median(taken) / len(given[name]) for name, taken in times.items()}
        ours = each[f"bouligand, ensemble, {CORES} threads"]
        print(f"hopper, 2 s, tolerance {rtol:.0e}: us per trajectory (medians of {rounds} rounds in turn)")
        print(f"  {'':40s}{'N':>8s}{'us':>12s}{'over ours':>12s}{'largest error':>16s}")
        for name, (function, _) in arms.items():
            few = given[name][:: max(len(given[name]) // 40, 1)][:40]
            error = np.abs(function(few) - truth(few)).max()
            print(f"  {name:40s}{len(given[name]):8d}{each[name]:12.2f}{each[name] / ours:12.1f}{error:16.1e}")
    for package in skipped:
        print(f"  skipped: {package} is not installed")
    alone = in_turn(
        {"core": partial(of_no_length, count), "none": partial(of_no_length, count, code_of(ends_at_once))}, rounds
    )
    core, none = (1e6 * np.median(times) / count for times in alone.values())
    print(
        f"  trajectories of no length (tf = t0): {core:.2f} us each; {none:.2f} us with an integrator that does nothing, which"
    )
    print("  is what the ensemble adds to the core's own time")


def of_no_length(count, instead=None):
    """An ensemble that ends where it starts, integrated by the core or by the machine code that is given instead."""
    address = compiled_entries.loop.address()
    with mock.patch.object(Kernel, "address", return_value=instead or address):
        bd.solve_many(bd.models.hopper(), (0.0, 0.0), starts(count), threads=1)


@njit
def ends_at_once(workspace):
    return FINISHED


def code_of(entry):
    """The address of an entry's machine code."""
    entry.compile((int64,))
    return address_of(entry)


@njit(nogil=True)
def arithmetic(count):
    a, b, c, d = 1.0, 1.1, 1.2, 1.3
    for _ in range(count):
        a, b, c, d = a * 1.0000001 + 1e-9, b * 1.0000001 + 1e-9, c * 1.0000001 + 1e-9, d * 1.0000001 + 1e-9
    return a + b + c + d


def two_of(function):
    crew = [threading.Thread(target=function) for _ in range(2)]
    for thread in crew:
        thread.start()
    for thread in crew:
        thread.join()


def spring(t, x, b, p, dx):
    dx[0], dx[1] = x[1], -p[0] * p[0] * x[0]


def threads(quick):
    rounds = 3 if quick else 9
    uneven = bd.System(spring, states=("q", "v"), params={"w": 1.0})
    rates = np.where(np.random.default_rng(1).random(500 if quick else 4000) < 0.01, 2000.0, 2.0)
    x0 = starts(2_000 if quick else 40_000)
    plates = np.tile(bd.models.available()["plate"].build()[1], (40 if quick else 400, 1))
    plates[:, 1] += 0.5 * np.arange(len(plates)) / len(plates)
    eight = bd.models.plate(8)
    cases = {
        "hopper": lambda crew: bd.solve_many(bd.models.hopper(), SPAN, x0, threads=crew),
        "plate, 8 contacts": lambda crew: bd.solve_many(eight, SPAN, plates, threads=crew),
        "1 % take 1,000 times as long": lambda crew: bd.solve_many(
            uneven, SPAN, [1.0, 0.0], {"w": rates}, threads=crew
        ),
    }
    size = 3_000_000 if quick else 20_000_000
    arms = {(name, crew): partial(case, crew) for name, case in cases.items() for crew in (1, 2)}
    arms |= {
        ("arithmetic", 1): lambda: (arithmetic(size), arithmetic(size)),
        ("arithmetic", 2): lambda: two_of(partial(arithmetic, size)),
    }
    times = in_turn(arms, rounds)
    print(f"\n2 threads against 1 (medians of {rounds} ratios within a round)")
    for name in (*cases, "arithmetic"):
        gain = np.median(np.array(times[name, 1]) / np.array(times[name, 2]))
        print(
            f"  {name:32s}{gain:6.2f}"
            + ("   (what this machine gives two threads now)" if name == "arithmetic" else "")
        )


STORED = """
import sys, time, numpy as np, bouligand as bd
count, store = int(sys.argv[1]), sys.argv[2]
hopper, axis = bd.models.hopper(), np.linspace(1.5, 2.5, count // 100)
bd.solve_many(hopper, (0.0, 2.0), [2.0, 0.0], bd.grid(k=[1000.0], z=axis[:100]))
begun = time.perf_counter()
bd.solve_many(hopper, (0.0, 2.0), [2.0, 0.0], bd.grid(k=np.linspace(900.0, 1100.0, 100), z=axis), store=store, block={block})
seconds = time.perf_counter() - begun
print(seconds, [line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")][0])
"""


def stores(quick):
    try:
        import zarr  # noqa: F401
    except ImportError:
        print("\nstores: skipped, zarr is not installed")
        return
    print("\nhoppers in a store, ends, words, counts and events kept")
    print(f"  {'N':>10s}{'seconds':>10s}{'us each':>10s}{'bytes each':>12s}{'files':>8s}{'memory, MB':>12s}")
    found = []
    for count in (10_000, 100_000) if quick else (100_000, 1_000_000):
        with tempfile.TemporaryDirectory() as folder:
            place = pathlib.Path(folder) / "runs.zarr"
            command = [sys.executable, "-c", STORED.format(block=BLOCK), str(count), str(place)]
            seconds, memory = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
            files = [path for path in place.rglob("*") if path.is_file()]
            size = sum(path.stat().st_size for path in files)
        found.append((count, float(seconds), size, len(files)))
        each = 1e6 * float(seconds) / count
        print(
            f"  {count:10d}{float(seconds):10.1f}{each:10.2f}{size / count:12.1f}{len(files):8d}{int(memory) / 1024:12.0f}"
        )
    (few, seconds, size, _), (many, taken, there, files) = found
    ratio, cores, billion = many / few, 1000, 1e9 / many
    print(
        f"  the second row as predicted by the first: {seconds * ratio:.1f} s ({taken / seconds / ratio:.2f} times that), "
        f"{size * ratio / 1e6:.1f} MB ({there / size / ratio:.2f} times)"
    )
    minutes = taken * CORES * billion / cores / 60
    print(
        f"  a billion on {cores} cores like these: {minutes:.0f} min, {there * billion / 1e9:.0f} GB, "
        f"{billion * files:.0f} files with blocks of {BLOCK}"
    )


def dask(quick):
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        print("\nDask: skipped, distributed is not installed")
        return
    count, rounds = (40_000, 2) if quick else (400_000, 3)
    x0, system = starts(count), bd.models.hopper()
    keep = {"keep": ("x",)}
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        arms = {
            "threads": lambda: bd.solve_many(system, SPAN, x0, threads=2, **keep),
            "Dask": lambda: bd.solve_many(system, SPAN, x0, executor=client, block=count // 8, **keep),
        }
        times = in_turn(arms, rounds)
    ratio = np.median(np.array(times["Dask"]) / np.array(times["threads"]))
    task = 2.0 * np.median(times["threads"]) / 8
    print(f"\nDask, 2 worker processes, 8 tasks of {task:.2f} s, against 2 threads: {ratio:.2f} times the time")


def main(arguments=None):
    parser = argparse.ArgumentParser(description="Ensembles, ours and the peers'.")
    parser.add_argument("--quick", action="store_true", help="small sizes")
    quick = parser.parse_args(arguments or []).quick
    for part in (hopper, threads, stores, dask):
        part(quick)


if __name__ == "__main__":
    main(sys.argv[1:])
