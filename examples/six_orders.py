"""Three guards crossed at once, six orders, six pieces: a circle of perturbations and its image under the B-derivative.

python examples/six_orders.py [FOLDER]
"""

import pathlib
import sys

import matplotlib
import numpy as np
from matplotlib import style

import bouligand as bd


def field(t, x, b, p, dx):
    """(1, 1, 1), and what each crossed guard adds: it speeds one of the others up and slows the third down."""
    for i in range(3):
        faster, slower = b[(i + 2) % 3] > 0, b[(i + 1) % 3] > 0
        dx[i] = 1.0 + (0.5 if faster else 0.0) - (0.25 if slower else 0.0)


def planes(t, x, p, out):
    for i in range(3):
        out[i] = x[i]


def main(folder="results/six_orders"):
    matplotlib.use("Agg")
    style.use(bd.plot.STYLE)
    system = bd.System(field, planes, states=("x", "y", "z"), guards=("x", "y", "z"))
    B = bd.solve(system, (0.0, 2.0), [-1.0, -1.0, -1.0]).bderivative()
    print(B)
    for piece in B.pieces():
        print(f"  {', '.join(piece.orders[0][0])}: {np.array2string(piece.matrix, precision=4).replace(chr(10), '')}")
    axes = bd.plot.perturbations(B, radius=0.1)
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    axes[0].figure.savefig(folder / "perturbations.png", dpi=110)


if __name__ == "__main__":
    main(*sys.argv[1:2])
