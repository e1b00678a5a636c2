"""The look of figures: each method has the same colour in all of them."""

from .._optional import need

COLOURS = {
    "bouligand": "#c1272d",
    "MuJoCo": "#1f5fa8",
    "MuJoCo, pads": "#1f5fa8",
    "MuJoCo, soft contact": "#56a0dd",
    "heyoka": "#e08a1e",
    "SciPy RK45": "#8c8c8c",
    "SciPy DOP853": "#4d4d4d",
    "CVODE": "#2e8b57",
    "diffrax": "#7b4fa3",
    "RK4, guards ignored": "#b5a642",
    "dopri5, guards ignored": "#8a6d3b",
    "PyBullet": "#17a2a2",
    "DART": "#d16ba5",
    "ODE": "#9acd32",
    "Drake": "#17a2a2",
    "Brian2": "#9acd32",
}


def pyplot():
    """matplotlib without a window."""
    need("matplotlib", "reproduce").use("agg")
    return need("matplotlib.pyplot", "reproduce")


def tidy(ax, xlabel="", ylabel="", title=""):
    """Labels, a light grid, no box."""
    ax.set(xlabel=xlabel, ylabel=ylabel)
    ax.set_title(title, fontsize="medium", loc="left")
    ax.grid(True, which="major", color="0.92", lw=0.7)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    return ax
