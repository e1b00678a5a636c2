"""See the package."""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from typing import Any

from tqdm import tqdm

from . import __doc__ as what
from . import solutions, stores, workers
from .workers import GOOD


def report(name: str, attack: Any, count: int, first: int, processes: int) -> int:
    """Run so many attempts, print what came of them, and return how many were wrong."""
    numbers, begun = list(range(first, first + count)), time.monotonic()
    table: dict[str, Counter[str]] = {}
    wrong = []
    for found in tqdm(workers.run(attack, numbers, processes), name, count, leave=False, disable=None):
        damage, _, _ = found.damage.partition(" of ")
        outcome = found.outcome if found.outcome in GOOD else found.outcome.partition(":")[0]
        table.setdefault(damage, Counter())[outcome] += 1
        if outcome not in GOOD:
            wrong.append(f"  {found.number}: {found.damage}: {found.outcome}")
    totals: Counter[str] = sum(table.values(), Counter())
    columns = sorted(totals, key=lambda outcome: (outcome not in GOOD, outcome))
    print(f"{count} {name} from {first} in {time.monotonic() - begun:.0f} s, {len(wrong)} wrong")
    print(f"  {'damage':32s}" + "".join(f"{column:>18s}" for column in columns))
    for damage, counts in [*sorted(table.items()), ("all", totals)]:
        print(f"  {damage:32s}" + "".join(f"{counts[column]:18d}" for column in columns))
    print("\n".join(wrong[:50]), end="\n" if wrong else "")
    return len(wrong)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=what, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--solutions", type=int, default=300)
    parser.add_argument("--stores", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="the number of the first attempt")
    parser.add_argument("--processes", type=int, default=2)
    chosen = parser.parse_args(arguments)
    wrong = 0
    for name, attack, count in (("solutions", solutions, chosen.solutions), ("stores", stores, chosen.stores)):
        if count:
            wrong += report(name, attack.make(chosen.seed), count, chosen.first, chosen.processes)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
