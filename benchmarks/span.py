"""Many contacts: the plate on 100 to 10,000 springs, against a compiled dopri5 that ignores the guards.

The peer is the strongest one here: the contact test inside f, adaptive steps, no events, no guards, compiled for this one
model (`peers/plain_dopri5.py`). Times are medians of interleaved repeats, the Python call of Bouligand included. The error is RMS
over 1,000 times and all states, against rtol = 1e-12; the last lines compare the two at equal error.
"""

import math

import numpy as np

import bouligand as bd
from benchmarks import problems
from benchmarks.peers import ours, plain_dopri5, plain_fields
from bouligand.reporting.timing import interleaved, rms

RTOLS = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7)
LEVELS = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6)


def at_error(errors, times, level):
    """Time at an error, between the measured points on logarithmic scales; nan outside them."""
    order = np.argsort(errors)
    e, t = np.log(np.array(errors)[order]), np.log(np.array(times)[order])
    return float(np.exp(np.interp(math.log(level), e, t, left=np.nan, right=np.nan)))


def evaluations(problem, rtol):
    """Of f, with the guards ignored."""
    rest = problem.max_step, np.empty(0), np.empty((0, problem.n))
    field = plain_fields.compiled(problem.kind)
    return plain_dopri5.integrate(field, problem.x0.copy(), problem.p, problem.tf, rtol, 0.01 * rtol, *rest)


def compare(m):
    problem = problems.plate(m)
    system, span = problem.system(), (0.0, problem.tf)
    reference = problem.reference()
    order = bd.solve(system, span, problem.x0, rtol=1e-11, method="dop853").events.guard
    arms = [ours.build(problem, rtol) for rtol in RTOLS] + [plain_dopri5.build(problem, rtol) for rtol in RTOLS]
    errors = [rms(arm.sample() - reference) for arm in arms]
    times = interleaved([arm.run for arm in arms], rounds=25, seconds=0.005)
    mine, plain = slice(0, len(RTOLS)), slice(len(RTOLS), None)
    for rtol, a, b, error, other in zip(RTOLS, times[mine], times[plain], errors[mine], errors[plain], strict=True):
        sol = bd.solve(system, span, problem.x0, rtol=rtol)
        c, same = sol.counts, np.array_equal(sol.events.guard, order)
        print(
            f"  {m:6d} {rtol:7.0e} {a * 1e6:9.0f} {a * 1e6 / m:8.2f} {c.f:7d} {c.spans:6d} {c.hops:6d} {c.events:7d}"
            f"{' ' if same else '!'} {error:9.1e} | {b * 1e6:9.0f} {evaluations(problem, rtol):7d} {other:9.1e}",
            flush=True,
        )
    return [at_error(errors[plain], times[plain], e) / at_error(errors[mine], times[mine], e) for e in LEVELS]


def main(contacts=(8, 32, 100, 500, 2000, 10000)):
    print("plate, 2 s; '!' marks events in another order than those of the reference")
    print(
        f"  {'contacts':>6s} {'rtol':>5s} {'us':>9s} {'us/cont.':>8s} {'f':>7s} {'spans':>6s} {'hops':>6s} {'events':>7s}"
        f"  {'error':>9s} | ignored:  us {'f':>7s} {'error':>9s}"
    )
    ratios = {m: compare(m) for m in contacts}
    print(
        "at equal error: time with the guards ignored / time of Bouligand (above 1: Bouligand is ahead; nan: not reached)"
    )
    print("  contacts " + " ".join(f"{e:8.0e}" for e in LEVELS))
    for m, row in ratios.items():
        print(f"  {m:8d} " + " ".join(f"{r:8.2f}" for r in row))


if __name__ == "__main__":
    main()
