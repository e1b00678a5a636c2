"""``bouligand reproduce order|hopper|plate|all [--quick] [--out DIR]``: the paper's experiments."""

from ..reproduce import NAMES, experiment


def add_command(commands):
    parser = commands.add_parser(
        "reproduce",
        help="run the paper's experiments",
        description="Run an experiment of the paper: a table on the terminal, JSON and figures in a folder. "
        "An interrupted run is continued where it stopped.",
    )
    parser.add_argument("experiment", choices=(*NAMES, "all"), help="which one")
    parser.add_argument("--quick", action="store_true", help="small sizes: minutes instead of an hour")
    parser.add_argument("--out", default="results/paper", metavar="DIR", help="folder for the results (%(default)s)")
    parser.set_defaults(run=run, interrupted="interrupted; the same command continues where it stopped (in {out})")


def run(arguments):
    """Run the experiments; the exit status."""
    for name in NAMES if arguments.experiment == "all" else (arguments.experiment,):
        experiment(name).run(arguments.out, quick=arguments.quick)
    return 0
