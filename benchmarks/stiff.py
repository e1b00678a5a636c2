"""Stiff systems in general, next to SciPy's implicit methods: evaluations of f and errors at the same tolerances.

A light foot (0.05 kg under 2 kg) that lands on springs of 1e5 to 1e7 N/m; van der Pol's oscillator and Robertson's
reaction with a guard across which nothing changes. SciPy stops at each event and starts again in the other mode; its
evaluations of f include those for Jacobians by differences, ours those of f for dual numbers (with eight columns
each). Errors are those of the state at the end, relative to the size of each component along the way, against a
reference at rtol = 1e-12 (the foot: explicit steps; the others: Radau).
"""

import numpy as np
from scipy.integrate import solve_ivp
from tqdm import tqdm

import bouligand as bd
from bouligand.reporting.tables import number, table

TOLERANCES = (1e-3, 1e-4, 1e-6)
PEERS = ("Radau", "BDF", "LSODA")
LEG, LEG_DAMPER, LENGTH = 5e3, 20.0, 0.5  # N/m, N s/m, m
DAMPERS = {1e5: 30.0, 1e6: 410.0, 1e7: 1410.0}  # N s/m under the foot, by its stiffness


def foot(t, x, b, p):
    leg = LEG * (LENGTH - (x[0] - x[1])) - LEG_DAMPER * (x[2] - x[3])
    floor = -p[0] * x[1] - p[1] * x[3] if b[0] > 0.0 else 0.0
    return np.array([x[2], x[3], leg / 2.0 - 9.81, (floor - leg) / 0.05 - 9.81])


def touches(t, x, p):
    return np.array([-x[1]])


def van_der_pol(t, x, b, p):
    return np.array([x[1], p[0] * (1.0 - x[0] ** 2) * x[1] - x[0]])


def at_one_and_a_half(t, x, p):
    return np.array([x[0] - 1.5])


def robertson(t, x, b, p):
    one, two = 0.04 * x[0] - 1e4 * x[1] * x[2], 3e7 * x[1] ** 2
    return np.array([-one, one - two, two])


def at_a_hundred_thousandth(t, x, p):
    return np.array([1e5 * x[1] - 1.0])


def problems():
    """Name -> f, h, start, end, parameters, and the absolute tolerance over the relative one."""
    out = {
        f"light foot, k = {k:.0e}": (foot, touches, [0.55, 0.05, 0.0, 0.0], 0.5, {"k": k, "c": c}, 1e-2)
        for k, c in DAMPERS.items()
    }
    for mu in (100.0, 1000.0):
        out[f"van der Pol, mu = {mu:g}"] = van_der_pol, at_one_and_a_half, [2.0, 0.0], 3.0 * mu, {"mu": mu}, 1e-2
    out["Robertson"] = robertson, at_a_hundred_thousandth, [1.0, 0.0, 0.0], 4e3, {}, 1e-6
    return out


def with_restarts(method, f, h, x, tf, p, rtol, atol):
    """SciPy's method, stopped at each event: states at the ends of steps, evaluations of f, and the end."""
    t, count, states = 0.0, 0, [np.array(x, dtype=float)]
    b = np.sign(h(0.0, states[0], p)) + 0.0
    while t < tf:

        def event(t, x):
            return h(t, x, p)[0]

        event.terminal, event.direction = True, -b[0]
        run = solve_ivp(
            lambda t, x, b=b: f(t, x, b, p), (t, tf), states[-1], method=method, rtol=rtol, atol=atol, events=[event]
        )
        t, count = run.t[-1], count + run.nfev
        states += list(run.y.T[1:])
        b = -b
        # (from its own side on: at the event itself h is zero to round-off only)
        if t < tf and b[0] * h(t, states[-1], p)[0] < 0.0:
            slope = f(t, states[-1], b, p)
            states[-1] = states[-1] + 1e-13 * slope
    return np.array(states), count


def main(tolerances=TOLERANCES, chosen=None):
    rows = []
    for name, (f, h, x0, tf, params, ratio) in tqdm((chosen or problems()).items(), desc="problems"):
        system, p = bd.System(f, h, n=len(x0), m=1, params=params), np.array(list(params.values()))
        if f is foot:
            exact = bd.solve(system, (0.0, tf), x0, rtol=1e-12, method="dop853", max_steps=10**7).x
        else:
            exact, _ = with_restarts("Radau", f, h, x0, tf, p, 1e-12, 1e-12 * ratio)
        size = np.abs(exact).max(axis=0)

        def error(states, exact=exact, size=size):
            return (np.abs(states[-1] - exact[-1]) / size).max()

        for rtol in tolerances:
            cells = []
            for method in ("auto", "dopri5"):
                sol = bd.solve(
                    system,
                    (0.0, tf),
                    x0,
                    rtol=rtol,
                    atol=rtol * ratio,
                    method=method,
                    max_steps=10**6,
                    on_failure="return",
                )
                cells += [str(sol.counts.f), number(error(sol.x))] if sol.success else ["-", "-"]
            for method in PEERS:
                states, count = with_restarts(method, f, h, x0, tf, p, rtol, rtol * ratio)
                cells += [str(count), number(error(states))]
            rows.append([name, f"{rtol:.0e}", *cells])
    heads = ["", "rtol"]
    for name in ("ours", "dopri5 alone", *PEERS):
        heads += [f"{name}: f", "error"]
    print("stiff systems: evaluations of f, and errors")
    print(table(heads, rows))


if __name__ == "__main__":
    main()
