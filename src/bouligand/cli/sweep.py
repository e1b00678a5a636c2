"""``bouligand sweep MODEL --over k=100:1000:50``: many trajectories over a grid; a table of outcomes, a store, a picture."""

import contextlib

import numpy as np

from .._optional import need
from ..ensembles import grid, solve_many
from ..ensembles.outcomes import NAMES
from ..errors import StoreError
from . import outputs, robot_files
from .assignments import assignments
from .errors import CommandError
from .ready_models import ReadyModel

MOST = 10_000_000  # values of one axis


def add_command(commands):
    parser = commands.add_parser(
        "sweep",
        help="integrate a model over a grid of parameters and states",
        description="Integrate a ready model (`bouligand run --list`) or a robot file from many starts, or with many values of "
        "its parameters; prints a table of outcomes, keeps the results in a store, draws a picture.",
    )
    add_argument = parser.add_argument
    add_argument("model", metavar="MODEL", help="name of a ready model, or a robot file (.xml, .mjcf, .urdf)")
    add_argument(
        "--over", action="append", required=True, metavar="NAME=FIRST:LAST:COUNT",
        help="values of a parameter or state: evenly spaced, or a list (NAME=1,2,5); repeat it for a grid",
    )  # fmt: skip
    add_argument("--tf", type=float, metavar="T", help="end of each trajectory; it starts at 0")
    add_argument(
        "--size", type=int, metavar="N", help="number of contacts, fingers, ... of a model that lets you choose"
    )
    add_argument(
        "--x0", nargs="+", action="extend", default=[], metavar="STATE=VALUE", help="changes of the usual start"
    )
    add_argument("--p", nargs="+", action="extend", default=[], metavar="NAME=VALUE", help="changes of the parameters")
    add_argument("--rtol", type=float, default=1e-6, help="relative tolerance (%(default)s)")
    add_argument("--atol", type=float, help="absolute tolerance (rtol / 100)")
    add_argument("--terminal", metavar="GUARD", help="stop at the first crossing of this guard")
    add_argument("--store", metavar="PATH", help="keep the results in this Zarr store (xarray.open_zarr opens it)")
    add_argument("--resume", action="store_true", help="continue an existing store")
    add_argument("--block", type=int, metavar="N", help="trajectories of a task and of a chunk (a second's work)")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--threads", type=int, metavar="N", help="threads of this process (all processors)")
    where.add_argument("--workers", type=int, metavar="N", help="processes instead of threads")
    where.add_argument("--dask", metavar="ADDRESS", help="address of a Dask scheduler, such as tcp://host:8786")
    add_argument(
        "--show", default="events", metavar="WHAT", help="of the picture: events, t, status, or a state (%(default)s)"
    )
    add_argument("--picture", metavar="FILE", help="draw a map over two axes to this file (.png, .svg)")
    add_argument("--quiet", action="store_true", help="no progress bar")
    add_argument(
        "--contacts", nargs="+", action="extend", metavar="PATTERN", help="of a robot file: what may touch the floor"
    )
    robot_files.add_arguments(parser.add_argument_group("robot files"))
    again = "interrupted; what is done is in the store: --resume goes on"
    parser.set_defaults(run=run, interrupted=again, out=None, speed=None)


def run(arguments):
    """Integrate, print, draw; the exit status."""
    if arguments.store is None:
        arguments.interrupted = "interrupted; nothing was kept (--store keeps what is done)"
    is_file = robot_files.is_robot_file(arguments.model)
    simulation = robot_files.load(arguments) if is_file else ReadyModel(arguments)
    system = simulation.system
    axes = dict(_axis(text) for text in arguments.over)
    x0 = simulation.initial_state(assignments("--x0", arguments.x0, system.states, "state"))
    changed = assignments("--p", arguments.p, system.params, "parameter")
    known = ("events", "t", "status", *system.states)
    if arguments.show not in known:
        raise CommandError(f"--show: one of {', '.join(known)}; got {arguments.show!r}")
    if arguments.resume and arguments.store is None:
        raise CommandError("--resume continues a store; give --store too")
    if arguments.picture:
        need("matplotlib", "plot").use("agg")
        if sum(len(values) > 1 for values in axes.values()) != 2:
            raise CommandError("--picture: a map is over two names; give --over twice, with several values each")
        outputs.check_picture(arguments.picture)
    try:
        with _executor(arguments) as executor:
            ens = solve_many(
                system,
                (0.0, simulation.tf),
                x0,
                grid(**{name: [value] for name, value in changed.items() if name not in axes}, **axes),
                rtol=arguments.rtol,
                atol=arguments.atol,
                terminal=arguments.terminal,
                threads=arguments.threads,
                executor=executor,
                store=arguments.store,
                resume=arguments.resume,
                block=arguments.block,
                progress=False if arguments.quiet else simulation.name,
            )
    except (TypeError, ValueError) as error:
        raise CommandError(str(error)) from error
    except StoreError as error:
        raise CommandError(str(error), 1) from error
    print(table(ens))
    if arguments.store:
        print(f"saved in {arguments.store}: xarray.open_zarr({str(arguments.store)!r})")
    if arguments.picture:
        _draw(ens, arguments)
    return 0


def table(ens):
    """The outcomes with their numbers and parts, and how many events and steps there were, as text."""
    tally = ens._source.tally()
    lines = [repr(ens).splitlines()[0], f"  {'outcome':<24}{'trajectories':>14}{'part':>9}"]
    lines += [f"  {NAMES[q]:<24}{tally[q]:>14}{100.0 * tally[q] / len(ens):>8.2f} %" for q in np.flatnonzero(tally)]
    return "\n".join(lines)


def _axis(text):
    """Name and values of one --over."""
    name, _, values = text.partition("=")
    try:
        if ":" in values:
            first, last, count = values.split(":")
            if int(count) > MOST:
                raise CommandError(f"--over {text}: at most {MOST} values")
            return name, np.linspace(float(first), float(last), int(count))
        return name, np.array([float(value) for value in values.split(",")])
    except ValueError:
        raise CommandError(f"--over {text}: write NAME=FIRST:LAST:COUNT, or NAME=VALUE,VALUE,...") from None


def _executor(arguments):
    """What the blocks run on: processes, a Dask cluster, or (None) threads of this process."""
    if arguments.dask:
        client = need("distributed", "cluster").Client
        try:
            return client(arguments.dask, timeout="10s")
        except (OSError, ValueError) as error:
            raise CommandError(f"--dask {arguments.dask}: {error}", 1) from error
    if arguments.workers:
        import multiprocessing
        from concurrent.futures import ProcessPoolExecutor

        return ProcessPoolExecutor(arguments.workers, mp_context=multiprocessing.get_context("spawn"))
    return contextlib.nullcontext()


def _draw(ens, arguments):
    from .. import plot

    plt = need("matplotlib.pyplot", "plot")
    plt.style.use(plot.STYLE)
    figure, ax = plt.subplots(figsize=(6.4, 4.8), layout="constrained")
    try:
        plot.map(ens, arguments.show, ax=ax)
    except ValueError as error:
        raise CommandError(f"--picture: {error}") from error
    outputs.save_picture(figure, arguments.picture)
    plt.close(figure)
