"""What each shortcut through Numba's internals saves (see ``core/compiler/compiling.py``).

The first solve and the first derivative in a new process, from an empty and from a filled cache, are timed with all shortcuts,
without one of them, and without any: seconds of the processor, which depend less than others on what else a machine does.
``python -m benchmarks.shortcuts all none`` measures some of these only.
"""

import os
import subprocess
import sys
import tempfile

from bouligand.core.compiler.compiling import ALLOWED, SHORTCUTS

FIRST = """
import time
import bouligand as bd
sol = bd.solve(bd.models.hopper(), (0.0, 2.0), [2.0, 0.0], rtol=1e-8)
solved = time.process_time()
sol.bderivative().matrix()
print(solved, time.process_time() - solved)
"""


def seconds(names, cache):
    """Of the first solve (with the start of Python and the import), and of the first derivative."""
    env = {**os.environ, "NUMBA_CACHE_DIR": cache, "BOULIGAND_SHORTCUTS": ",".join(names) or "none"}
    done = subprocess.run([sys.executable, "-c", FIRST], capture_output=True, text=True, check=True, env=env)
    return [float(word) for word in done.stdout.split()]


def main(wanted=(), rounds=2):
    arms = {
        "all": SHORTCUTS,
        **{f"without {one}": tuple(s for s in SHORTCUTS if s != one) for one in SHORTCUTS},
        "none": (),
    }
    arms = {arm: names for arm, names in arms.items() if not wanted or arm in wanted}
    if not ALLOWED:
        print("none are taken with this version of Numba")
        return
    best = {}
    for _ in range(rounds):
        for arm, names in arms.items():
            with tempfile.TemporaryDirectory() as cache:
                cold = seconds(names, cache)
                warm = [min(pair) for pair in zip(seconds(names, cache), seconds(names, cache), strict=True)]
            times = [*cold, *warm]
            best[arm] = [min(pair) for pair in zip(times, best.get(arm, times), strict=True)]
    print(
        "| shortcuts | cold solve, s | cold derivative, s | warm solve, s | warm derivative, s |\n|---|---|---|---|---|"
    )
    for arm, times in best.items():
        print(f"| {arm} | " + " | ".join(f"{time:.2f}" for time in times) + " |")


if __name__ == "__main__":
    main(sys.argv[1:])
