"""Simultaneous contacts, which measurements of speed do not show.

- Two balls that fall onto springs from the same height, and from heights 1e-15 to 1e-3 apart: 4 events each in two seconds, and
  an exact answer.
- The same with the guards listed backwards: nothing may change.
- A plate that falls flat onto 8 springs: all touch at the same instant, and by symmetry it never tilts.

Peers with events have one for each guard, as their manuals show; ours is last.
"""

import numpy as np
from tqdm import tqdm

from benchmarks import peers as all_peers
from benchmarks import problems
from bouligand.reporting.results import Run
from bouligand.reporting.tables import number, table

GAPS = (0.0, *[10.0**-k for k in range(15, 2, -1)])
FEW = (0.0, 1e-15, 1e-12, 1e-9, 1e-6, 1e-3)
EVENTS = 8  # two balls, two bounces, touch and release
FLAT = np.array([0.0, 2.2, 0.0, 0.0, 0.0, 0.0])


def attempt(peer, problem):
    """End state and events of one run, or how it failed."""
    try:
        build = getattr(peer, "build_ties", peer.build)
        arm = build(problem, peer.TIES)
        return {"end": arm.run(), "events": arm.events(), "setting": arm.setting}
    except Exception as error:  # a peer may fail in any way; the table says how
        return {"end": None, "events": None, "setting": str(peer.TIES), "failed": f"{type(error).__name__}: {error}"}


def gaps(peer, values):
    """Errors and events for every gap, and how much the order of the guards changes."""
    rows = []
    for gap in values:
        problem = problems.balls([2.0, 2.0 + gap])
        exact = problem.reference()[-1]
        one = attempt(peer, problem)
        other_problem, back = problem.reordered()
        two = attempt(peer, other_problem)
        rows.append(
            {
                "gap": gap,
                "events": one["events"],
                "error": off(one["end"], exact),
                "order": None if two["end"] is None else off(one["end"], np.asarray(two["end"])[back]),
                "setting": one["setting"],
                "failed": one.get("failed") or two.get("failed"),
            }
        )
    return rows


def off(end, wanted):
    """The largest difference; 1e300 where it is not finite, None where there is no end."""
    if end is None:
        return None
    difference = np.abs(np.asarray(end) - wanted).max()
    return float(difference) if np.isfinite(difference) else 1e300


def shown(value):
    return "not finite" if value == 1e300 else number(value)


def flat(peer):
    """The plate that falls flat: events found, and the tilt that should be none."""
    problem = problems.plate(8, FLAT)
    if not peer.settings(problem):
        return None
    done = attempt(peer, problem)
    reference = problem.reference()[-1]
    tilt = None if done["end"] is None else off(np.asarray(done["end"])[[2, 5]], 0.0)
    return {"events": done["events"], "tilt": tilt, "error": off(done["end"], reference), "failed": done.get("failed")}


def run(out, quick=False, only=None, values=None):
    """Measure and print; returns what result.json holds. ``values``: gaps, for small tests."""
    peers, skipped = all_peers.load(only)
    all_peers.say_skipped(skipped)
    two = problems.balls([2.0, 2.0])
    able = [peer for peer in peers if peer.settings(two)]
    expected = len(flat_events())
    values = values or (FEW if quick else GAPS)
    settings = {
        "quick": quick,
        "gaps": values,
        "peers": [p.NAME for p in able],
        "skipped": skipped,
        "source": all_peers.source(),
    }
    results = Run(out, "ties", settings, packages=all_peers.packages(peers))
    rows, summary = [], {}
    for peer in tqdm(able, desc="ties", unit="peer", delay=2):
        cell = results.cell(
            peer.NAME.replace(" ", "-").replace(",", ""), lambda p=peer: {"gaps": gaps(p, values), "flat": flat(p)}
        )
        name = peer.name(two) if hasattr(peer, "name") else peer.NAME
        rows.append(line(name, cell, expected))
        summary[name] = cell
    headers = (
        "peer",
        "setting",
        f"same instant: events of {EVENTS}",
        "error",
        f"gaps with all events, of {len(values)}",
        "worst error",
        "guards backwards: change",
        f"flat plate: events of {expected}",
        "error",
        "tilt",
    )
    lines = [
        "Contacts made together: what each does (errors are the largest of any state at the end)",
        table(headers, rows),
    ]
    for name, cell in summary.items():
        failures = [row["failed"] for row in (*cell["gaps"], cell["flat"] or {"failed": None}) if row["failed"]]
        lines += [f"{name}: {reason}" for reason in dict.fromkeys(failures)]
    others = [p.NAME for p in peers if p not in able]
    if others:
        lines.append(f"not here, one body each or no such law: {', '.join(others)}")
    lines += [f"skipped: {name}: {reason}" for name, reason in skipped.items()]
    return results.finish(summary, "\n".join(lines))


def flat_events():
    """How often the flat plate's springs touch and let go, by our own solution at 1e-12."""
    import bouligand as bd

    problem = problems.plate(8, FLAT)
    return bd.solve(problem.system(), (0.0, problem.tf), problem.x0, rtol=1e-12).events


def line(name, cell, expected):
    same, level = cell["gaps"][0], cell["flat"]
    knows = same["events"] is not None
    errors = [g["error"] for g in cell["gaps"]]
    changes = [g["order"] for g in cell["gaps"]]
    return (
        name,
        same["setting"],
        same["events"] if knows else "none looked for",
        shown(same["error"]),
        sum(g["events"] == EVENTS for g in cell["gaps"]) if knows else "-",
        "failed" if None in errors else shown(max(errors)),
        "failed" if None in changes else shown(max(changes)),
        "-" if level is None or level["events"] is None else level["events"],
        "-" if level is None else shown(level["error"]),
        "-" if level is None else shown(level["tilt"]),
    )
