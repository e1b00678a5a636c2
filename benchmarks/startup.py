"""How long a user waits: the import, the first solve of a new system in a new process (warm and cold cache), and every part.

If there is a wheel with machine code in dist (`make wheel`), it is measured as well, with an empty cache.
"""

import contextlib
import os
import pathlib
import subprocess
import sys
import tempfile
import zipfile

DIST = pathlib.Path(__file__).parents[1] / "dist"

IMPORT = """
import time
began, busy = time.perf_counter(), time.process_time()
import bouligand
print(time.perf_counter() - began, time.process_time() - busy)
"""

FIRST = """
import time
import numpy as np
import bouligand as bd

def f(t, x, b, p):
    g, k, rest = p
    push = k * (rest - x[0]) if b[0] > 0 else 0.0
    return np.array([x[1], push - g])

def h(t, x, p):
    return np.array([p[2] - x[0]])

hopper = bd.System(f, h, states=("z", "vz"), guards=("foot",), params={"g": 9.81, "k": 1000.0, "rest": 1.0})
began, busy = time.perf_counter(), time.process_time()
bd.solve(hopper, (0.0, 2.0), [2.0, 0.0], rtol=1e-8)
print(time.perf_counter() - began, time.process_time() - busy)
"""


@contextlib.contextmanager
def unpacked_wheel():
    """The folder of what the newest wheel with machine code installs; None if there is none."""
    tag = f"cp{sys.version_info[0]}{sys.version_info[1]}"
    wheels = sorted(DIST.glob(f"bouligand-*-{tag}-*.whl"), key=os.path.getmtime)
    with tempfile.TemporaryDirectory() as folder:
        if wheels:
            zipfile.ZipFile(wheels[-1]).extractall(folder)
        yield folder if wheels else None


def environment(cache, package=None):
    """Of a process that has its compiled code in ``cache``; with the library of a folder."""
    return {**os.environ, "NUMBA_CACHE_DIR": cache, **({"PYTHONPATH": package} if package else {})}


def seconds(code, cache, package=None):
    """The seconds that ``code`` prints, by the clock and of the processor, and what it said on stderr."""
    env = environment(cache, package)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=env)
    return tuple(map(float, done.stdout.split())), done.stderr


def shown(times):
    return f"{times[0]:.2g} s ({times[1]:.2g} s of the processor)"


def main():
    with tempfile.TemporaryDirectory() as cache:
        print(f"import bouligand: {shown(min(seconds(IMPORT, cache)[0] for _ in range(3)))}, goal: under 0.5")
        cold, said = seconds(FIRST, cache)
        print(f"first solve, cold cache: {shown(cold)}, goal: under 20; it said: {said.strip()!r}")
        warm = min(seconds(FIRST, cache)[0] for _ in range(3))
        print(f"first solve of a new system in a new process, warm cache: {shown(warm)}, goal: under 1")
    with unpacked_wheel() as package, tempfile.TemporaryDirectory() as cache:
        if package is None:
            print("first solve with a wheel that has machine code: there is none in dist (`make wheel`)")
        else:
            first, said = seconds(FIRST, cache, package)
            print(
                f"first solve with a wheel that has machine code, cold cache: {shown(first)}; it said: {said.strip()!r}"
            )
    with tempfile.TemporaryDirectory() as cache:
        print("\nevery part, each in the same process (`bouligand warm --processes 1 --times`):")
        command = [sys.executable, "-m", "bouligand", "warm", "--processes", "1", "--times"]
        env = environment(cache)
        print(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=env).stdout)


if __name__ == "__main__":
    main()
