"""Does the error follow the tolerance? Hopper and plate, against the exact solution or a tight reference.

For each: kappa (how much a small error grows), then the error at the end divided by kappa times the tolerance, which must
stay below 10; and whether every event was found.
"""

import numpy as np

import bouligand as bd
from benchmarks.kappa import amplification
from bouligand.models.hopper import START as HOPPER_START
from bouligand.models.hopper import exact as hopper_exact
from bouligand.models.plate import START as PLATE_START

RTOLS = (1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11)


def reference(system, x0, tf):
    """The plate's answer at rtol = 1e-12; halving the tolerance twice more must not change it by more than 1e-10."""
    tight = bd.solve(system, (0, tf), x0, rtol=1e-12, method="dop853")
    check = bd.solve(system, (0, tf), x0, rtol=3e-13, atol=1e-15, method="dop853")
    assert np.abs(tight.x[-1] - check.x[-1]).max() < 1e-9
    return check


def in_tolerances(error, x, rtol):
    """The largest error in units of the tolerance that was asked for, rtol |x| + atol."""
    return float(np.max(np.abs(error) / (rtol * np.abs(x) + 0.01 * rtol)))


def row(name, solve, exact, kappa, events):
    ratios, found = [], []
    for rtol in RTOLS:
        sol = solve(rtol)
        ratios.append(in_tolerances(sol.x[-1] - exact, exact, rtol) / kappa)
        found.append(len(sol.events) == events)
    cells = " ".join(f"{r:8.2g}{' ' if ok else '!'}" for r, ok in zip(ratios, found, strict=True))
    print(f"{name:16s} {kappa:8.3g} {events:7d}  {cells}")
    return ratios, found


def main(contacts=(2, 10, 100, 500, 2000)):
    print("error at the end / (kappa tolerance), by rtol; '!' marks a wrong number of events")
    print(f"{'':16s} {'kappa':>8s} {'events':>7s}  " + " ".join(f"{r:8.0e} " for r in RTOLS))
    hopper = bd.models.hopper()
    kappa = amplification(hopper, (0, 2), HOPPER_START)
    exact = hopper_exact(2.0)[0]
    row("hopper", lambda rtol: bd.solve(hopper, (0, 2), HOPPER_START, rtol=rtol), exact, kappa, 4)
    for m in contacts:
        plate = bd.models.plate(m)
        kappa = amplification(plate, (0, 2), PLATE_START, samples=20 if m < 500 else 6)
        ref = reference(plate, PLATE_START, 2.0)
        row(
            f"plate, {m}",
            lambda rtol, plate=plate: bd.solve(plate, (0, 2), PLATE_START, rtol=rtol),
            ref.x[-1],
            kappa,
            len(ref.events),
        )


if __name__ == "__main__":
    main()
