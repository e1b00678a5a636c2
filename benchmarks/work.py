"""Work and precision: every peer at every setting on every problem; error against time, all arms interleaved.

The error is the RMS over 1,000 times and all states, and that over the states at the end, against the exact solution or a 1e-12
reference. Set-up (building, compiling and the first run) has a column of its own. A problem is a cell: saved when done.
"""

import time

import numpy as np
from tqdm import tqdm

from benchmarks import peers as all_peers
from benchmarks import problems
from bouligand.reporting.figures import COLOURS, MARKERS, pyplot, tidy
from bouligand.reporting.results import Run
from bouligand.reporting.tables import number, ratio, seconds, table
from bouligand.reporting.timing import interleaved, rms

MARKS = tuple(10.0**-k for k in range(2, 11))  # errors at which times are compared
SLOW = 15.0  # seconds: a peer whose run takes longer is not tried at tighter settings
OURS = "bouligand"
LEAST = 1e-13  # the smallest error that is drawn


def measure(problem, peers, quick):
    """Rows of one problem: errors and set-up of each arm, then their times, interleaved."""
    reference = problem.reference()
    rows, runs = [], []
    for peer in tqdm(peers, desc=f"{problem.title}, set-up", leave=False, delay=2):
        for setting in thinned(peer.settings(problem), quick):
            row, arm = prepare(peer, problem, setting, reference)
            rows.append(row)
            runs.append(arm)
            if row["run"] > SLOW:
                break
    usable = [i for i, arm in enumerate(runs) if arm is not None]
    rounds = 5 if quick else 15
    with tqdm(total=rounds, desc=f"{problem.title}, timing", unit="round", leave=False, delay=2) as bar:
        times = interleaved(
            [runs[i].run for i in usable], rounds, seconds=0.01, budget=0.2 if quick else 3.0, tick=bar.update
        )
    for i, took in zip(usable, times, strict=True):
        rows[i]["seconds"] = took
    return rows


def thinned(settings, thin):
    """Every other setting, for a quick look."""
    return settings[::2] if thin else settings


def prepare(peer, problem, setting, reference):
    """Build an arm, run it once, and take its errors; a failure is a row too."""
    name = peer.name(problem) if hasattr(peer, "name") else peer.NAME
    row = {"peer": name, "setting": str(setting), "seconds": None, "rms": None, "end": None, "events": None}
    try:
        began = time.perf_counter()
        arm = peer.build(problem, setting)
        built = time.perf_counter()
        end = arm.run()
        row |= {"setting": arm.setting, "setup": time.perf_counter() - began, "run": time.perf_counter() - built}
        if row["run"] > SLOW:  # much of that may have been compiling
            built = time.perf_counter()
            arm.run()
            row["run"] = time.perf_counter() - built
        row |= {"events": arm.events(), "rms": rms(arm.sample() - reference), "end": rms(end - reference[-1])}
        row["failed"] = None
    except Exception as error:  # a peer may fail in any way; the table says how
        row |= {"failed": f"{type(error).__name__}: {str(error)[:80]}", "setup": None, "run": 0.0}
        return row, None
    return row, arm


def best(rows, peer, mark):
    """The shortest time in which a peer gets below an error; None if it does not."""
    times = [
        r["seconds"] for r in rows if r["peer"] == peer and r["seconds"] and r["rms"] is not None and r["rms"] <= mark
    ]
    return min(times) if times else None


def equal_error(rows):
    """Times at equal error: a row for each peer, then ours over the best other at each mark."""
    names = list(dict.fromkeys(r["peer"] for r in rows))
    lines = [[name, *[seconds(best(rows, name, mark)) for mark in MARKS]] for name in names]
    ratios = {}
    for mark in MARKS:
        ours = best(rows, OURS, mark)
        others = [(t, name) for name in names if name != OURS and (t := best(rows, name, mark)) is not None]
        ratios[mark] = (min(others)[0] / ours, min(others)[1]) if others and ours else None
    lines.append(["best other over ours", *[ratio(r[0]) if r else "-" for r in ratios.values()]])
    lines.append(["  which is", *[short(r[1]) if r else "-" for r in ratios.values()]])
    text = table(("RMS error below", *[f"{mark:.0e}" for mark in MARKS]), lines)
    return text, {f"{mark:.0e}": r and {"ratio": r[0], "other": r[1]} for mark, r in ratios.items()}


def short(name):
    return name.replace(", guards ignored", " plain")


def full_table(rows):
    """All rows, and under them why some failed."""
    lines, failures = [], []
    for r in rows:
        took = "failed" if r["failed"] else seconds(r["seconds"])
        events = "-" if r["events"] is None else r["events"]
        lines.append((r["peer"], r["setting"], took, number(r["rms"]), number(r["end"]), events, seconds(r["setup"])))
        if r["failed"]:
            failures.append(f"{r['peer']}, {r['setting']}: {r['failed']}")
    text = table(("peer", "setting", "time", "RMS error", "at the end", "events", "set-up"), lines)
    return "\n".join([text, *failures])


def report(cells, skipped):
    """What is printed, and the ratios at equal error of each problem."""
    lines, summary = [], {}
    for title, rows in cells.items():
        text, summary[title] = equal_error(rows)
        lines += [f"{title}: time to an RMS error below", text, "", full_table(rows), ""]
    lines += [f"skipped: {name}: {reason}" for name, reason in skipped.items()]
    return "\n".join(lines), summary


def run(out, quick=False, only=None, chosen=None):
    """Measure, print, draw; returns what result.json holds. ``chosen``: problems, for small tests."""
    peers, skipped = all_peers.load(only)
    todo = problems.all_problems(quick) if chosen is None else chosen
    return compare(out, "work", todo, peers, skipped, quick, lambda problem: peers)


def compare(out, name, todo, peers, skipped, quick, able):
    """The benchmark ``name``: each problem by the peers that are ``able`` to do it, into a folder of that name."""
    plt = pyplot()
    all_peers.say_skipped(skipped)
    settings = {
        "quick": quick,
        "problems": [p.key for p in todo],
        "peers": [p.NAME for p in peers],
        "skipped": skipped,
        "source": all_peers.source(),
    }
    results = Run(out, name, settings, packages=all_peers.packages(peers))
    cells = {}
    for problem in tqdm(todo, desc=name, unit="problem", delay=2):
        cells[problem.title] = results.cell(problem.key, lambda p=problem: measure(p, able(p), quick))
    text, summary = report(cells, skipped)
    results.figure(draw(plt, cells), name)
    plt.close("all")
    return results.finish(summary, text)


def draw(plt, cells):
    """A panel for each problem: time over error, a colour for each peer. Errors below LEAST are drawn there."""
    columns = min(3, len(cells) + 1)  # (of more, the texts would be too small on a page)
    lines = -(-(len(cells) + 1) // columns)
    figure, axes = plt.subplots(
        lines, columns, figsize=(3.4 * columns, 3.2 * lines), layout="constrained", squeeze=False
    )
    handles = {}
    for ax, (title, rows) in zip(axes.flat, cells.items(), strict=False):
        for name in dict.fromkeys(r["peer"] for r in rows):
            points = [
                (max(r["rms"], LEAST), r["seconds"])
                for r in rows
                if r["peer"] == name and r["seconds"] and r["rms"] is not None
            ]
            if points:
                ours = name == OURS
                (handles[name],) = ax.loglog(
                    *zip(*sorted(points), strict=True),
                    "-",
                    marker=MARKERS[name],
                    color=COLOURS[name],
                    lw=2.2 if ours else 1.1,
                    ms=4 if ours else 3,
                    zorder=3 if ours else 2,
                )
        tidy(ax, "RMS error", "time (s)", title)
        ax.set_xlim(0.5 * LEAST, 3)
        ax.set_xticks(np.logspace(-12, 0, 5))
        ax.invert_xaxis()
    spare = list(axes.flat)[len(cells) :]
    for ax in spare:
        ax.axis("off")
    ordered = [name for name in COLOURS if name in handles]
    spare[0].legend([handles[n] for n in ordered], ordered, loc="center", frameon=False, fontsize="medium")
    return figure
