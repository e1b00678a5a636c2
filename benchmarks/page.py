"""Put what the last runs printed and drew into the docs: docs/benchmarks.md, docs/benchmarks_tables.md, docs/figures, README.md.

A block between ``<!-- NAME -->`` and ``<!-- /NAME -->`` is replaced by the table of that name; everything else is left as it is.
So no number in the docs is typed by hand: `make numbers` runs everything and ends here.
"""

import pathlib
import re
import shutil

from benchmarks import jump_peers
from benchmarks import peers as all_peers
from benchmarks.quadruped import best as best_arm
from benchmarks.quadruped import called
from benchmarks.quadruped import printed as quadruped_text
from benchmarks.work import OURS, best
from bouligand.reporting.results import load, write_text
from bouligand.reporting.tables import ratio, seconds

ROOT = pathlib.Path(__file__).parent.parent
PAPER, BENCH = ROOT / "results" / "paper", ROOT / "results" / "bench"
PAGES = (
    *(ROOT / "docs" / f"{name}.md" for name in ("benchmarks", "benchmarks_tables", "derivative", "planning")),
    ROOT / "README.md",
)
THREE = (
    "plate, per contact",
    "plate, 100 contacts",
    "Solo12 dropped level, with friction",
)  # rows of the README, by how they begin
MUJOCO = ("MuJoCo, Euler", "MuJoCo, implicitfast", "MuJoCo, RK4")
ROBOT_MARKS = (1.0, 1e-1, 1e-2, 1e-3, 1e-4)  # RMS errors at which robots are compared
FIGURES = ("order", "hopper", "plate", "work", "quadruped", "jumps")


def fenced(text):
    return f"```text\n{text.rstrip()}\n```"


def blocks(paper, bench):
    """The text of every block that the last runs can fill."""
    out = {}
    for folder in (paper, bench):
        for table in sorted(folder.glob("*/table.txt")):
            text = table.read_text()
            out[table.parent.name] = text.rstrip() if text.startswith("| ") else fenced(text)  # (some are Markdown)
    for folder in (paper, bench):
        for result in sorted(folder.glob("*/result.json")):
            document = load(result.parent)
            out[f"{result.parent.name}-made"] = made(document)
    if (bench / "work" / "result.json").exists():
        work = load(bench / "work")
        out["work"] = "\n\n".join(work_blocks((bench / "work" / "table.txt").read_text()))
        out["work-equal"] = fenced("\n\n".join(equal_blocks((bench / "work" / "table.txt").read_text())))
        out["given"] = given(work["versions"])
    if (bench / "jumps" / "result.json").exists():
        text = (bench / "jumps" / "table.txt").read_text()
        out["jumps"] = "\n\n".join(work_blocks(text))
        out["jumps-equal"] = fenced("\n\n".join(equal_blocks(text)))
        out["jumps-given"] = given(load(bench / "jumps")["versions"], jump_peers)
    if (bench / "quadruped" / "result.json").exists():
        cells = load(bench / "quadruped")["cells"].values()
        out["quadruped"] = "\n\n".join(folded(called(cell), quadruped_text(cell)[0]) for cell in cells)
        out["quadruped-equal"] = robots_at_equal_error(cells)
    if (bench / "drops" / "table.txt").exists():
        parts = drop_parts((bench / "drops" / "table.txt").read_text())
        out["drops"] = "\n\n".join(folded(title, body) for title, body in parts)
        out["drops-summary"] = drops_at_a_glance(parts)
    out.update(readme(paper, bench))
    return out


def made(document):
    """A line on where numbers come from."""
    machine, versions = document["machine"], document["versions"]
    known = ", ".join(f"{name} {version}" for name, version in versions.items() if version)
    size = " with `--quick` (small sizes; `make numbers` has all)" if document["settings"].get("quick") else ""
    where = f"{machine['cpu']}, {machine['cores']} cores, Python {machine['python']}"
    return f"*Made{size} on {document['finished'][:10]}, {where}; {known}.*"


def equal_blocks(text):
    """The tables of times at equal error, one for each problem."""
    return [
        part.strip()
        for part in re.findall(r"^[^\n]*: time to an RMS error below\n.*?(?=\n\n)", text, flags=re.M | re.S)
    ]


def folded(title, body):
    """A table that is shown when its title is clicked on."""
    return f"<details><summary>{title}</summary>\n\n{fenced(body)}\n\n</details>"


def work_blocks(text):
    """All rows of all problems, each folded away under its name."""
    out = []
    for title, body in re.findall(
        r"^([^\n]*): time to an RMS error below\n.*?\n\n(.*?)(?=\n\n|\Z)", text, flags=re.M | re.S
    ):
        out.append(folded(title, body))
    skipped = re.findall(r"^skipped: .*$", text, flags=re.M)
    return out + skipped


def given(versions, peers=all_peers):
    """What each peer was given, and its version."""
    lines = ["| peer | version | given |", "|---|---|---|"]
    usable, skipped = peers.load()
    for peer in usable:
        version = versions.get(peer.PACKAGE) if peer.PACKAGE else "written here"
        lines.append(f"| {peer.NAME} | {version or '-'} | {peer.GIVEN} |")
    lines += [f"| {name} | - | skipped: {reason} |" for name, reason in skipped.items()]
    return "\n".join(lines)


def readme(paper, bench):
    """The table of numbers, each with its command, and the three of them that are in the README."""
    rows = []
    if (paper / "hopper" / "result.json").exists():
        hopper = load(paper / "hopper")
        factor, took = hopper["summary"]["MuJoCo over default"], hopper["cells"]["times"]["default"]
        mark = hopper["summary"]["MuJoCo's error"]
        rows.append(
            f"| hopper, 2 s, at MuJoCo's error (RMS {mark:.1e}) | {seconds(took)} | "
            f"MuJoCo {seconds(hopper['cells']['times']['MuJoCo'])}: {factor:.0f} times | `bouligand reproduce hopper` |"
        )
    if (paper / "plate" / "result.json").exists():
        slopes = load(paper / "plate")["summary"]["marginal seconds, fit over the paper's range"]
        ours = slopes["bouligand"]
        others = "; ".join(
            f"{name} {seconds(s)}: {s / ours:.0f} times" for name, s in slopes.items() if name.startswith("MuJoCo")
        )
        rows.append(
            f"| plate, per contact, 2 to 100 contacts | {seconds(ours)} | {others} | `bouligand reproduce plate` |"
        )
    if (bench / "work" / "result.json").exists():
        work = load(bench / "work")
        for title, marks in work["summary"].items():
            rows.append(f"| {title}, to an RMS error of 1e-3 / 1e-6 / 1e-9 | {' / '.join(race(work, title))} | ")
            rows[-1] += " / ".join(behind(marks.get(m)) for m in ("1e-03", "1e-06", "1e-09"))
            rows[-1] += " | `python -m benchmarks work` |"
    if (bench / "quadruped" / "result.json").exists():
        rows += quadruped(load(bench / "quadruped"))
    if not rows:
        return {}
    head = ["| what | ours | against | printed by |", "|---|---|---|---|"]
    out = {"numbers": "\n".join([*head, *rows])}
    chosen = [next((row for row in rows if row.startswith(f"| {begin}")), None) for begin in THREE]
    if all(chosen):
        out["three"] = "\n".join([*head, *map(str, chosen)])
    return out


def quadruped(document):
    """Rows for each of its problems: our time to an error, and MuJoCo's to that."""
    rows = []
    for cell in document["cells"].values():
        for mark in (1e-2, 1e-4):
            ours = best_arm(cell["rows"], ["bouligand"], mark)
            theirs = best_arm(cell["rows"], MUJOCO, mark)
            if ours is None:
                continue
            other = (
                f"MuJoCo {seconds(theirs)}: {ratio(theirs / ours)} times" if theirs else "MuJoCo not at any step tried"
            )
            rows.append(
                f"| {called(cell)}, {cell['duration']:g} s, to an RMS error of {mark:.0e} | {seconds(ours)} | {other} | "
                "`python -m benchmarks quadruped` |"
            )
    return rows


def robots_at_equal_error(cells):
    """Our time to each error, and in brackets how many times as long MuJoCo takes; a row for each scene."""
    head = "| | " + " | ".join(f"{mark:.0e}" for mark in ROBOT_MARKS) + " |"
    lines = [head, "|---" * (len(ROBOT_MARKS) + 1) + "|"]
    for cell in cells:
        rows, row = cell["rows"], [f"{called(cell)}, {cell['duration']:g} s, {cell['events']} events"]
        for mark in ROBOT_MARKS:
            ours, theirs = best_arm(rows, ["bouligand"], mark), best_arm(rows, MUJOCO, mark)
            row.append(f"{seconds(ours)} ({ratio(theirs / ours) if theirs else 'not reached'})" if ours else "-")
        lines.append("| " + " | ".join(row) + " |")
    return "\n".join(lines)


def drop_parts(text):
    """(title, table) of each combination of robot, law and friction."""
    return re.findall(r"^([^\n]*): \d+ drops of [^\n]*\n(.*?)(?=\n\n|\Z)", text, flags=re.M | re.S)


def drops_at_a_glance(parts):
    """A row for each combination; in each cell, the values at all tolerances."""
    lines, tolerances = [], ""
    for title, body in parts:
        rows = [re.split(r"\s{2,}", line.strip()) for line in body.splitlines()[2:]]
        tolerances = " / ".join(row[0].replace("e-0", "e-") for row in rows)
        completed, shares, calls = ([row[place] for row in rows] for place in (1, 5, 6))
        counts = " / ".join(entry.split(" of ")[0] for entry in completed) + f" of {completed[0].split(' of ')[1]}"
        lines.append(f"| {title} | {counts} | {' / '.join(shares)} | {' / '.join(calls)} |")
    head = f"| rtol = {tolerances} | completed | largest error / kappa | evaluations of f |"
    return "\n".join([head, "|---|---|---|---|", *lines])


def race(work, title):
    """Our times to the three errors."""
    return [seconds(best(rows_of(work, title), OURS, mark)) for mark in (1e-3, 1e-6, 1e-9)]


def rows_of(work, title):
    """The rows of a problem, by the title that tables use."""
    keys, titles = work["settings"]["problems"], list(work["summary"])
    return work["cells"][keys[titles.index(title)]]


def behind(entry):
    """How the best other compares: its name, and how many times our time it takes."""
    return f"{entry['other']} {ratio(entry['ratio'])} times" if entry else "none"


def fill(page, texts):
    """Replace the blocks of a page; the names of those that no run could fill."""
    text, missing = page.read_text(), []
    for name in re.findall(r"^<!-- ([\w-]+) -->$", text, flags=re.M):
        if name in texts:
            head, rest = text.split(f"<!-- {name} -->\n", 1)
            _, tail = rest.split(f"<!-- /{name} -->", 1)
            text = f"{head}<!-- {name} -->\n{texts[name]}\n<!-- /{name} -->{tail}"
        else:
            missing.append(name)
    write_text(page, text)
    return missing


def main(paper=PAPER, bench=BENCH):
    """Fill the pages and copy the figures."""
    paper, bench = pathlib.Path(paper), pathlib.Path(bench)
    texts = blocks(paper, bench)
    for page in PAGES:
        missing = fill(page, texts)
        print(f"{page.name}: filled; {'nothing missing' if not missing else 'not run yet: ' + ', '.join(missing)}")
    for name in FIGURES:
        for folder, prefix in ((paper, "paper-"), (bench, "")):
            drawn = folder / name / f"{name}.png"
            if drawn.exists():
                shutil.copyfile(drawn, ROOT / "docs" / "figures" / f"{prefix}{name}.png")


if __name__ == "__main__":
    main()
