"""Work and precision with jumps and sticking: every peer at every setting, against closed forms, all arms interleaved.

The error is the RMS over the times of all events and the components of the state at the end, in the problem's own units. Every
arm returns these; one that misses an event has failed at that setting, and the table says so.
"""

from benchmarks import jump_peers, work
from benchmarks.jump_problems import problems


def run(out, quick=False, only=None, chosen=None):
    """Measure, print, draw; returns what result.json holds. ``chosen``: keys of problems, for small tests."""
    usable, skipped = jump_peers.load(only)
    todo = [problem for problem in problems() if chosen is None or problem.key in chosen]

    def able(problem):
        return [peer for peer in usable if peer.settings(problem)]

    return work.compare(out, "jumps", todo, usable, skipped, quick, able)
