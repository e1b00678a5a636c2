"""The command ``bouligand``: ``bouligand run MODEL`` simulates, ``bouligand reproduce`` runs the paper's experiments."""

import argparse
import os
import sys

from .. import __version__
from .._optional import MissingExtraError
from ..reporting.results import ResultsError
from . import reproduce, run
from .errors import CommandError


def parser():
    top = argparse.ArgumentParser(
        prog="bouligand", description="Differential equations that switch on many surfaces at once."
    )
    top.add_argument("--version", action="version", version=f"bouligand {__version__}")
    commands = top.add_subparsers(dest="command", required=True, metavar="command")
    run.add(commands)
    reproduce.add(commands)
    return top


def main(arguments=None):
    """Run the command; the exit status: 0, 1 (it did not work out), 2 (typed wrong) or 130 (interrupted)."""
    chosen = parser().parse_args(arguments)
    if sys.platform.startswith("linux"):
        os.environ.setdefault("MUJOCO_GL", "egl")  # pictures without a screen; read when MuJoCo is imported
    try:
        return chosen.run(chosen)
    except CommandError as error:
        print(f"bouligand: {error}", file=sys.stderr)
        return error.status
    except (MissingExtraError, ResultsError) as error:
        print(f"bouligand: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"\nbouligand: {chosen.interrupted.format(out=chosen.out)}", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
