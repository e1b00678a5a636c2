"""Order of the projections in eps, on the paper's system and on a curved guard; and error against rtol without bands."""

import numpy as np

import bouligand as bd
from bouligand.models import octants, spiral

TIGHT = {"rtol": 3e-14, "atol": 1e-15, "method": "dopri5"}


def rms(solution, exact):
    return float(np.sqrt(np.mean((solution.x - exact(solution.t)) ** 2)))


def main():
    eps = np.logspace(-1, -4, 13)
    for name, system, start, tf, exact in (
        ("order test (paper)", bd.models.order_test(), octants.START, octants.END, octants.exact),
        ("circle (curved guard)", bd.models.circle(), spiral.START, spiral.END, spiral.exact),
    ):
        print(f"{name}: RMS error of the trajectory")
        print("  eps     " + " ".join(f"{e:8.1e}" for e in eps[::2]) + "   slope")
        for projection in (2, 3, 5):
            errors = np.array(
                [rms(bd.solve(system, (0, tf), start, eps=e, projection=projection, **TIGHT), exact) for e in eps]
            )
            straight = (errors > max(20 * errors.min(), 5e-14)) & (eps < 0.05)
            slope = np.polyfit(np.log(eps[straight]), np.log(errors[straight]), 1)[0]
            print(f"  order {projection} " + " ".join(f"{e:8.1e}" for e in errors[::2]) + f"   {slope:.2f}")
    print("order test without bands: error at the end and evaluations of f, by rtol")
    for rtol in np.logspace(-3, -11, 9):
        sol = bd.solve(bd.models.order_test(), (0, octants.END), octants.START, rtol=rtol)
        error = np.abs(sol.x[-1] - octants.FINAL).max()
        print(f"  rtol {rtol:.0e}   error {error:.1e}   error/rtol {error / rtol:6.3f}   f {sol.counts.f}")
    print("  (plain RK45, guards ignored: 2.9e-3 in 50, 2.6e-7 in 482, 5.2e-10 in 956)")


if __name__ == "__main__":
    main()
