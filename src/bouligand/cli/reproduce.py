"""``bouligand reproduce order|hopper|plate|all [--quick] [--out DIR]``: the paper's experiments."""

from ..reproduce import NAMES, experiment


def add(commands):
    parser = commands.add_parser(
        "reproduce",
        help="run the paper's experiments",
        description="Run an experiment of the paper: a table on the terminal, JSON and figures in a folder. "
        "An interrupted run goes on where it stopped.",
    )
    parser.add_argument("experiment", choices=(*NAMES, "all"), help="which one")
    parser.add_argument("--quick", action="store_true", help="small sizes: minutes instead of an hour")
    parser.add_argument("--out", default="results/paper", metavar="DIR", help="folder for the results (%(default)s)")
    parser.set_defaults(run=run, interrupted="interrupted; the same command goes on where it stopped (in {out})")


def run(chosen):
    """Run the experiments; the exit status."""
    for name in NAMES if chosen.experiment == "all" else (chosen.experiment,):
        experiment(name).run(chosen.out, quick=chosen.quick)
    return 0
