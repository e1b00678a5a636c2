"""The command ``bouligand``: ``bouligand reproduce order|hopper|plate|all [--quick] [--out DIR]``."""

import argparse
import sys

from . import __version__
from .experiments import NAMES, experiment
from .experiments.needs import MissingExtraError
from .experiments.results import ResultsError


def parser():
    top = argparse.ArgumentParser(prog="bouligand", description="Switching ODEs; here: the paper's experiments.")
    top.add_argument("--version", action="version", version=f"bouligand {__version__}")
    commands = top.add_subparsers(dest="command", required=True, metavar="command")
    reproduce = commands.add_parser(
        "reproduce",
        help="run the paper's experiments",
        description="Run an experiment of the paper: a table on the terminal, JSON and figures in a folder. "
        "An interrupted run goes on where it stopped.",
    )
    reproduce.add_argument("experiment", choices=(*NAMES, "all"), help="which one")
    reproduce.add_argument("--quick", action="store_true", help="small sizes: minutes instead of an hour")
    reproduce.add_argument("--out", default="results/paper", metavar="DIR", help="folder for the results (%(default)s)")
    return top


def main(arguments=None):
    """Run the command; the exit status."""
    chosen = parser().parse_args(arguments)
    names = NAMES if chosen.experiment == "all" else (chosen.experiment,)
    try:
        for name in names:
            experiment(name).run(chosen.out, quick=chosen.quick)
    except (MissingExtraError, ResultsError) as error:
        print(f"bouligand: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"\nbouligand: interrupted; the same command goes on where it stopped (in {chosen.out})", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
