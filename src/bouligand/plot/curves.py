"""States over time; perturbations, where they go, and trajectories around one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..system.arguments import flag, instance, positive, short
from . import given
from .axes import new_axes, new_row

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from ..derivative.bderivative import BDerivative
    from ..ensembles.ensemble import Ensemble
    from ..solution.solution import Solution

PLANE, COUNT, LEVELS = (0, 1), 24, (0.5, 0.9, 1.0)  # of `fan`
FEW, MANY = 6, 32  # states: up to so many have a legend among the curves; beside them


def trajectory(
    solution: Solution,
    states: Iterable[str | int] | None = None,
    ax: Axes | None = None,
    points: int = 1000,
    mark: bool = True,
) -> Axes:
    """Draw the states over time, with a thin line at each event.

    Parameters
    ----------
    solution : Solution
    states : sequence of str or int, optional
        Names or numbers of the states to draw. Default: all.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default on new axes.
    points : int
        Number of times at which the states are drawn.
    mark : bool
        Whether to mark the events (if there are at most 200).

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    TypeError, ValueError
        If an argument cannot be used; the message names it.

    Examples
    --------
    >>> import bouligand as bd
    >>> from matplotlib.figure import Figure
    >>> sol = bd.solve(bd.models.hopper(), (0.0, 2.0), [2.0, 0.0])
    >>> bd.plot.trajectory(sol, ["z"], ax=Figure().subplots()).get_xlabel()
    't'
    """
    solution = given.trajectory_of("solution", solution)
    system = solution.system
    chosen = given.states("states", system, states)
    points, mark = given.count("points", points, 2), flag("mark", mark)
    ax = new_axes(ax)
    t = np.linspace(solution.t[0], solution.t[-1], points)
    x = solution(t)
    if mark and len(solution.events) <= 200:
        for moment in np.unique(solution.events.t):
            ax.axvline(moment, color="0.85", lw=0.8, zorder=0)
    for i, colour in zip(chosen, _colours(len(chosen)), strict=True):
        ax.plot(t, x[:, i], label=system.states[i], color=colour)
    ax.set_xlabel("t")
    ax.set_xlim(t[0], t[-1])
    if len(chosen) <= FEW:
        ax.legend(frameon=False)
    elif len(chosen) <= MANY:  # beside the curves, which would lie below it
        ax.legend(
            frameon=False, fontsize="x-small", loc="center left", bbox_to_anchor=(1.0, 0.5), ncols=1 + len(chosen) // 16
        )
    return ax


def _colours(count: int) -> list[object]:
    """Colours that differ: those of the cycle, or, of more series than it has, along a colour map."""
    import matplotlib

    cycle = [entry["color"] for entry in matplotlib.rcParams["axes.prop_cycle"]]
    if count <= len(cycle):
        return cycle[:count]
    return [matplotlib.colormaps["turbo"](place) for place in np.linspace(0.03, 0.97, count)]


def perturbations(
    B: BDerivative[object],
    radius: float | None = None,
    plane: tuple[str | int, str | int] = (0, 1),
    image: tuple[str | int, str | int] | None = None,
    count: int = 180,
    flow: bool = True,
    ax: Sequence[Axes] | NDArray[np.object_] | None = None,
) -> NDArray[np.object_]:
    """Draw a circle of perturbations of the start beside its image under the derivative B, one colour for each linear piece.

    Parameters
    ----------
    B : BDerivative
    radius : float, optional
        Radius of the circle. Default: a hundredth of the extent of the trajectory in that plane.
    plane : pair of str or int
        The two states (names or numbers) that are perturbed.
    image : pair of str or int, optional
        The two states whose perturbations at the end are drawn. Default: the same.
    count : int
        Number of perturbations.
    flow : bool
        Whether to integrate from every fourth perturbed start as well, and draw the result as open circles for comparison.
    ax : pair of matplotlib.axes.Axes, optional
        Where to draw; by default on new axes.

    Returns
    -------
    array of two matplotlib.axes.Axes

    Raises
    ------
    TypeError, ValueError
        If an argument cannot be used; the message names it.

    Examples
    --------
    >>> import bouligand as bd
    >>> from matplotlib.figure import Figure
    >>> B = bd.solve(bd.models.hopper(), (0.0, 1.0), [2.0, 0.0], rtol=1e-9).bderivative()
    >>> before, after = bd.plot.perturbations(B, radius=0.01, count=24, ax=Figure().subplots(1, 2))
    >>> after.get_title()
    'at t = 1'
    """
    from ..derivative.bderivative import BDerivative
    from ..integration.solve import solve

    B = instance("B", B, BDerivative, "sol.bderivative")
    system, solution = B.system, B.solution
    across = given.plane("plane", system, plane)
    seen = across if image is None else given.plane("image", system, image)
    count, flow = given.count("count", count), flag("flow", flow)
    axes = new_row(ax, 2)
    if radius is not None:
        radius = positive("radius", radius)
    else:
        extent = np.ptp(solution.record.states[:, across], axis=0)
        radius = 0.01 * (float(extent.max()) or 1.0)
    angle = np.linspace(0.0, 2.0 * np.pi, count, endpoint=False)
    dx = np.zeros((count, system.n))
    dx[:, across] = radius * np.column_stack([np.cos(angle), np.sin(angle)])
    images = B(dx)[:, seen]
    orders = [tuple(B.orders(d)) for d in dx]
    colours = {order: f"C{q % 10}" for q, order in enumerate(dict.fromkeys(orders))}
    for order, colour in colours.items():
        rows = np.array([other == order for other in orders])
        label = " | ".join(", ".join(map(str, corner[:4])) + ("..." if len(corner) > 4 else "") for corner in order)
        axes[0].plot(*dx[rows][:, across].T, ".", ms=4, color=colour)
        axes[1].plot(*images[rows].T, ".", ms=4, color=colour, label=label or "B")
    if flow:
        tolerance, start = solution._tolerances, solution(B.since)
        span, word = (B.since, B.t), solution.word(B.since) if B.since > solution.record.t[0] else None
        rtol = min(tolerance[0], 1e-9)
        end = solve(system, span, start, solution.p, rtol=rtol, b0=word).x[-1]
        true = [solve(system, span, start + d, solution.p, rtol=rtol).x[-1] - end for d in dx[::4]]
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


def fan(
    B: BDerivative[object] | Ensemble,
    radius: float | None = None,
    plane: tuple[str | int, str | int] = PLANE,
    count: int = COUNT,
    ax: Axes | None = None,
    *,
    state: str | int = 0,
    levels: Sequence[float] = LEVELS,
) -> Axes:
    """Draw trajectories from a circle around the start of B in a plane of two states, with their events marked; or, of an
    ensemble, how a state spreads over time: the median, and bands that hold given parts of all trajectories.

    Parameters
    ----------
    B : BDerivative or Ensemble
        Of a derivative, its trajectory is drawn in black; the others are integrated from their own starts. An ensemble has been
        integrated with ``t_eval``, and takes ``state``, ``levels`` and ``ax`` only.
    radius : float
        Radius of the circle.
    plane : pair of str or int
        The two states (names or numbers) that are perturbed and drawn.
    count : int
        Number of trajectories.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default on new axes.
    state : str or int
        Of an ensemble: name or number of the state.
    levels : sequence of float
        Of an ensemble: the parts of all trajectories that the bands hold.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    TypeError, ValueError
        If an argument cannot be used; the message names it.

    Examples
    --------
    >>> import bouligand as bd
    >>> from matplotlib.figure import Figure
    >>> B = bd.solve(bd.models.hopper(), (0.0, 1.0), [2.0, 0.0]).bderivative()
    >>> bd.plot.fan(B, 0.1, count=4, ax=Figure().subplots()).get_ylabel()
    'vz'
    >>> ens = bd.solve_many(bd.models.hopper(), (0.0, 1.0), [2.0, 0.0], {"g": [8.0, 9.0, 10.0]}, t_eval=[0.0, 0.5, 1.0])
    >>> bd.plot.fan(ens, state="z", ax=Figure().subplots()).get_ylabel()
    'z'
    """
    from ..derivative.bderivative import BDerivative
    from ..ensembles.ensemble import Ensemble
    from ..integration.solve import solve

    if isinstance(B, Ensemble):
        from .maps import fan as spread

        if radius is not None or _differs(plane, PLANE) or _differs(count, COUNT):
            raise TypeError(
                "radius, plane and count of plot.fan are those of a derivative B; an ensemble takes state and levels"
            )
        return spread(B, state, ax, levels)
    if not isinstance(B, BDerivative):
        raise TypeError(
            f"B must be a BDerivative, from sol.bderivative, or an Ensemble, from bd.solve_many; got {short(B)}"
        )
    if _differs(state, 0) or _differs(levels, LEVELS):
        raise TypeError(
            "state and levels of plot.fan are those of an ensemble; a derivative B takes radius, plane and count"
        )
    if radius is None:
        raise TypeError("plot.fan of a derivative needs the radius of the circle around the start")
    system, solution = B.system, B.solution
    across = given.plane("plane", system, plane)
    radius, count = positive("radius", radius), given.count("count", count)
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


def _differs(value: object, default: object) -> bool:
    """Whether an argument was given that is not its default."""
    return value is not default and (type(value) is not type(default) or repr(value) != repr(default))
