"""Pictures. Every function takes an ``ax`` (or makes one) and returns it; matplotlib is imported when needed."""

import numpy as np


def trajectory(solution, states=None, ax=None, points=1000, mark=True):
    """The states over time, with a thin line at each event.

    ``states``: names or numbers of those to draw (default: all).
    """
    ax = _axes(ax)
    system = solution.system
    chosen = (
        range(system.n) if states is None else [system.states.index(s) if isinstance(s, str) else s for s in states]
    )
    t = np.linspace(solution.t[0], solution.t[-1], points)
    x = solution(t)
    if mark and len(solution.events) <= 200:
        for moment in np.unique(solution.events.t):
            ax.axvline(moment, color="0.85", lw=0.8, zorder=0)
    for i in chosen:
        ax.plot(t, x[:, i], label=system.states[i])
    ax.set_xlabel("t")
    ax.set_xlim(t[0], t[-1])
    if len(chosen) <= 10:
        ax.legend(frameon=False)
    return ax


def contacts(solution, ax=None, sign=1):
    """A bar for each guard while its sign is ``sign``: who touches when."""
    ax = _axes(ax)
    system, start, end = solution.system, solution.t[0], solution.t[-1]
    word = solution.word(start)
    since = {k: start for k in range(system.m) if word[k] == sign}
    bars: list[list] = [[] for _ in range(system.m)]
    for t, k, direction in zip(solution.events.t, solution.events.guard, solution.events.direction, strict=True):
        if direction == sign:
            since[k] = t
        elif k in since:
            begin = since.pop(k)
            bars[k].append((begin, t - begin))
    for k, begin in since.items():
        bars[k].append((begin, end - begin))
    for k, spans in enumerate(bars):
        ax.broken_barh(spans, (k - 0.4, 0.8), color="C0")
    ax.set_xlim(start, end)
    ax.set_ylim(-0.6, system.m - 0.4)
    ax.set_xlabel("t")
    if system.m <= 20:
        ax.set_yticks(range(system.m), system.guards)
    else:
        ax.set_ylabel("guard")
    return ax


def _axes(ax):
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.subplots(layout="constrained")[1]
