"""The figures of ``bouligand run``: the states over time, and the gait diagram."""

import re

import numpy as np

from .. import plot
from ..plot.gait import select
from . import outputs

ALONE = 8  # up to so many states have axes of their own
POINTS = 1001  # of curves that are computed from the states
LINES, AXES = 10, 12  # with more states: at most so many lines in one axes, and so many axes in the figure


def save(folder, solution, simulation):
    """``states`` and, if there are guards, ``contacts``, each as PNG and SVG."""
    import matplotlib.pyplot as plt

    plt.style.use(plot.STYLE)
    panels = simulation.panels(solution, np.linspace(solution.t[0], solution.t[-1], POINTS))
    if panels:
        figures = {title: stacked(plt, solution, simulation.name, rows) for title, rows in panels.items()}
    else:
        figures = {"states": states(plt, solution, simulation.name, simulation.unit)}
    if solution.system.m:
        figures["contacts"] = contacts(plt, solution, simulation.gait, simulation.unit)
    for title, figure in figures.items():
        outputs.save_figure(folder, figure, title)
        plt.close(figure)


def stacked(plt, solution, name, rows):
    """Curves in axes one above the other; ``rows``: (label, {curve: values}), each over POINTS times."""
    t = np.linspace(solution.t[0], solution.t[-1], POINTS)
    figure, axes = plt.subplots(
        len(rows), 1, figsize=(8, 0.8 + 1.5 * len(rows)), sharex=True, layout="constrained", squeeze=False
    )
    for ax, (label, curves) in zip(axes[:, 0], rows, strict=True):
        for curve, dash, values in zip(curves, dashes(curves.values()), curves.values(), strict=True):
            ax.plot(t, values, lw=1.2, ls=dash, label=curve)
        ax.set_ylabel(label)
        ax.spines[["top", "right"]].set_visible(False)
        columns = 1 + (len(curves) - 1) // 8
        ax.legend(frameon=False, fontsize="x-small", loc="center left", bbox_to_anchor=(1.0, 0.5), ncols=columns)
    axes[-1, 0].set_xlabel("t (s)")
    axes[0, 0].set_title(solution.system.name or name, loc="left", fontsize="medium")
    figure.align_ylabels()
    return figure


def dashes(curves):
    """A line style for each curve: one that lies on earlier ones is dashed, so that those are seen through it."""
    curves = list(curves)
    near = 0.01 * (np.max(curves) - np.min(curves))
    for k, curve in enumerate(curves):
        same = sum(bool(np.max(np.abs(curve - other)) <= near) for other in curves[:k])
        yield (0, (4.0, 4.0 * same)) if same else "-"


def states(plt, solution, name, unit):
    """The states over time, one axes above the other; ``unit(name)`` is the unit of a state or of the time, ``"t"``."""
    system = solution.system
    groups = grouped(system.states, unit)
    height = 1.1 if len(groups) > 4 else 1.8
    figure, axes = plt.subplots(
        len(groups), 1, figsize=(8, 0.8 + height * len(groups)), sharex=True, layout="constrained", squeeze=False
    )
    for ax, group in zip(axes[:, 0], groups, strict=True):
        plot.trajectory(solution, states=group, ax=ax, mark=len(solution.events) <= 60)
        ax.get_legend().remove() if ax.get_legend() else None
        ax.set(xlabel="", ylabel=label(group[0], unit) if len(group) == 1 else unit(group[0]))
        if len(group) > 1:
            ax.legend(frameon=False, fontsize="x-small", loc="center left", bbox_to_anchor=(1.0, 0.5))
    axes[-1, 0].set_xlabel(label("t", unit))
    shown = sum(map(len, groups))
    some = f" (the first {shown} of {system.n} states)" if shown < system.n else ""
    axes[0, 0].set_title(f"{system.name or name}{some}", loc="left", fontsize="medium")
    return figure


def contacts(plt, solution, gait, unit):
    """The gait diagram of these guards (see `plot.contacts`), higher for more of them."""
    rows = len(select(solution.system, gait))
    figure, ax = plt.subplots(figsize=(8, min(1.2 + 0.3 * rows, 7.0)), layout="constrained")
    plot.contacts(solution, gait, ax=ax)
    ax.set_xlabel(label("t", unit))
    return figure


def grouped(names, unit=lambda name: ""):
    """States that share axes: each its own if they are few, else neighbours of one unit or kind (q0, q1, ...; qpos:...)."""
    if len(names) <= ALONE:
        return [(name,) for name in names]
    groups: list[list[str]] = []
    last = None
    for name in names:
        kind = unit(name) or (name.partition(":")[0] if ":" in name else re.sub(r"\d+$", "", name))
        if kind != last or len(groups[-1]) == LINES:
            groups.append([])
        groups[-1].append(name)
        last = kind
    return groups[:AXES]


def label(name, unit):
    """For an axis: the name, with its unit if it has one."""
    return f"{name} ({unit(name)})" if unit(name) else name
