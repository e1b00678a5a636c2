"""How long a user waits for the first gradient in a new process.

    python -m benchmarks first_gradient

Seconds of the processor, each in a process of its own, of the first solve and of the first gradient behind it: `B.vjp(w)` with
parameters, which compiles f and h once more for dual numbers. "empty cache": nothing is compiled yet. "filled cache": the library
is, this system is not (its functions differ from all before). "again": the same script once more. "wheel": an empty cache, but
the library came compiled (`make wheel`).
"""

import pathlib
import subprocess
import sys
import tempfile

from .startup import environment, unpacked_wheel

HOPPER = """
import numpy as np
import bouligand as bd

def f(t, x, b, p):
    g, k, rest = p
    push = k * (rest - x[0]) if b[0] > 0 else 0.0
    return np.array([x[1], push - g - {number} * x[1]])

def h(t, x, p):
    return np.array([p[2] - x[0]])

system = bd.System(f, h, states=("z", "vz"), guards=("foot",), params={{"g": 9.81, "k": 1000.0, "rest": 1.0}})
span, x0 = (0.0, 1.3), [2.0, 0.0]
"""

LEGS = """
import math
import numpy as np
import bouligand as bd

def leg(i, x, p):
    angle = x[2] + 2.0 * math.pi * i / 6.0
    return x[0] + p[1] * math.sin(angle) * math.tanh(x[4])

def f(t, x, b, p):
    mass, half, k, c, g = p
    out = np.zeros(6)
    out[:3] = x[3:]
    out[3] = -g - {number} * x[3]
    for i in range(6):
        if b[i] > 0:
            depth = -leg(i, x, p)
            force = k * depth - c * x[3]
            out[3] += force / mass
            out[4] += force * half * math.cos(x[1]) / mass
            out[5] -= 0.1 * force * np.arctan2(x[4], 1.0 + x[5] ** 2) / mass
    return out

def h(t, x, p):
    return np.array([-leg(i, x, p) for i in range(6)])

system = bd.System(f, h, n=6, m=6, params={{"mass": 2.0, "half": 0.1, "k": 3000.0, "c": 3.0, "g": 9.81}})
span, x0 = (0.0, 0.6), [0.3, 0.1, 0.2, 0.0, 0.05, 0.0]
"""

MEASURE = """
import time
began = time.process_time()
sol = bd.solve(system, span, x0)
solved = time.process_time()
sol.bderivative(params=True).vjp(np.ones(system.n), np.ones(system.n))
print(solved - began, time.process_time() - solved)
"""

SYSTEMS = {"hopper (n = 2)": HOPPER, "six legs, with helper functions (n = 6)": LEGS}


def seconds(text, cache, folder, package=None):
    """Of the first solve and the first gradient, in a new process."""
    script = pathlib.Path(folder) / "script.py"
    script.write_text(text + MEASURE)
    env = environment(cache, package)
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True, env=env)
    return [float(word) for word in done.stdout.split()]


def main(rounds=3):
    titles = ("empty cache", "wheel", "filled cache", "again")
    print(f"{'seconds of the processor: solve + gradient':42s}" + "".join(f" {title:>14s}" for title in titles))
    for name, text in SYSTEMS.items():
        with (
            tempfile.TemporaryDirectory() as folder,
            tempfile.TemporaryDirectory() as cache,
            unpacked_wheel() as package,
        ):
            wheel = seconds(text.format(number=0.001), cache, folder, package) if package else None
        with tempfile.TemporaryDirectory() as cache, tempfile.TemporaryDirectory() as folder:
            empty = seconds(text.format(number=0.001), cache, folder)
            filled, again = [], []
            for q in range(rounds):
                new = text.format(number=0.002 + 0.001 * q)
                filled.append(seconds(new, cache, folder))
                again.append(seconds(new, cache, folder))
        row = [shown(times) for times in (empty, wheel, min(filled, key=sum), min(again, key=sum))]
        print(f"{name:42s} {' '.join(row)}", flush=True)


def shown(times):
    return f"{times[0]:6.1f} + {times[1]:5.1f}" if times else f"{'(none in dist)':>14s}"


if __name__ == "__main__":
    main()
