"""The command ``bouligand``: ``run MODEL`` simulates, ``sweep MODEL`` many times, ``cycle MODEL`` finds gaits, ``warm``
compiles, ``reproduce`` runs the paper's experiments."""

import argparse
import os
import signal
import sys
import threading
from contextlib import contextmanager

from .. import __version__
from .._optional import MissingExtraError
from ..reporting.results import ResultsError
from . import cycle, reproduce, run, sweep, warm
from .checks import check
from .errors import CommandError

MOST = 2000  # characters of a message


def parser():
    top = argparse.ArgumentParser(
        prog="bouligand", description="Differential equations that switch on many surfaces at once."
    )
    top.add_argument("--version", action="version", version=f"bouligand {__version__}")
    commands = top.add_subparsers(dest="command", required=True, metavar="command")
    run.add_command(commands)
    sweep.add_command(commands)
    cycle.add_command(commands)
    warm.add_command(commands)
    reproduce.add_command(commands)
    return top


def main(command_line=None):
    """Run the command; the exit status: 0, 1 (it failed), 2 (a mistake in the command line) or 130 (interrupted)."""
    arguments = parser().parse_args(command_line)
    if sys.platform.startswith("linux"):
        os.environ.setdefault("MUJOCO_GL", "egl")  # MuJoCo reads it when imported, and then renders without a screen
    with ctrl_c_noted() as pressed:
        try:
            check(arguments)
            return arguments.run(arguments)
        except BaseException as error:
            if pressed or isinstance(error, KeyboardInterrupt):
                print(f"\nbouligand: {arguments.interrupted.format(out=arguments.out)}", file=sys.stderr)
                return 130
            of_a_file = (
                isinstance(error, OSError) and error.filename is not None
            )  # (it is full, too long, no folder, ...)
            if not of_a_file and not isinstance(error, CommandError | MissingExtraError | ResultsError | MemoryError):
                raise
            print(f"bouligand: {shortened(str(error) or 'there is not enough memory')}", file=sys.stderr)
            return error.status if isinstance(error, CommandError) else 1


def shortened(text):
    """A message that fits some lines, also where a path in it is very long."""
    return text if len(text) <= MOST else f"{text[: MOST // 2]} ... {text[-MOST // 4 :]}"


@contextmanager
def ctrl_c_noted():
    """A list that is no longer empty once Ctrl-C was pressed: libraries turn its exception into others.

    (An extension module whose import it interrupts raises an ImportError.)
    """
    pressed: list[int] = []
    usual = signal.getsignal(signal.SIGINT)
    if usual is not signal.default_int_handler or threading.current_thread() is not threading.main_thread():
        yield pressed  # in the background, or inside of a program with a handler of its own
        return

    def handler(number, frame):
        pressed.append(number)
        usual(number, frame)

    signal.signal(signal.SIGINT, handler)
    try:
        yield pressed
    finally:
        signal.signal(signal.SIGINT, usual)


if __name__ == "__main__":
    sys.exit(main())
