"""``bouligand run MODEL``: simulate a ready model or a robot file; events on the terminal, everything else in a folder."""

import contextlib
import pathlib
import time

import numpy as np

from .._optional import need
from ..errors import SolveError
from ..integration.stepper import Stepper
from . import outputs, robots, show
from .assignments import assignments
from .catalogue import listing, ready
from .errors import CommandError

PATIENCE = 2.0  # seconds: what takes longer shows a bar


def add(commands):
    parser = commands.add_parser(
        "run",
        help="simulate a ready model or a robot file",
        description="Simulate a ready model (`bouligand run --list`) or a robot file (MJCF or URDF): prints the events; "
        "saves trajectory, events, figures and an animation in a folder.",
    )
    add_argument = parser.add_argument
    add_argument(
        "model", nargs="?", metavar="MODEL", help="name of a ready model, or a robot file (.xml, .mjcf, .urdf)"
    )
    add_argument("--list", action="store_true", help="say which models there are, and stop")
    add_argument(
        "--size", type=int, metavar="N", help="number of contacts, fingers, ... of a model that lets you choose"
    )
    add_argument("--tf", type=float, metavar="T", help="end of the simulation; it starts at 0")
    add_argument(
        "--x0", nargs="+", action="extend", default=[], metavar="STATE=VALUE", help="what differs from the usual start"
    )
    add_argument(
        "--p",
        nargs="+",
        action="extend",
        default=[],
        metavar="NAME=VALUE",
        help="parameters that differ from the defaults",
    )
    add_argument("--rtol", type=float, default=1e-8, help="relative tolerance (%(default)s)")
    add_argument("--atol", type=float, help="absolute tolerance (rtol / 100)")
    add_argument("--out", default="results/run", metavar="DIR", help="folder; results go to DIR/MODEL (%(default)s)")
    add_argument(
        "--contacts", nargs="+", action="extend", metavar="PATTERN",
        help="of a robot file: what may touch the floor (names or patterns of geoms, sites, bodies; 'feet', the default); "
        "of a ready model: the guards that the gait diagram shows ('foot*', '!foot2')",
    )  # fmt: skip
    add_argument("--points", type=int, default=1001, metavar="N", help="rows of the saved trajectory (%(default)s)")
    add_argument("--no-figures", action="store_true", help="save no figures")
    add_argument("--no-animation", action="store_true", help="save no animation")
    add_argument("--format", choices=("gif", "mp4"), default="gif", help="of the animation (%(default)s)")
    add_argument("--fps", type=float, default=25.0, help="frames a second of the animation (%(default)s)")
    add_argument("--speed", type=float, help="of the animation: 0.1 is ten times slower than it happens")
    robots.add_arguments(parser.add_argument_group("robot files"))
    parser.set_defaults(run=run, interrupted="interrupted; nothing was saved")


def run(chosen):
    """Simulate, print, save; the exit status."""
    if chosen.list:
        print(listing())
        return 0
    if chosen.model is None:
        raise CommandError("which model? `bouligand run --list` says which there are")
    _check(chosen)
    subject = robots.subject(chosen) if robots.is_file(chosen.model) else _Model(chosen)
    solution = _solve(subject, chosen)
    print(show.table(solution))
    settings = {
        key: value for key, value in vars(chosen).items() if key not in ("run", "interrupted", "list", "command")
    }
    target = pathlib.Path(chosen.out) / subject.name
    with outputs.folder(target) as where:
        outputs.save_trajectory(where, solution, chosen.points)
        outputs.save_events(where, solution)
        if not chosen.no_figures:
            show.figures(where, solution, subject.gait)
        if not chosen.no_animation:
            _film(where, solution, subject, chosen)
        outputs.save_summary(where, solution, settings)
        saved = sorted(path.name for path in where.iterdir())
    print(f"saved in {target}: {', '.join(saved)}")
    if not solution.success:
        raise CommandError(
            f"the integration stopped at t = {solution.t[-1]:g} of {subject.tf:g}: {solution.message}", 1
        )
    return 0


class _Model:
    """A ready model, as this command wants it: system, start, end, and how to draw it."""

    def __init__(self, chosen):
        robots.refuse_options(chosen)
        self.system, self.start, entry = ready(chosen.model, chosen.size)
        self.name = chosen.model
        self.tf = entry.tf if chosen.tf is None else chosen.tf
        self.gait = chosen.contacts or entry.gait
        self.speed = chosen.speed or entry.speed
        self.drawing = entry.drawing
        _guards(self.system, self.gait)

    def place(self, x0, given):
        return x0

    def film(self, solution, path, **options):
        from ..plot import animate, mechanisms

        animate(solution, getattr(mechanisms, self.drawing), path, gait=self.gait or True, **options)


def _check(chosen):
    for name in ("tf", "rtol", "atol", "fps", "speed", "points"):
        value = getattr(chosen, name)
        if value is not None and not (np.isfinite(value) and value > 0):
            raise CommandError(f"--{name} must be positive; got {value:g}")
    if chosen.fps > 100:
        raise CommandError(f"--fps must not be above 100; got {chosen.fps:g}")
    if not chosen.no_figures or not chosen.no_animation:
        need("matplotlib", "plot").use("agg")
    if not chosen.no_animation:
        need("PIL" if chosen.format == "gif" else "imageio_ffmpeg", "film")


def _guards(system, patterns):
    from ..plot.gait import select

    try:
        select(system, patterns)
    except ValueError as error:
        raise CommandError(f"--contacts: {error}") from None


def _solve(subject, chosen):
    system, x0 = subject.system, subject.start.copy()
    given = assignments("--x0", chosen.x0, system.states, "state")
    for name, value in given.items():
        x0[system.states.index(name)] = value
    x0 = subject.place(x0, given)
    p = assignments("--p", chosen.p, system.params, "parameter")
    try:
        stepper = Stepper(system, (0.0, subject.tf), x0, p, rtol=chosen.rtol, atol=chosen.atol)
    except (ValueError, SolveError) as error:  # a start that is not finite, or on a guard and undecided, ...
        raise CommandError(str(error)) from error
    began = time.perf_counter()
    with contextlib.suppress(SolveError):  # (it stays in the stepper, and is told at the end)
        while stepper.status == "running" and time.perf_counter() - began < PATIENCE:
            stepper.step()
    solution = stepper.finish("return", subject.name if stepper.status == "running" else None)
    if not len(solution.t):
        raise CommandError(f"the integration did not start: {solution.message}", 1)
    return solution


def _film(where, solution, subject, chosen):
    if subject.drawing is None:
        print(f"no animation: there is no drawing of {subject.name}")
        return
    subject.film(
        solution, where / f"animation.{chosen.format}", fps=chosen.fps, speed=subject.speed, progress="animation"
    )
