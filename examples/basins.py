"""Which drops does the three-legged hopper survive? A hundred thousand of them, over the tilt at the start.

python examples/basins.py [FOLDER for the figure] [--side N]
"""

import math
import pathlib
import sys
import time

import numpy as np

import bouligand as bd
from bouligand.models.three_legs import DEFAULTS, START, contact, free, guards

SIDE, TF = 316, 3.0
LARGEST = 0.15  # rad


def legs(t, x, b, p, dx):
    """The model's field: the body, and what each leg that touches adds."""
    free(t, x, p, dx)
    for k in range(3):
        if b[k] > 0:
            contact(t, x, k, p, dx)


def feet_and_fall(t, x, p, out):
    """Feet that touch, and a body that leans by more than 60 degrees."""
    guards(t, x, p, out[:3])
    out[3] = 0.5 - math.cos(x[1]) * math.cos(x[2])


def hopper():
    return bd.System(
        legs,
        feet_and_fall,
        states=("z", "roll", "pitch", "vz", "wx", "wy", "wz"),
        guards=("foot0", "foot1", "foot2", "fallen"),
        params={**DEFAULTS, "c": 0.0},
        name="three legs that may fall",
    )


def main(folder=None, side=SIDE):
    tilts = np.linspace(-LARGEST, LARGEST, side)
    begun = time.perf_counter()
    ens = bd.solve_many(hopper(), (0.0, TF), START, bd.grid(pitch=tilts, roll=tilts), terminal="fallen", keep="events")
    seconds = time.perf_counter() - begun
    print(ens)
    upright = np.count_nonzero(ens.status == "finished")
    print(
        f"{upright} of {len(ens)} are upright after {TF:g} s; {1e6 * seconds / len(ens):.0f} us each, events included"
    )
    if folder is not None:
        draw(ens, pathlib.Path(folder))
    return ens


def draw(ens, folder):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    landings = np.zeros(len(ens), dtype=np.int64)
    trajectory = np.repeat(np.arange(len(ens)), np.diff(ens.events.offsets))
    np.add.at(landings, trajectory[(ens.events.direction > 0) & (ens.events.guard < 3)], 1)
    plt.style.use(bd.plot.STYLE)
    figure, axes = plt.subplots(1, 2, figsize=(9.6, 4.0), layout="constrained", sharey=True)
    bars = ((ens.t, "magma", "time of the fall (s); 3: upright"), (landings, "viridis", "landings of a foot"))
    for ax, (values, colours, label) in zip(axes, bars, strict=True):
        bd.plot.map(ens, values, ax=ax, cmap=colours, bar=False)
        figure.colorbar(ax.collections[0], ax=ax, label=label, shrink=0.85)
        ax.set(xlabel="roll at the start (rad)", ylabel="", aspect="equal")
    axes[0].set_ylabel("pitch at the start (rad)")
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / "basins.png", dpi=130)
    print(f"drawn in {folder / 'basins.png'}")


if __name__ == "__main__":
    words = sys.argv[1:]
    count = int(words[words.index("--side") + 1]) if "--side" in words else SIDE
    main(words[0] if words and words[0] != "--side" else None, count)
