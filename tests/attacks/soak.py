"""Long runs and faults from outside: memory, threads at first use, kills while compiling, damaged cache files.

    python -m tests.attacks.soak                                                          # a minute or two
    python -m tests.attacks.soak --minutes 60 --threads 20 --kills 100 --damaged 200 --systems 2000
    python -m tests.attacks.soak --seed 3 --kills 10 --only kills

Processes get a cache of their own in a temporary folder, which a first process fills. The exit status is 1 if anything failed.
"""

from __future__ import annotations

import argparse
import gc
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time

from tqdm import tqdm

import bouligand as bd
from bouligand.core.compiler.sources import STAMP

PARTS = ("solves", "systems", "threads", "kills", "damaged")

SOLVE = """
import hashlib
import bouligand as bd
sol = bd.solve(bd.models.hopper(), (0.0, 2.0), [2.0, 0.0], rtol=1e-8)
print(hashlib.sha256(sol.x.tobytes() + sol.events.t.tobytes()).hexdigest())
"""

# the same, and what uses other functions of the core
MORE = (
    SOLVE
    + """
sol([0.1, 0.7])
sol.bderivative()([0.1, 0.0])
bd.solve(bd.models.hopper(), (0.0, 2.0), [2.0, 0.0], breakpoints=[0.3])
"""
)

# eight threads meet the library for the first time; nothing of Numba stays changed, and no result is another's
THREADS = (
    """
import hashlib, threading, warnings
warnings.simplefilter("error")
import bouligand as bd
from numba import config
from numba.core.codegen import JITCodeLibrary
from numba.core.cpu import CPUContext

def patched():
    library = JITCodeLibrary._optimize_final_module, JITCodeLibrary._finalize_final_module
    return CPUContext.get_executable, *library, config.LLVM_REFPRUNE_PASS

def make(stiffness):
    def f(t, x, b, p):
        return x[1], (stiffness * (1 - x[0]) if b[0] > 0 else 0.0) - 9.81

    return bd.System(f, lambda t, x, p: (1 - x[0],), n=2, m=1)

def solve(system):
    return bd.solve(system, (0.0, 2.0), [2.0, 0.0], rtol=1e-8).x.tobytes()

usual, barrier = patched(), threading.Barrier(8)
systems, found, failures = [make(1000.0 + q // 2) for q in range(8)], {}, []

def work(q):
    try:
        barrier.wait()
        found[q] = [solve(systems[q]) for _ in range(3)]
    except BaseException as error:
        failures.append(error)

threads = [threading.Thread(target=work, args=(q,)) for q in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert not failures, failures
assert patched() == usual
assert all(system.compiled for system in systems)
for q in range(8):
    assert set(found[q]) == {solve(make(1000.0 + q // 2))}, q
"""
    + SOLVE
)

# what of the cache can be read: each file of the core, and whether it loads
LOAD = """
import importlib, sys
from numba.core.registry import cpu_target
from bouligand.cli.warm import PARTS, types_of
whole = sys.argv[1:]
for part in PARTS:
    entry = getattr(importlib.import_module("bouligand.core." + part.module), part.name)
    file = entry._cache.file("overload", types_of(part.arguments))
    if file in whole:
        loaded = entry._cache.load_overload(types_of(part.arguments), cpu_target.target_context)
        print(file, "missing" if loaded is None else "read")
"""


class Faults:
    """What went wrong, part by part."""

    def __init__(self):
        self.found = []

    def add(self, part, text):
        self.found.append(f"{part}: {text}")


def rss():
    """Resident memory of this process in MB (Linux; elsewhere its largest so far)."""
    try:
        return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
    except OSError:
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def process(code, cache, *arguments):
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        env={**os.environ, "NUMBA_CACHE_DIR": str(cache)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finished(code, cache, *arguments):
    """The lines that a process wrote to stdout and stderr, and its exit status."""
    started = process(code, cache, *arguments)
    out, said = started.communicate(timeout=600)
    return out.split("\n")[:-1], said.split("\n")[:-1], started.returncode


# ------------------------------------------------------------------------------------------------------ in this process


def solves(faults, seconds, bar):
    """Solves, dense output and derivatives in a loop: the same bits each time, and no more memory."""
    systems = [
        (bd.models.hopper(), [2.0, 0.0]),
        (bd.models.plate(20), [0.0, 1.5, 0.1, 0.0, 0.0, 0.0]),
    ]

    def once(system, start):
        sol = bd.solve(system, (0.0, 1.0), start)
        return sol.x.tobytes() + sol([0.1, 0.7]).tobytes() + sol.bderivative()(start).tobytes()

    right = [once(*one) for one in systems]
    for one in systems:
        for _ in range(50):
            once(*one)
    gc.collect()
    before, count, until = rss(), 0, time.monotonic() + seconds
    while time.monotonic() < until:
        for one, wanted in zip(systems, right, strict=True):
            if once(*one) != wanted:
                faults.add("solves", f"the {count}th differs from the first")
            count += 1
        bar.update()
    gc.collect()
    grown = rss() - before
    if grown > 5.0 + 1e-3 * count:
        faults.add("solves", f"memory grew by {grown:.1f} MB in {count} solves")
    return f"{count} solves with dense output and derivative, memory {grown:+.1f} MB"


def hopper(pull):
    return bd.System(
        lambda t, x, b, p: (x[1], -pull + (1000.0 * (1.0 - x[0]) if b[0] > 0 else 0.0)),
        lambda t, x, p: (1.0 - x[0],),
        n=2,
        m=1,
    )


def systems(faults, count, bar):
    """Systems made of new functions and dropped: with equal values they share machine code."""
    wanted = bd.solve(hopper(9.81), (0.0, 2.0), [2.0, 0.0]).x.tobytes()
    gc.collect()
    curve = [rss()]
    for q in range(1, count + 1):
        if bd.solve(hopper(9.81), (0.0, 2.0), [2.0, 0.0]).x.tobytes() != wanted:
            faults.add("systems", f"the {q}th differs from the first")
        if q % max(count // 5, 1) == 0:
            gc.collect()
            curve.append(rss())
        bar.update()
    few = min(max(count // 40, 5), 50)
    before = rss()
    for q in range(few):
        bd.solve(hopper(9.0 + 1e-3 * q), (0.0, 2.0), [2.0, 0.0])
    each = (rss() - before) / few
    if curve[-1] - curve[0] > 5.0 + 1e-3 * count:
        faults.add("systems", f"memory grew from {curve[0]:.0f} to {curve[-1]:.0f} MB")
    return f"{count} made and dropped, memory {' '.join(f'{v:.0f}' for v in curve)} MB; with other values {each:.1f} MB each"


# --------------------------------------------------------------------------------------------------- in other processes


def threads(faults, folder, times, answer, bar):
    """Eight threads at first use: with an empty cache, then with the one that they left."""
    for q in range(times):
        cache = folder / "cold"
        shutil.rmtree(cache, ignore_errors=True)
        for state in ("cold", "warm"):
            out, said, status = finished(THREADS, cache)
            if status or out != [answer]:
                faults.add("threads", f"{state} {q}: status {status}, {out}, {said[-5:]}")
        bar.update()
    return f"{times} times 8 threads at first use with a cold cache, and with a warm one"


def _copied(whole, folder):
    cache = folder / "attacked"
    shutil.rmtree(cache, ignore_errors=True)
    shutil.copytree(whole, cache)
    return cache


def _files(cache):
    """The files of the core's entries, as they are now (not what other versions or users' functions left; nor those of the C
    functions of `core.sliding.compiled`, which few systems need)."""
    return sorted(file for file in cache.rglob("core.*.nbu") if STAMP in file.name and ".compiled." not in file.name)


def kills(faults, folder, whole, count, answer, rng, bar):
    """A process is killed while it compiles one of the functions of the core; the next one must work."""
    killed = 0
    for q in range(count):
        cache = _copied(whole, folder)
        missing = rng.choice(_files(cache))
        missing.unlink()
        victim = process(MORE, cache)
        try:
            victim.communicate(timeout=rng.uniform(0.5, 6.0))
        except subprocess.TimeoutExpired:
            victim.kill()
            victim.communicate()
            killed += 1
        out, said, status = finished(MORE, cache)
        if status or out != [answer]:
            faults.add("kills", f"{q}, {missing.stem}: status {status}, {out}, {said[-5:]}")
        bar.update()
    return f"{count} processes, {killed} of them killed before they had finished; the next one worked"


def _damage(file, rng):
    content = file.read_bytes()
    at = rng.randrange(len(content))
    way = rng.choice(["cut", "empty", "flipped", "foreign", "random", "longer", "zeros"])
    changed = {
        "cut": content[:at],
        "empty": b"",
        "flipped": content[:at] + bytes([content[at] ^ (1 << rng.randrange(8))]) + content[at + 1 :],
        "foreign": b"not a cache",
        "random": rng.randbytes(min(len(content), 10_000)),
        "longer": content + rng.randbytes(10),
        "zeros": content[:at] + bytes(len(content) - at),
    }[way]
    if changed == content:
        changed = b""
    file.write_bytes(changed)
    return way


def damage_and_load(faults, folder, whole, count, rng, bar):
    """Files of the cache are damaged, some in each process: they are not used, one line says so, all others are read."""
    done = 0
    while done < count:
        cache = _copied(whole, folder)
        files = _files(cache)
        chosen = rng.sample(files, min(len(files), 1 + len(files) // 2, count - done))
        ways = {file.name: _damage(file, rng) for file in chosen}
        out, said, status = finished(LOAD, cache, *(file.name for file in files))
        state = dict(line.rsplit(" ", 1) for line in out)
        wrong = [name for name, how in state.items() if how != ("missing" if name in ways else "read")]
        lines = [line for line in said if "cannot be used" in line]
        if status or wrong or not set(ways) <= set(state) or len(lines) != len(ways):
            faults.add("damaged", f"status {status}, wrong {wrong}, damaged {ways}, said {said[-8:]}")
        done += len(chosen)
        bar.update(len(chosen))
    return cache


def damaged(faults, folder, whole, count, answer, rng, bar):
    """Damaged files of the cache, and a solve with what is left of the last cache."""
    cache = damage_and_load(faults, folder, whole, count, rng, bar)
    out, said, status = finished(SOLVE, cache)  # the last of them: what it needs is compiled again
    if status or out != [answer]:
        faults.add("damaged", f"status {status}, {out}, {said[-5:]}")
    return f"{count} damaged files, none used"


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m tests.attacks.soak", description=__doc__.split("\n")[0])
    parser.add_argument("--minutes", type=float, default=0.2, help="of solves in a loop")
    parser.add_argument("--systems", type=int, default=300, help="made and dropped")
    parser.add_argument("--threads", type=int, default=1, help="times that 8 threads begin, cold and warm")
    parser.add_argument("--kills", type=int, default=2)
    parser.add_argument("--damaged", type=int, default=24, help="cache files")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--seed", type=int, help="default: by the clock")
    given = parser.parse_args(arguments)
    seed = int(time.time()) if given.seed is None else given.seed
    rng, faults = random.Random(seed), Faults()
    print(f"seed {seed}")
    with tempfile.TemporaryDirectory() as place, tqdm(unit="", disable=None, file=sys.stderr) as bar:
        folder = pathlib.Path(place)
        whole, answer = folder / "whole", ""
        if set(given.only) & {"threads", "kills", "damaged"}:
            if os.path.isdir(os.environ.get("NUMBA_CACHE_DIR", "")):  # (what is there already need not be compiled)
                shutil.copytree(os.environ["NUMBA_CACHE_DIR"], whole)
            (answer,), _, _ = finished(MORE, whole)
        parts = {
            "solves": lambda: solves(faults, 60.0 * given.minutes, bar),
            "systems": lambda: systems(faults, given.systems, bar),
            "threads": lambda: threads(faults, folder, given.threads, answer, bar),
            "kills": lambda: kills(faults, folder, whole, given.kills, answer, rng, bar),
            "damaged": lambda: damaged(faults, folder, whole, given.damaged, answer, rng, bar),
        }
        for name in given.only:
            bar.set_description(name)
            print(f"{name:<8} {parts[name]()}", flush=True)
    print("\n".join(faults.found) or "no faults")
    return 1 if faults.found else 0


if __name__ == "__main__":
    sys.exit(main())
