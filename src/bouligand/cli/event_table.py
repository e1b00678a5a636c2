"""The events of a solution, as a table for the terminal."""

FIRST, LAST = 12, 4  # of many events only the first and the last ones are printed


def event_table(solution, name=None):
    """The events, one a line; ``=`` marks those at the same instant as the one above. ``name``: of a system without its own."""
    events, count = solution.events, len(solution.events)
    c = solution.counts
    title = solution.system.name or name
    head = f"{title}: t = {solution.t[0]:g} to {solution.t[-1]:g}, {c.steps} steps, {c.f} evaluations of f, "
    if not count:
        return "\n".join([head + "no events", *grazes(solution)])
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
    return "\n".join(lines + grazes(solution))


def grazes(solution):
    """A line for each graze at which one of two outcomes was taken."""
    margins = solution.margins
    return [
        f"guard {solution.system.guards[row['guard']]!r} is grazed at t = {row['t']:.9g}: on its other side the outcome would "
        f"differ by about {row['effect']:.0f} tolerances"
        for row in margins[margins["effect"] > 1.0][:LAST]
    ]
