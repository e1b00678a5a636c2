"""``bouligand cycle MODEL``: a periodic motion of a ready model, its multipliers, and how it changes along a parameter."""

import numpy as np

from .._optional import need
from ..cycles import continue_cycle, find_cycle
from ..errors import BouligandError
from . import outputs, robot_files
from .assignments import assignments
from .errors import CommandError
from .ready_models import ReadyModel, find


def add_command(commands):
    parser = commands.add_parser(
        "cycle",
        help="find a gait or limit cycle of a model, and follow it along a parameter",
        description="Find a periodic motion of a ready model (`bouligand run --list`) near its usual start: its period, events "
        "and Floquet multipliers. With --along, follow it along a parameter and report folds, period doublings and grazes.",
    )
    add_argument = parser.add_argument
    add_argument("model", metavar="MODEL", help="name of a ready model")
    add_argument("--section", metavar="GUARD", help="the guard whose crossing begins a new cycle, or `phase`")
    add_argument("--period", type=float, metavar="T", help="of a forced model, or a first guess with --section phase")
    add_argument("--settle", type=float, metavar="T", help="time to simulate before the search")
    add_argument("--segments", type=int, default=1, metavar="N", help="of multiple shooting (%(default)s)")
    add_argument("--crossings", type=int, default=1, metavar="N", help="of the section in one cycle (%(default)s)")
    add_argument(
        "--symmetry", nargs="+", action="extend", default=[], metavar="STATE=[-]STATE",
        help="what each state becomes in the next part of the cycle, such as roll=-roll",
    )  # fmt: skip
    add_argument(
        "--drift", nargs="+", action="extend", default=[], metavar="STATE", help="states that need not come back"
    )
    add_argument("--along", metavar="NAME=STOP", help="follow the cycle along this parameter, to this value")
    add_argument("--step", type=float, default=0.02, help="first step along it, as a part of the way (%(default)s)")
    add_argument(
        "--size", type=int, metavar="N", help="number of contacts, fingers, ... of a model that lets you choose"
    )
    add_argument(
        "--x0", nargs="+", action="extend", default=[], metavar="STATE=VALUE", help="changes of the usual start"
    )
    add_argument("--p", nargs="+", action="extend", default=[], metavar="NAME=VALUE", help="changes of the parameters")
    add_argument("--rtol", type=float, default=1e-9, help="relative tolerance (%(default)s)")
    add_argument("--show", default="period", metavar="WHAT", help="of the picture with --along: period, or a state")
    add_argument(
        "--picture", metavar="FILE", help="draw the cycle (or, with --along, the branch) to this file (.png, .svg)"
    )
    add_argument("--quiet", action="store_true", help="no progress bar")
    parser.set_defaults(
        run=run, interrupted="interrupted; nothing was kept", out=None, speed=None, tf=None, contacts=None
    )


def run(arguments):
    """Find, follow, print, draw; the exit status."""
    if robot_files.is_robot_file(arguments.model):
        raise CommandError("cycle: ready models only; for a robot file call bd.find_cycle from Python")
    model = find(arguments.model)
    simulation = ReadyModel(arguments)
    system = simulation.system
    x0 = simulation.initial_state(assignments("--x0", arguments.x0, system.states, "state"))
    changed = assignments("--p", arguments.p, system.params, "parameter")
    known = {**model.cycle}
    if arguments.section or arguments.period is not None:
        known = {key: value for key, value in known.items() if key not in ("section", "period")}
        known |= {"section": arguments.section, "period": arguments.period}
    if arguments.settle is not None:
        known["settle"] = arguments.settle
    if arguments.symmetry:
        known["symmetry"] = dict(_pair("--symmetry", text) for text in arguments.symmetry)
    if arguments.drift:
        known["drift"] = arguments.drift
    if not known.get("section") and known.get("period") is None:
        raise CommandError(
            f"{arguments.model}: give --section (a guard: {', '.join(system.guards[:8])}; or phase), or --period if it is forced"
        )
    states = ("period", *system.states)
    if arguments.show not in states:
        raise CommandError(f"--show: one of {', '.join(states)}; got {arguments.show!r}")
    if arguments.picture:
        outputs.check_picture(arguments.picture)
    show = not arguments.quiet
    try:
        cycle = find_cycle(
            system, x0, changed, segments=arguments.segments, crossings=arguments.crossings, rtol=arguments.rtol,
            progress=show, **known,
        )  # fmt: skip
        print(_table(cycle))
        branch = None
        if arguments.along:
            name, stop = _pair("--along", arguments.along)
            branch = continue_cycle(cycle, name, _number("--along", stop), step=arguments.step, progress=show)
            print(branch)
    except (ValueError, TypeError) as error:
        raise CommandError(str(error)) from error
    except BouligandError as error:
        raise CommandError(str(error), 1) from error
    if arguments.picture:
        _draw(cycle, branch, arguments)
    return 0


def _table(cycle):
    """The cycle, its section and its events, as text."""
    lines = [repr(cycle)]
    if cycle.at_section is not None:
        values = ", ".join(f"{name} = {x:.8g}" for name, x in zip(cycle.system.states, cycle.at_section, strict=True))
        lines.append(f"  at the section: {values}")
    moved = np.flatnonzero(cycle.drift)
    lines += [f"  drift in one period: {cycle.system.states[i]} {cycle.drift[i]:+.8g}" for i in moved]
    events = cycle.events
    for t, name, direction in list(zip(events.t, events.name, events.direction, strict=True))[:20]:
        lines.append(f"  t = {t - cycle.t0:<12.8g} {name} {direction:+d}")
    if len(events) > 20:
        lines.append(f"  ... {len(events) - 20} more events")
    return "\n".join(lines)


def _pair(option, text):
    name, sign, value = text.partition("=")
    if not sign or not value:
        raise CommandError(f"{option} {text}: write NAME=VALUE")
    return name, value


def _number(option, text):
    try:
        return float(text)
    except ValueError:
        raise CommandError(f"{option}: {text!r} is not a number") from None


def _draw(cycle, branch, arguments):
    need("matplotlib", "plot").use("agg")
    from .. import plot

    plt = need("matplotlib.pyplot", "plot")
    plt.style.use(plot.STYLE)
    if branch is None:
        figure, axes = plt.subplots(1, 2, figsize=(9.6, 4.4), layout="constrained")
        plot.cycle(cycle, axes=axes)
    else:
        figure, ax = plt.subplots(figsize=(6.4, 4.8), layout="constrained")
        plot.branch(branch, arguments.show, ax=ax)
    outputs.save_picture(figure, arguments.picture)
    plt.close(figure)
