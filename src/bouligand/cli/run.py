"""``bouligand run MODEL``: simulate a ready model or a robot file; print the events, save everything in a folder."""

import pathlib
import sys

from .._optional import MissingExtraError, need
from . import figures, outputs, robot_files
from .errors import CommandError
from .event_table import event_table
from .ready_models import ReadyModel, listing
from .simulation import solve


def add_command(commands):
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
    add_argument("--list", action="store_true", help="list the ready models, and stop")
    add_argument(
        "--size", type=int, metavar="N", help="number of contacts, fingers, ... of a model that lets you choose"
    )
    add_argument("--tf", type=float, metavar="T", help="end of the simulation; it starts at 0")
    add_argument(
        "--x0", nargs="+", action="extend", default=[], metavar="STATE=VALUE", help="changes of the usual initial state"
    )
    add_argument(
        "--p", nargs="+", action="extend", default=[], metavar="NAME=VALUE", help="changes of the default parameters"
    )
    add_argument("--rtol", type=float, default=1e-8, help="relative tolerance (%(default)s)")
    add_argument("--atol", type=float, help="absolute tolerance (rtol / 100)")
    add_argument(
        "--on-graze", choices=("raise", "go-on"), default="raise",
        help="where a guard is grazed and f jumps there: stop, or go on with the side that was computed (%(default)s)",
    )  # fmt: skip
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
    add_argument("--fps", type=float, default=25.0, help="frames per second of the animation (%(default)s)")
    add_argument("--speed", type=float, help="of the animation: 0.1 is ten times slower than real time")
    robot_files.add_arguments(parser.add_argument_group("robot files"))
    parser.set_defaults(run=run, interrupted="interrupted; nothing was saved")


def run(arguments):
    """Simulate, print, save; the exit status."""
    if arguments.list:
        print(listing())
        return 0
    if arguments.model is None:
        raise CommandError("which model? `bouligand run --list` says which there are")
    is_file = robot_files.is_robot_file(arguments.model)
    simulation = robot_files.load(arguments) if is_file else ReadyModel(arguments)
    _check(arguments)
    target = pathlib.Path(arguments.out) / simulation.name
    outputs.check_folder(target)
    solution = solve(simulation, arguments)
    print(event_table(solution, simulation.name))
    settings = {
        key: value for key, value in vars(arguments).items() if key not in ("run", "interrupted", "list", "command")
    }
    with outputs.results_folder(target) as folder:
        outputs.save_trajectory(folder, solution, arguments.points)
        outputs.save_events(folder, solution)
        if not arguments.no_figures:
            figures.save(folder, solution, simulation)
        if not arguments.no_animation:
            _animate(folder, solution, simulation, arguments)
        outputs.save_summary(folder, solution, settings)
        saved = sorted(path.name for path in folder.iterdir())
    print(f"saved in {target}: {', '.join(saved)}")
    if arguments.view is not None:
        simulation.view(solution, arguments.view)
    if not solution.success:
        raise CommandError(
            f"the integration stopped at t = {solution.t[-1]:g} of {simulation.tf:g}: {solution.message}", 1
        )
    return 0


def _check(arguments):
    """What needs a package that is missing is left out, with a line."""
    if not arguments.no_figures or not arguments.no_animation:
        try:
            need("matplotlib", "plot").use("agg")
        except MissingExtraError:
            _leave_out("figures and no animation", "matplotlib", "plot,film")
            arguments.no_figures = arguments.no_animation = True
    if not arguments.no_animation:
        package = "PIL" if arguments.format == "gif" else "imageio_ffmpeg"
        try:
            need(package, "film")
        except MissingExtraError:
            _leave_out("animation", {"PIL": "pillow"}.get(package, package), "film")
            arguments.no_animation = True


def _leave_out(what, package, extras):
    print(f"no {what}: {package} is not installed (pip install 'bouligand[{extras}]')", file=sys.stderr)


def _animate(folder, solution, simulation, arguments):
    if not simulation.has_animation:
        print(f"no animation: there is no drawing of {simulation.name}")
        return
    path = folder / f"animation.{arguments.format}"
    simulation.animate(solution, path, fps=arguments.fps, speed=simulation.speed, progress="animation")
