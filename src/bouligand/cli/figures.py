"""What ``bouligand run`` shows of a solution: a table of events on the terminal, figures in the folder."""

import re

from . import outputs

FIRST, LAST = 12, 4  # events that are printed
ALONE, MANY, MOST = 8, 10, 12  # so few states have a picture each; lines in one picture; pictures in a figure


def table(solution):
    """The events, one a line: the first and the last ones, and how many there are."""
    events, count = solution.events, len(solution.events)
    c = solution.counts
    head = f"{solution.system.name}: t = {solution.t[0]:g} to {solution.t[-1]:g}, {c.steps} steps, {c.f} evaluations of f, "
    if not count:
        return head + "no events"
    shown = list(range(count)) if count <= FIRST + LAST + 1 else [*range(FIRST), None, *range(count - LAST, count)]
    names = events.name
    width = max(5, *(len(names[q]) for q in shown if q is not None))
    lines = [f"{head}{count} event{'s' * (count > 1)}", f"{'':>5}  {'t':>14}  {'guard':<{width}}  sign"]
    for q in shown:
        if q is None:
            lines.append(f"{'...':>5}  {f'({count - FIRST - LAST} more)':>14}")
        else:
            tied = " " if q == 0 or events.t[q] - events.t[q - 1] > 1e-9 * (solution.t[-1] - solution.t[0]) else "="
            lines.append(
                f"{q + 1:>5} {tied}{events.t[q]:>14.9f}  {names[q]:<{width}}    {'+' if events.direction[q] > 0 else '-'}"
            )
    if any("=" in line[:8] for line in lines[2:]):
        lines.append("       (=: at the same instant as the one above)")
    return "\n".join(lines)


def figures(where, solution, gait=None):
    """``states`` (over time) and ``contacts`` (the gait diagram), each as PNG and SVG."""
    import matplotlib.pyplot as plt

    from .. import plot

    system = solution.system
    groups = grouped(system.states)
    each = 1.1 if len(groups) > 4 else 1.8
    figure, axes = plt.subplots(
        len(groups), 1, figsize=(8, 0.8 + each * len(groups)), sharex=True, layout="constrained", squeeze=False
    )
    for ax, states in zip(axes[:, 0], groups, strict=True):
        plot.trajectory(solution, states=states, ax=ax, mark=len(solution.events) <= 60)
        ax.get_legend().remove() if ax.get_legend() else None
        ax.set(xlabel="", ylabel=states[0] if len(states) == 1 else "")
        if len(states) > 1:
            ax.legend(frameon=False, fontsize="x-small", loc="center left", bbox_to_anchor=(1.0, 0.5))
    axes[-1, 0].set_xlabel("t (s)")
    shown = sum(map(len, groups))
    some = f" (the first {shown} of {system.n} states)" if shown < system.n else ""
    axes[0, 0].set_title(f"{system.name}{some}", loc="left", fontsize="medium")
    outputs.save_figure(where, figure, "states")
    plt.close(figure)
    if system.m:
        rows = len(plot.select(system, gait))
        figure, ax = plt.subplots(figsize=(8, min(1.2 + 0.3 * rows, 7.0)), layout="constrained")
        plot.contacts(solution, gait, ax=ax)
        ax.set_xlabel("t (s)")
        outputs.save_figure(where, figure, "contacts")
        plt.close(figure)


def grouped(states):
    """States that one picture shows together: each alone if few, else neighbours of one kind (q0, q1, ...; qpos:...)."""
    if len(states) <= ALONE:
        return [(name,) for name in states]
    groups: list[list[str]] = []
    last = None
    for name in states:
        kind = name.partition(":")[0] if ":" in name else re.sub(r"\d+$", "", name)
        if kind != last or len(groups[-1]) == MANY:
            groups.append([])
        groups[-1].append(name)
        last = kind
    return groups[:MOST]
