"""Work and precision with jumps and sticking: every peer at every setting, against closed forms, all arms interleaved.

The error is the RMS over the times of all events and the components of the state at the end, in the problem's own units. Every
arm returns these; one that misses an event has failed at that setting, and the table says so.
"""

from tqdm import tqdm

from benchmarks import jump_peers, peers, work
from benchmarks.jump_problems import problems
from bouligand.reporting.figures import pyplot
from bouligand.reporting.results import Run


def run(out, quick=False, only=None, chosen=None):
    """Measure, print, draw; returns what result.json holds. ``chosen``: keys of problems, for small tests."""
    plt = pyplot()
    usable, skipped = jump_peers.load(only)
    peers.say_skipped(skipped)
    todo = [problem for problem in problems() if chosen is None or problem.key in chosen]
    settings = {
        "quick": quick,
        "problems": [p.key for p in todo],
        "peers": [p.NAME for p in usable],
        "skipped": skipped,
        "source": peers.source(),
    }
    results = Run(out, "jumps", settings, packages=peers.packages(usable))
    cells = {}
    for problem in tqdm(todo, desc="jumps", unit="problem", delay=2):
        able = [peer for peer in usable if peer.settings(problem)]
        cells[problem.title] = results.cell(problem.key, lambda p=problem, able=able: work.measure(p, able, quick))
    text, summary = work.report(cells, skipped)
    results.figure(work.draw(plt, cells), "jumps")
    plt.close("all")
    return results.finish(summary, text)
