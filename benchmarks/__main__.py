"""Run the benchmarks, all or those named: work, ties, quadruped, jumps, zoo, accuracy, speed, span, stiff, choices, derivative,
hertz, gradients, fits, estimation, ensembles, robots, files, friction, loop, drops, planning, startup, first_gradient, shortcuts.

    python -m benchmarks [NAME ...] [--quick] [--out DIR] [--peers MODULE,...]

Each leaves its table in a folder of its own under DIR; `work`, `ties`, `quadruped` and `jumps` also their JSON and figures,
and continue where an interrupted run stopped. `python -m benchmarks page` puts the tables and figures of the last runs into
the docs.
"""

import argparse
import contextlib
import io
import pathlib
import sys
from importlib import import_module

from bouligand._optional import MissingExtraError
from bouligand.reporting.results import ResultsError, write_text

PEERS = ("work", "ties", "quadruped", "jumps")  # with peers and folders of their own
OURS = (  # these print
    *("zoo", "accuracy", "speed", "span", "stiff", "choices", "derivative", "hertz", "gradients", "fits", "estimation"),
    *(
        "ensembles",
        "robots",
        "files",
        "friction",
        "loop",
        "drops",
        "planning",
        "startup",
        "first_gradient",
        "shortcuts",
    ),
)


def printing(name, out):
    """Run one that prints, and keep what it printed."""
    heard = io.StringIO()

    class Both(io.TextIOBase):
        def write(self, text):
            heard.write(text)
            return sys.__stdout__.write(text)

    with contextlib.redirect_stdout(Both()):
        import_module(f"benchmarks.{name}").main()
    folder = pathlib.Path(out) / name
    folder.mkdir(parents=True, exist_ok=True)
    write_text(folder / "table.txt", heard.getvalue())


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure the library and its peers.")
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"of {', '.join((*PEERS, *OURS, 'page'))}; default: all but page"
    )
    parser.add_argument("--quick", action="store_true", help="fewer settings and sizes")
    parser.add_argument("--out", default="results/bench", metavar="DIR", help="folder for the results (%(default)s)")
    parser.add_argument(
        "--peers", default=None, metavar="MODULE,...", help="only these modules of benchmarks/peers, or jump_peers"
    )
    chosen = parser.parse_args(arguments)
    unknown = set(chosen.names) - {*PEERS, *OURS, "page"}
    if unknown:
        parser.error(f"unknown: {', '.join(sorted(unknown))}; choose from {', '.join((*PEERS, *OURS, 'page'))}")
    only = chosen.peers.split(",") if chosen.peers else None
    try:
        for name in chosen.names or (*PEERS, *OURS):
            print(f"--- {name}", flush=True)
            if name == "page":
                import_module("benchmarks.page").main(bench=chosen.out)
            elif name in PEERS:
                import_module(f"benchmarks.{name}").run(chosen.out, chosen.quick, only)
            else:
                printing(name, chosen.out)
    except (MissingExtraError, ResultsError) as error:
        sys.exit(f"benchmarks: {error}")


if __name__ == "__main__":
    main()
