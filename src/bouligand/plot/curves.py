"""States over time; perturbations, where they go, and trajectories around one."""

import numpy as np

from .axes import new_axes


def trajectory(solution, states=None, ax=None, points=1000, mark=True):
    """The states over time, with a thin line at each event.

    ``states``: names or numbers of those to draw (default: all).
    """
    ax = new_axes(ax)
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


def perturbations(B, radius=None, plane=(0, 1), image=None, count=180, flow=True, ax=None):
    """A circle of perturbations at the start, its image under B, and that under the true flow; pieces of B in colours.

    Parameters
    ----------
    B : BDerivative
    radius : float
        Of the circle; default one hundredth of the trajectory's extent in that plane.
    plane, image : pair
        The two states (names or numbers) that are perturbed, and those whose image is drawn (default: the same).
    flow : bool
        Also solve from every fourth perturbed start, as dots.

    Returns
    -------
    array of two axes
    """
    from ..integration.solve import solve

    system, solution = B.system, B.solution
    across = [_state(system, name) for name in plane]
    seen = across if image is None else [_state(system, name) for name in image]
    if radius is None:
        extent = np.ptp(solution.record.states[:, across], axis=0)
        radius = 0.01 * (float(extent.max()) or 1.0)
    angle = np.linspace(0.0, 2.0 * np.pi, count, endpoint=False)
    dx = np.zeros((count, system.n))
    dx[:, across] = radius * np.column_stack([np.cos(angle), np.sin(angle)])
    images = B(dx)[:, seen]
    orders = [tuple(B.orders(d)) for d in dx]
    axes = new_axes(ax, 2)
    colours = {order: f"C{q % 10}" for q, order in enumerate(dict.fromkeys(orders))}
    for order, colour in colours.items():
        rows = np.array([other == order for other in orders])
        label = " | ".join(", ".join(map(str, corner[:4])) + ("..." if len(corner) > 4 else "") for corner in order)
        axes[0].plot(*dx[rows][:, across].T, ".", ms=4, color=colour)
        axes[1].plot(*images[rows].T, ".", ms=4, color=colour, label=label or "B")
    if flow:
        tolerance, start = solution._tolerances, solution(B.since)
        span, word = (B.since, B.t), solution.word(B.since) if B.since > solution.record.t[0] else None
        options = {"rtol": min(tolerance[0], 1e-9), "b0": word}
        end = solve(system, span, start, solution.p, **options).x[-1]
        true = [solve(system, span, start + d, solution.p, rtol=options["rtol"]).x[-1] - end for d in dx[::4]]
        axes[1].plot(*np.array(true)[:, seen].T, "o", ms=7, mfc="none", mec="0.3", mew=0.8, label="true flow", zorder=0)
    for side, which, when in ((axes[0], across, B.since), (axes[1], seen, B.t)):
        side.set_xlabel(f"change of {system.states[which[0]]}")
        side.set_ylabel(f"change of {system.states[which[1]]}")
        side.set_title(f"at t = {when:g}")
        side.axhline(0.0, color="0.9", lw=0.8, zorder=0)
        side.axvline(0.0, color="0.9", lw=0.8, zorder=0)
        side.locator_params(nbins=6)
    axes[0].set_aspect("equal")
    if len(colours) <= 8:
        axes[1].legend(frameon=False, fontsize="small", title="order of crossing" if B.corners else None)
    return axes


def fan(B, radius, plane=(0, 1), count=24, ax=None):
    """The trajectories that start on a circle around the start of B, drawn in a plane of two states, and the one they surround.

    Solved anew from each start; with the crossings marked.
    """
    from ..integration.solve import solve

    system, solution = B.system, B.solution
    across = [_state(system, name) for name in plane]
    ax = new_axes(ax)
    start, span = solution(B.since), (B.since, B.t)
    for q, angle in enumerate(np.linspace(0.0, 2.0 * np.pi, count, endpoint=False)):
        x0 = start.copy()
        x0[across] += radius * np.array([np.cos(angle), np.sin(angle)])
        other = solve(system, span, x0, solution.p, rtol=1e-8)
        x = other(np.linspace(*span, 400))
        ax.plot(*x[:, across].T, lw=0.8, color=f"C{q % 10}", alpha=0.6)
        ax.plot(*other.events.x[:, across].T, ".", ms=3, color=f"C{q % 10}")
    x = solution(np.linspace(*span, 400))
    ax.plot(*x[:, across].T, "k", lw=1.6)
    ax.set_xlabel(system.states[across[0]])
    ax.set_ylabel(system.states[across[1]])
    return ax


def _state(system, name):
    if isinstance(name, str):
        if name not in system.states:
            raise ValueError(f"no state is called {name!r}; states: {', '.join(system.states)}")
        return system.states.index(name)
    return int(name)
