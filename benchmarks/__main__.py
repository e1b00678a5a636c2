"""Run all benchmarks, or those named on the command line: order, accuracy, speed, span, startup."""

import sys
from importlib import import_module

ALL = ("order", "accuracy", "speed", "span", "startup")


def main(names):
    unknown = set(names) - set(ALL)
    if unknown:
        sys.exit(f"unknown: {', '.join(sorted(unknown))}; choose from {', '.join(ALL)}")
    for name in names or ALL:
        print(f"--- {name}")
        import_module(f"benchmarks.{name}").main()


main(sys.argv[1:])
