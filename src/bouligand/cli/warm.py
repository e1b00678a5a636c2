"""``bouligand warm``: compile everything once, so that no later call has to wait for it."""

import os
import sys
import time
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from importlib import import_module
from importlib.util import find_spec
from multiprocessing import get_context
from typing import NamedTuple

from tqdm import tqdm

from .errors import CommandError


class Part(NamedTuple):
    """A part of the compiled core: the entry ``name`` of ``module``.

    ``arguments``: their types. i, f, b: an integer, a float, a bool; I1, F2, ...: arrays of integers or floats with so many
    dimensions.
    """

    what: str
    module: str
    name: str
    arguments: str = "i"


# (what takes longest comes first in each: the processes then end at about the same time)
SOLVE = (
    Part("the integrator", "steps.loop", "run"),
    Part("steps across many contacts", "spans.span", "span"),
    Part("breakpoints and grazing", "steps.judge", "judge"),
    Part("dense output", "steps.retake", "sample"),
    Part("dense output across many contacts", "spans.dense_span", "sample_spans"),
)
DERIVATIVE = (
    Part("derivatives", "tangents.along", "push", "i F2 I2 F2 F2 F2 f i i i"),
    Part("gradients", "tangents.along", "pull", "i F1 F2 F3 F3 F2 i i i"),
    Part("derivatives: guards", "tangents.guard_rows", "corner_rows", "i f i I1 F2 F1"),
    Part("derivatives: fast modes", "tangents.fastest_mode", "fastest_modes"),
    Part("corners", "tangents.corner_passage", "pass_corner", "i F2 F1 I1 F2 F2"),
    Part("derivatives: the record", "tangents.prepare", "prepare"),
    Part("derivatives: divided steps", "tangents.divided_rows", "divide_rows"),
    Part("derivatives: across many contacts", "tangents.span_states", "span_states"),
    Part("derivatives: long steps", "tangents.long_steps", "find_long_steps"),
    Part("derivatives: decaying modes", "tangents.graded_steps", "divide_steps"),
    Part("derivatives: many states", "tangents.sparse_rows", "mark_columns", "i i i f"),
    Part(
        "differences: tables",
        "tangents.difference_steps",
        "tabulate_differences",
        "i b i I1 I1 F1 F2 F3",
    ),
    Part("derivatives: records", "tangents.prepare", "open_record", "i i"),
    Part("derivatives: starts", "tangents.prepare", "restart"),
)
OTHER = (
    Part("sliding modes", "sliding.modes", "slide"),
    Part("jumps of the state", "jumps.instant", "jump"),
    Part("starts on guards", "steps.start_word", "find_word"),
    Part("ensembles", "steps.block", "run_block"),
    Part("stiff steps", "stiff.entry", "stiff"),
    Part("stiff systems", "stiff.choice", "weigh"),
)
PARTS = (*SOLVE, *DERIVATIVE, *OTHER)
SLIDING, ROBOTS, ROBOT_JACOBIANS = "sliding modes: f and h", "robots", "robots: Jacobians"
TICK = 0.5  # seconds after which the clock of the progress bar is shown again
BAR = "{desc} |{bar}| {n_fmt} of {total_fmt} parts, {elapsed} {postfix}"


def add_command(commands):
    parser = commands.add_parser(
        "warm",
        help="compile everything once, so that nothing later has to wait for it",
        description="Compile all parts of the integrator for this machine, in parallel, into Numba's cache. What is there "
        "already is kept. Without this command each part is compiled when it is first used.",
    )
    parser.add_argument(
        "what",
        nargs="?",
        choices=("all", "solve", "derivative"),
        default="all",
        help="everything (the default), or only what solve, or what solve and derivatives need",
    )
    parser.add_argument(
        "--processes", type=int, metavar="N", default=os.cpu_count() or 1, help="compile so many at once (%(default)s)"
    )
    parser.add_argument("--times", action="store_true", help="print how long each part took")
    parser.set_defaults(
        run=run, interrupted="interrupted; what is compiled is kept, the same command goes on", out=None
    )


def names_of(what):
    """The names of the parts that this argument of the command stands for."""
    if what != "all":
        return [part.what for part in (SOLVE if what == "solve" else (*SOLVE, *DERIVATIVE))]
    robots = [ROBOT_JACOBIANS, ROBOTS] if find_spec("mujoco") else []
    return [*(part.what for part in SOLVE), *robots, *(part.what for part in (*DERIVATIVE, *OTHER)), SLIDING]


def run(arguments):
    """Compile; the exit status."""
    from ..core.compiler.kept import CORE, nothing_is_kept
    from ..core.compiler.settings import JIT

    if arguments.processes < 1:
        raise CommandError(f"--processes must be at least 1; got {arguments.processes}")
    if not JIT:
        raise CommandError("Numba's JIT is switched off (NUMBA_DISABLE_JIT): there is nothing to compile", 1)
    if reason := nothing_is_kept(CORE):
        raise CommandError(
            f"nothing can be kept on disk ({reason}). Set NUMBA_CACHE_DIR to a folder that only you can write to", 1
        )
    names = names_of(arguments.what)
    began = time.perf_counter()
    seconds, new = compile_all(names, arguments.processes)
    if arguments.times:
        width = max(map(len, names))
        rows = [(name, *seconds[name]) for name in names]
        total = [sum(column) for column in zip(*seconds.values(), strict=True)]
        print(f"{'':<{width}} {'seconds':>9} {'of the processor':>17}")
        print("\n".join(f"{name:<{width}} {wall:9.1f} {busy:17.1f}" for name, wall, busy in [*rows, ("sum", *total)]))
    old = len(names) - new
    said = f"compiled {new} parts in {time.perf_counter() - began:.0f} s" if new else "nothing to compile"
    print(said + (f"; {old} were there already" if old else ""))
    return 0


def compile_all(names, processes):
    """Compile these parts with a progress bar: the seconds of each, by the clock and of the processor, and how many were not
    there yet."""
    seconds, new = {}, 0
    with (
        ProcessPoolExecutor(min(processes, len(names)), mp_context=get_context("spawn")) as pool,
        # (where there is no terminal, a line now and then)
        tqdm(total=len(names), desc="compiling", file=sys.stderr, bar_format=BAR, ascii=None, miniters=1) as bar,
    ):
        running = {pool.submit(compile_part, name): name for name in names}
        waiting = set(running)
        while waiting:
            done, waiting = wait(waiting, TICK, return_when=FIRST_COMPLETED)
            for future in done:
                name = running[future]
                *seconds[name], compiled = future.result()
                new += compiled
                bar.set_postfix_str(f"({name})", refresh=False)
                bar.update()
            if sys.stderr.isatty():
                bar.refresh()
    return seconds, new


def compile_part(what):
    """Compile one part, or read it from the cache, in this process: the seconds that it took, by the clock and of the processor
    (which other work on the machine does not make longer), and whether it was compiled."""
    from ..core.compiler.notices import silence

    with silence():
        return _compile_part(what)


def _compile_part(what):
    from ..core.compiler.compiling import compile_for_types

    began, busy = time.perf_counter(), time.process_time()
    part = next((part for part in PARTS if part.what == what), None)
    if part is not None:
        entry = getattr(import_module(f"bouligand.core.{part.module}"), part.name)
        compile_for_types(entry, types_of(part.arguments))
        was_there = bool(entry.stats.cache_hits)
        return time.perf_counter() - began, time.process_time() - busy, not was_there
    if what == SLIDING:
        from ..core.sliding.compiled import addresses

        addresses()
    elif what == ROBOTS:
        from ..bridges.mujoco import compiled, forces

        compiled.entries()
        forces.entry()
    else:
        from ..bridges.mujoco import jacobians

        for name in jacobians.NAMES:
            jacobians.entry(name)
    busy = time.process_time() - busy
    return (
        time.perf_counter() - began,
        busy,
        busy > 1.5,
    )  # (reading takes less than that; those functions do not say which it was)


def types_of(arguments):
    """Numba's types of an entry's arguments."""
    from numba import types

    plain = {"i": types.int64, "f": types.float64, "b": types.boolean}
    items = {"I": types.int64, "F": types.float64}
    return tuple(
        plain[word] if word in plain else types.Array(items[word[0]], int(word[1:]), "C") for word in arguments.split()
    )
