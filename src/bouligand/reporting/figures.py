"""The look of figures: each method has the same colour in all of them."""

from .._optional import need
from ..plot import STYLE

COLOURS = {
    "bouligand": "#d62728",
    "MuJoCo": "#1f4e9e",
    "MuJoCo, pads": "#1aa7c9",
    "MuJoCo, soft contact": "#b9a3e3",
    "heyoka": "#f28e2b",
    "SciPy RK45": "#a0a0a0",
    "SciPy DOP853": "#303030",
    "CVODE": "#1b9e4b",
    "diffrax": "#7b3fa0",
    "RK4, guards ignored": "#d4b100",
    "dopri5, guards ignored": "#8c5a2b",
    "PyBullet": "#0d6e6e",
    "DART": "#f06fb0",
    "ODE": "#9edb4b",
    "Drake": "#d001e1",
    "Brian2": "#41e303",
}
MARKERS = dict(zip(COLOURS, "osDdo^v<>PXhp*hp", strict=True))  # (of many series a colour alone is hard to tell)


def pyplot():
    """matplotlib without a window."""
    need("matplotlib", "reproduce").use("agg")
    plt = need("matplotlib.pyplot", "reproduce")
    plt.style.use(STYLE)
    return plt


def tidy(ax, xlabel="", ylabel="", title=""):
    """Labels, a light grid, no box."""
    ax.set(xlabel=xlabel, ylabel=ylabel)
    ax.set_title(title, fontsize="medium", loc="left")
    ax.grid(True, which="major", color="0.92", lw=0.7)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    return ax
