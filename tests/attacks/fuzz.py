"""Random piecewise-affine systems against closed forms.

    python -m tests.attacks.fuzz                                        # a minute, all kinds in turn
    python -m tests.attacks.fuzz --minutes 60
    python -m tests.attacks.fuzz --kind ends corners --count 3000       # so many of each
    python -m tests.attacks.fuzz --kind ends --seed 17 --count 1        # one again, with all that is known of it

Each kind and seed is one problem (`kinds.py`), solved by the library and in closed form (`exact.py`). States, words, events and
derivatives are compared; what is allowed is a multiple of the tolerance, times the growth of errors along this trajectory. The
exit status is 1 if anything was silently wrong.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter, defaultdict
from dataclasses import dataclass
from zlib import crc32

import numpy as np
from tqdm import tqdm

import bouligand as bd

from .affine import Problem
from .exact import follow
from .kinds import KINDS

FACTOR = 100.0  # tolerances, times growth, that a state may be off
RIGHT, REFUSED, NEEDLESS, DOUBT = "right", "refused", "refused without need", "in doubt"
WRONG = ("wrong state", "wrong word", "events lost or doubled", "wrong event times", "wrong derivative", "wrong status")


@dataclass
class Verdict:
    """What came of one problem."""

    name: str
    detail: str = ""
    error: float = 0.0  # of the state, in tolerances times growth
    slope: float = 0.0  # of the derivative, in what is allowed
    events: int = 0


def judge(problem):
    """Solve a problem in both ways and compare."""
    if not isinstance(problem, Problem):  # (it knows what is right)
        try:
            name, detail, events = problem.judge()
        except bd.SolveError as error:
            return Verdict(NEEDLESS, f"{type(error).__name__}: {error}")
        return Verdict(name, detail, events=events)
    exact = follow(problem)
    if exact.status == "many":
        return Verdict(DOUBT, "the closed form has too many events")
    rtol = problem.options["rtol"]
    tolerance = rtol * max(exact.largest, np.abs(exact.x).max()) + problem.options.get("atol", rtol / 100)
    allowed = FACTOR * (tolerance + 1e-14 * (1.0 + exact.largest)) * exact.growth
    doubtful = exact.margin <= allowed or exact.growth * rtol > 1e-3
    try:
        sol = problem.solve()
    except bd.SolveError as error:
        name = type(error).__name__
        if exact.status in ("slides", "ambiguous"):
            return Verdict(REFUSED, f"{name}: {exact.status}")
        at_start = exact.on_guards and (name == "StartError" or error.t - problem.span[0] < 1e-12)
        if doubtful or at_start:
            return Verdict(REFUSED, f"{name}: within the tolerance of another outcome")
        return Verdict(NEEDLESS, f"{name}: {error}")
    if exact.status in ("slides", "ambiguous"):
        what = f"the closed form {exact.status} at {exact.t}, the library {sol.status}"
        return Verdict(DOUBT if doubtful or exact.on_guards else "wrong status", what)
    found = _compare(problem, exact, sol, allowed)
    found.events = len(sol.events)
    if found.name != RIGHT and doubtful:
        found.name = DOUBT
    return found


def _compare(problem, exact, sol, allowed):
    at_start = {c.guard for c in exact.crossings if c.t - problem.span[0] < 1e-12}
    if exact.on_guards and at_start & set(problem.terminal):
        return Verdict(DOUBT, "a start on a guard that is terminal: crossed there, or before it")
    if sol.status != exact.status:
        if exact.beside_guards and exact.t - problem.span[0] < 1e-12:
            return Verdict(DOUBT, "a terminal guard some units in the last place from the start")
        return Verdict("wrong status", f"{sol.status}, {exact.status} in closed form")
    off = np.abs(sol.x[-1] - exact.x).max()
    error = off / allowed * FACTOR
    if exact.status == "terminated":  # the time of the end is uncertain too
        allowed = allowed * (1.0 + np.abs(exact.flow[: problem.n]).max() / max(exact.crossings[-1].speed, 1e-300))
    wrong = _compare_events(problem, exact, sol, allowed)
    if wrong is not None:
        return wrong
    if not off <= allowed:
        return Verdict("wrong state", f"off by {off:.2e}, {allowed:.2e} allowed", error)
    ends_there = problem.at_corner(problem.span[1])
    if exact.status == "finished" and not ends_there and not np.array_equal(sol.b[-1], exact.word):
        return Verdict("wrong word", f"{sol.b[-1]}, {exact.word} in closed form", error)
    if (
        exact.beside_guards
    ):  # by some units in the last place: the derivative is one thing there and another a little further
        return Verdict(RIGHT, "", error)
    slopes = _directions if problem.corner is not None or exact.on_guards else _matrix
    try:
        slope, detail = slopes(problem, exact, sol.bderivative(), allowed)
    except bd.BouligandError as refusal:
        if exact.on_guards and isinstance(refusal, bd.NotEventSelectedError):
            return Verdict(REFUSED, "NotEventSelectedError: B, at a start on guards that recede in some word", error)
        return Verdict(NEEDLESS, f"B: {type(refusal).__name__}: {refusal}", error)
    if slope <= 1.0:
        return Verdict(RIGHT, detail, error, slope)
    if problem.corner is not None and not _reaches_corner(problem, sol):
        return Verdict(DOUBT, "the computed trajectory passes beside the corner, within the tolerance", error, slope)
    return Verdict("wrong derivative", detail, error, slope)


def _reaches_corner(problem, sol):
    """Whether the computed trajectory meets all guards of the corner to round-off, so that B has to know all of them."""
    if problem.at_corner(problem.span[1]):
        leg = problem.legs[0]
        h = leg.N @ sol.x[-1] - leg.level - leg.speed * problem.span[1]
        return bool((np.abs(h) <= 1e-15 * (1.0 + np.abs(leg.level))).all())
    return bool(np.ptp(sol.events.t[: problem.m]) <= 1e-15 * (1.0 + problem.corner))


def _compare_events(problem, exact, sol, allowed):
    """Guard by guard: the same number, the same signs, the same times."""
    t0, t1 = problem.span
    expected = [c for c in exact.crossings if problem.direction is None or problem.direction[c.guard] in (0, c.sign)]
    for k in range(problem.m):
        mine = sol.events.guard == k
        times, signs = sol.events.t[mine], sol.events.direction[mine]
        theirs = [c for c in expected if c.guard == k]
        if exact.on_guards:  # a start on a guard, to round-off, may be before it or behind it
            clear = times > t0 + 1e-12
            times, signs, theirs = times[clear], signs[clear], [c for c in theirs if c.t > t0 + 1e-12]
        if problem.at_corner(t1):  # an end there: each guard once, or not yet where the integration has an error
            reached = not problem.legs[0].A.any()
            if (
                len(times) > 1
                or (reached and len(times) < 1)
                or not (np.abs(times - t1) <= allowed / 0.1 + 1e-12).all()
            ):
                return Verdict("events lost or doubled", f"guard {k}: at {times}, the corner at {t1}")
            continue
        if list(signs) != [c.sign for c in theirs]:
            wanted = [c.t for c in theirs]
            return Verdict("events lost or doubled", f"guard {k}: at {times}, in closed form at {wanted}")
        for t, c in zip(times, theirs, strict=True):
            limit = 2.0 * allowed / c.speed + 4 * np.spacing(abs(c.t))
            if abs(t - c.t) > limit:
                return Verdict(
                    "wrong event times", f"guard {k}: at {t!r}, in closed form at {c.t!r}, {limit:.1e} allowed"
                )
    return None


def _matrix(problem, exact, B, allowed):
    """B against the product of exponentials and saltation matrices; its error over what is allowed."""
    slowest = min((c.speed for c in exact.crossings), default=1.0)
    allowed = max(
        allowed, FACTOR * problem.options["rtol"]
    )  # the identity that it starts from is of size 1, however small x is
    limit = (0.3 * allowed / min(slowest, 1.0) + 1e-6) * exact.growth
    off = np.abs(B.matrix(np.zeros(problem.n)) - exact.derivative).max()
    return off / limit, f"off by {off:.2e}, {limit:.2e} allowed"


def _directions(problem, exact, B, allowed):
    """At corners: B in some directions against one-sided differences of the closed form."""
    rng, worst, detail = np.random.default_rng(0), 0.0, ""
    for _ in range(6):
        dx, step = rng.normal(size=problem.n), 1e-6
        near, far = (follow(problem, problem.x0 + s * dx) for s in (step, 2.0 * step))
        if near.status != exact.status or far.status != exact.status:
            continue
        one, two = (near.x - exact.x) / step, (far.x - exact.x) / (2.0 * step)
        bend = np.abs(one - two).max()
        if bend > 1e-2 * exact.growth:
            continue  # the differences themselves are not settled
        off = np.abs(B(dx) - one).max() / (10.0 * bend + (1e-4 + allowed) * exact.growth)
        if off > worst:
            worst, detail = off, f"B({dx}) = {B(dx)}, {one} by differences"
    return worst, detail


# --------------------------------------------------------------------------------------------------------------- the loop


def made(kind, seed):
    return KINDS[kind](np.random.default_rng([crc32(kind.encode()), seed]))


def attack(kind, seed):
    """One problem and its verdict."""
    problem = made(kind, seed)
    try:
        return judge(problem)
    except bd.BouligandError:
        raise
    except Exception as error:
        return Verdict("wrong status", f"{type(error).__name__}: {error}")


def campaign(kinds, first, count=None, minutes=1.0, progress=False):
    """Problems of these kinds in turn, from a seed on; counts of verdicts by kind, and what was not right."""
    counts: dict[str, Counter] = defaultdict(Counter)
    worst: dict[str, float] = defaultdict(float)
    notes: list[tuple[str, int, Verdict]] = []
    until = time.monotonic() + 60.0 * minutes
    bar = tqdm(total=count and count * len(kinds), unit=" systems", disable=None if progress else True, file=sys.stderr)
    seed = first
    while (seed - first < count) if count else time.monotonic() < until:
        for kind in kinds:
            found = attack(kind, seed)
            counts[kind][found.name] += 1
            counts[kind]["events"] += found.events
            if found.name == RIGHT:
                worst[kind] = max(worst[kind], found.error)
            else:
                notes.append((kind, seed, found))
            bar.update()
        seed += 1
    bar.close()
    return counts, worst, notes


def report(counts, worst, notes, first, verbose=False):
    """Tables for people; the number of problems that went silently wrong."""
    print(f"first seed {first}")
    print(
        f"{'kind':<14}{'systems':>9}{'events':>9}{RIGHT:>8}{REFUSED:>9}{'needless':>9}{DOUBT:>10}{'wrong':>7}   worst error*"
    )
    total = 0
    for kind, found in counts.items():
        wrong = sum(found[name] for name in WRONG)
        systems = sum(found.values()) - found["events"]
        numbers = (systems, found["events"], found[RIGHT], found[REFUSED], found[NEEDLESS], found[DOUBT], wrong)
        print("{:<14}{:>9}{:>9}{:>8}{:>9}{:>9}{:>10}{:>7}".format(kind, *numbers), f"{worst[kind]:>14.2g}")
        total += wrong
    print("* of the state, in tolerances times the growth of errors along the trajectory")
    refusals = Counter(f"{kind}: {verdict.detail.split(':')[0]}, {verdict.detail.split(':')[1].strip()}"
                       for kind, _, verdict in notes if verdict.name == REFUSED)  # fmt: skip
    if refusals:
        print("\nrefused by name, as the closed form is undecided there:")
        for text, times in sorted(refusals.items()):
            print(f"  {times:>6}  {text}")
    for kind, seed, verdict in notes:
        if verdict.name in WRONG or verdict.name == NEEDLESS or (verbose and verdict.name != RIGHT):
            print(f"{verdict.name}: --kind {kind} --seed {seed} --count 1: {verdict.detail}")
    return total


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m tests.attacks.fuzz", description=__doc__.split("\n")[0])
    parser.add_argument("--kind", nargs="+", choices=KINDS, default=list(KINDS), metavar="KIND", help=", ".join(KINDS))
    parser.add_argument("--seed", type=int, help="the first seed (default: by the clock)")
    parser.add_argument("--count", type=int, help="problems of each kind (default: as many as fit into --minutes)")
    parser.add_argument("--minutes", type=float, default=1.0)
    given = parser.parse_args(arguments)
    first = int(time.time()) if given.seed is None else given.seed
    counts, worst, notes = campaign(given.kind, first, given.count, given.minutes, progress=True)
    wrong = report(counts, worst, notes, first, verbose=given.count == 1)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
