"""Models of other fields beside simulators of these fields: spike times beside Brian2, a fault in a power system beside ANDES.

Both run in environments of their own, which BRIAN2_PYTHON and ANDES_PYTHON name; one that is missing is skipped by name.
"""

import cmath
import math
import pathlib

import numpy as np

import bouligand as bd
from benchmarks.elsewhere import elsewhere
from bouligand.reporting.tables import number, seconds, table
from bouligand.reporting.timing import interleaved

HERE = pathlib.Path(__file__).parent
NETWORK = {"H": 3.5, "power": 0.9, "machine": 0.3, "line": 0.35, "grid": 0.1, "fault": 0.01}  # reactances, per unit
CLEARING, END = 0.1, 1.0


def spikes():
    """The AdEx neuron, 100 ms: how far off each spike is."""
    system, start = bd.models.adex(), [-70.6, 0.0]
    exact = bd.solve(system, (0.0, 100.0), start, rtol=1e-13, atol=1e-13, method="dop853").events.t
    rows = []

    def row(name, setting, times, took):
        off = (
            [number(abs(a - b)) for a, b in zip(times, exact, strict=False)] if len(times) == len(exact) else ["-"] * 5
        )
        rows.append((name, setting, *off, seconds(took)))

    try:
        brian = elsewhere(HERE / "jump_peers" / "brian_server.py", "BRIAN2_PYTHON", "Brian2")
        for method, dt in (("euler", 0.1), ("rk4", 0.1), ("rk4", 0.01), ("rk4", 0.001)):
            which = brian.ask(build="adex", method=method, dt=dt)["number"]
            answers = [brian.ask(run=which) for _ in range(4)][1:]
            took = float(np.median([answer["seconds"] for answer in answers]))
            row(f"Brian2 {brian.ask(version=True)['version']}", f"{method}, dt = {dt:g} ms", answers[0]["times"], took)
    except ImportError as error:
        print(f"skipped: Brian2: {error}")
    for rtol in (1e-4, 1e-6, 1e-8, 1e-10):
        (took,) = interleaved([lambda rtol=rtol: bd.solve(system, (0.0, 100.0), start, rtol=rtol)])
        row("bouligand", f"rtol = {rtol:.0e}", bd.solve(system, (0.0, 100.0), start, rtol=rtol).events.t, took)
    print("AdEx neuron, 1 nA for 100 ms: errors of the five spike times in ms")
    print(table(("", "setting", *[f"{t:.3f}" for t in exact], "time"), rows))


def reduced():
    """The network without its buses, as arguments of `swing`: what the fault leaves of the power, by star and delta."""
    x, far = NETWORK["machine"], NETWORK["line"] + NETWORK["grid"]
    angle = math.asin(NETWORK["power"] * NETWORK["line"])
    current = (cmath.exp(1j * angle) - 1.0) / (1j * NETWORK["line"])
    here, there = cmath.exp(1j * angle) + 1j * x * current, 1.0 - 1j * NETWORK["grid"] * current
    product = abs(here) * abs(there)
    whole, short = product / (x + far), product / (x + far + x * far / NETWORK["fault"])
    p = {"H": NETWORK["H"], "P": NETWORK["power"], "before": whole, "during": short, "after": whole, "trip": 1e3}
    return p, np.array([cmath.phase(here) - cmath.phase(there), 0.0])


def critical(stable, low=0.05, high=0.6, within=1e-4):
    """The longest fault after which the machine stays in step, by bisection."""
    while high - low > within:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if stable(middle) else (low, middle)
    return 0.5 * (low + high)


def in_step(answer):
    return answer["done"] and answer["largest"] < math.pi


def fault():
    """A short circuit of 0.1 s: the angle 0.8 s behind it, and how long it may last."""
    p, start = reduced()
    system = bd.models.swing()

    def angle(rtol, clearing=CLEARING, tf=END, **more):
        return bd.solve(system, (0.0, tf), start, p={**p, "clearing": clearing}, rtol=rtol, **more).x[:, 0]

    def longest(rtol):
        return critical(lambda c: angle(rtol, c, 2.5).max() < math.pi, within=1e-8)

    exact, limit = angle(1e-13, atol=1e-14)[-1], longest(1e-12)
    rows = []
    try:
        andes = elsewhere(HERE / "andes_server.py", "ANDES_PYTHON", "ANDES")
        name = f"ANDES {andes.ask(version=True)['version']}"
        for step, tol in ((1.0 / 30.0, 1e-4), (1e-2, 1e-4), (1e-2, 1e-6), (1e-3, 1e-6), (1e-3, 1e-8)):
            given = {"step": step, "tol": tol, "p": NETWORK}
            runs = [andes.ask(**given, clearing=CLEARING, tf=END) for _ in range(3)]
            time, error = "-", "not to the end"
            if runs[0]["done"]:
                error = number(abs(runs[0]["end"] - exact))
            if step >= 1e-2:  # (others take minutes)
                found = critical(lambda c, g=given: in_step(andes.ask(**g, clearing=c, tf=2.5)))
                time = f"{1e3 * found:.1f} ms"
            took = float(np.median([one["seconds"] for one in runs]))
            setting = f"steps of {1e3 * step:.3g} ms, tol = {tol:.0e}"
            rows.append((name, setting, runs[0]["steps"], error, time, seconds(took)))
    except ImportError as error:
        print(f"skipped: ANDES: {error}")
    for rtol in (1e-4, 1e-6, 1e-8, 1e-10):
        (took,) = interleaved([lambda rtol=rtol: angle(rtol)])
        path = angle(rtol)
        off = number(abs(path[-1] - exact))
        rows.append(
            ("bouligand", f"rtol = {rtol:.0e}", len(path) - 1, off, f"{1e3 * longest(rtol):.4f} ms", seconds(took))
        )
    print(
        f"\nShort circuit of {1e3 * CLEARING:.0f} ms beside a machine at a line: error of the angle at {END:g} s (rad),"
    )
    print(f"and the longest fault after which it stays in step (exact: {1e3 * limit:.4f} ms)")
    print(table(("", "setting", "steps", "error", "longest fault", "time"), rows))


def main():
    spikes()
    fault()
