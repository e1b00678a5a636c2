"""Draw docs/figures/architecture.svg: the folders of src/bouligand and what they import.

    python docs/figures/architecture.py

tests/test_repository.py checks boxes and arrows against the package.
"""

import pathlib

WIDTH, HEIGHT = 1000, 994
LEFT, STEP, BOX = 20, 245, (225, 52)  # columns; width and height of a box
TOP, ROW = 20, 78

# name: column, row, what it has, and columns that it spans
FOLDERS = {
    "cli": (0, 0, "the command bouligand: run, sweep, cycle, warm", 2),
    "reproduce": (0, 1, "the paper's experiments", 1),
    "bridges": (1, 1, "MuJoCo robots, SymPy equations", 1),
    "reporting": (0, 2, "tables, figures, results on disk", 1),
    "plot": (1, 2, "figures and animations", 1),
    "models": (1, 3, "ready systems, one a file", 1),
    "cycles": (0, 3, "gaits, multipliers, continuation", 1),
    "estimation": (2, 1, "fits, filters, smoother", 1),
    "ensembles": (2, 2, "many trajectories, stores", 1),
    "planning": (3, 2, "plans and MPC through events", 1),
    "derivative": (2, 3, "B-derivative, corners, shooting", 1),
    "paper": (3, 3, "Listing 1 of the paper (a file)", 1),
    "integration": (2, 4, "one run: options, start, stepper, failures", 2),
    "solution": (3, 5, "record, events, dense output", 1),
    "system": (1, 6, "what a user gives: f, h, names", 1),
    "memory": (3, 6, "the arrays of one run, reused", 1),
    "core/sliding": (0, 7.45, "sliding modes, rest on contacts", 1),
    "core/jumps": (1, 7.45, "jumps of the state at events", 1),
    "core/spans": (0, 8.4, "steps across many crossings", 1),
    "core/steps": (1, 8.4, "the loop: smooth steps, hops", 1),
    "core/stiff": (2, 8.4, "steps that fast modes do not limit", 1),
    "core/schemes": (3, 8.4, "schemes, as data", 1),
    "core/*.py": (0, 9.35, "codes, evaluations, guards: used by all of core", 2),
    "core/tangents": (2, 9.35, "perturbations along a record", 1),
    "core/compiler": (3, 9.35, "Numba's and LLVM's internals", 1),
    "core/state": (0, 10.3, "names of all memory: used by all of core", 2),
    "core/duals": (3, 10.3, "numbers that carry tangents", 1),
    "errors": (
        0,
        11.55,
        "exceptions; at the bottom with _optional.py and _typing.py: any layer but core may import them",
        4,
    ),
}
CORE = (LEFT - 10, TOP + 7.05 * ROW, WIDTH - 2 * (LEFT - 10), 4.05 * ROW)

# Direct imports, except those that the other arrows lead to already; and the way that the line takes (None: straight)
ARROWS = {
    ("cli", "reproduce"): None,
    ("cli", "bridges"): None,
    ("reproduce", "reporting"): None,
    ("reporting", "plot"): None,
    ("reproduce", "models"): "elbow",
    ("reproduce", "integration"): "elbow",
    ("bridges", "plot"): None,
    ("plot", "models"): None,
    ("plot", "ensembles"): None,
    ("cli", "cycles"): "margin",
    ("cycles", "integration"): "elbow",
    ("estimation", "ensembles"): None,
    ("ensembles", "derivative"): None,
    ("planning", "derivative"): "down",
    ("plot", "integration"): "elbow",
    ("models", "system"): None,
    ("derivative", "integration"): None,
    ("paper", "integration"): None,
    ("integration", "solution"): None,
    ("solution", "memory"): None,
    ("solution", "system"): "down",
    ("memory", "core"): None,
    ("system", "core"): None,
    ("core/sliding", "core/steps"): "elbow",
    ("core/jumps", "core/steps"): None,
    ("core/jumps", "core/sliding"): None,
    ("core/spans", "core/steps"): None,
    ("core/steps", "core/stiff"): None,
    ("core/stiff", "core/schemes"): None,
    ("core/schemes", "core/compiler"): None,
    ("core/tangents", "core/stiff"): None,
    ("core/compiler", "core/duals"): None,
}


def frame(name):
    """Left, top, width and height of a box."""
    if name == "core":
        return CORE
    column, row, _, columns = FOLDERS[name]
    return LEFT + column * STEP, TOP + row * ROW, BOX[0] + (columns - 1) * STEP, BOX[1]


def line(start, end, way):
    """Points of an arrow from one box to another."""
    x0, y0, w0, h0 = frame(start)
    x1, y1, w1, h1 = frame(end)
    if way == "elbow":  # out at the right, down the gap between the columns, in at the left
        gap = x0 + w0 + (STEP - BOX[0]) / 2
        return [(x0 + w0, y0 + h0 / 2), (gap, y0 + h0 / 2), (gap, y1 + h1 / 2), (x1, y1 + h1 / 2)]
    if way == "down":  # out at the left, down the gap between the columns, in at the right
        gap = x0 - (STEP - BOX[0]) / 2
        return [(x0, y0 + h0 / 2), (gap, y0 + h0 / 2), (gap, y1 + h1 / 2), (x1 + w1, y1 + h1 / 2)]
    if way == "margin":  # out at the left, down the left margin, in at the left
        return [(x0, y0 + h0 / 2), (LEFT / 2, y0 + h0 / 2), (LEFT / 2, y1 + h1 / 2), (x1, y1 + h1 / 2)]
    if y0 == y1:
        return [(x0 + w0, y0 + h0 / 2), (x1, y1 + h1 / 2)]
    x = (max(x0, x1) + min(x0 + w0, x1 + w1)) / 2
    return [(x, y0 + h0), (x, y1)] if y0 < y1 else [(x, y0), (x, y1 + h1)]


def box(name):
    x, y, w, h = frame(name)
    return (
        f'<rect x="{x:g}" y="{y:g}" width="{w:g}" height="{h:g}" rx="5" fill="#eef2f9" stroke="#33508c"/>\n'
        f'<text x="{x + w / 2:g}" y="{y + 21:g}" font-weight="bold" font-size="15">{name}</text>\n'
        f'<text x="{x + w / 2:g}" y="{y + 41:g}" font-size="12">{FOLDERS[name][2]}</text>\n'
    )


def arrow(start, end, way):
    points = " ".join(f"{x:g},{y:g}" for x, y in line(start, end, way))
    return f'<polyline points="{points}" fill="none" stroke="#5c6b7a" stroke-width="1.5" marker-end="url(#head)"/>\n'


def drawing():
    x, y, w, h = CORE
    note = "An arrow: imports.", "Imports that arrows already", "lead to are not drawn."
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
        'font-family="DejaVu Sans, Verdana, sans-serif" text-anchor="middle" fill="#1b2430">\n'
        '<defs><marker id="head" markerWidth="9" markerHeight="8" refX="8" refY="4" orient="auto" markerUnits="userSpaceOnUse">'
        '<path d="M0,0 L9,4 L0,8 z" fill="#5c6b7a"/></marker></defs>\n'
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>\n'
        f'<rect x="{x:g}" y="{y:g}" width="{w:g}" height="{h:g}" rx="8" fill="#fbf3e4" stroke="#8a6d3b"/>\n'
        f'<text x="{x + 12:g}" y="{y + 21:g}" font-size="13" text-anchor="start">'
        '<tspan font-weight="bold" font-size="15">core</tspan>'
        "  compiled with Numba; imports NumPy, Numba and nothing else</text>\n"
        + "".join(arrow(*ends, way) for ends, way in ARROWS.items())
        + "".join(map(box, FOLDERS))
        + "".join(
            f'<text x="{LEFT:g}" y="{TOP + 5.3 * ROW + 20 * q:g}" font-size="13" text-anchor="start">{text}</text>\n'
            for q, text in enumerate(note)
        )
        + "</svg>\n"
    )


if __name__ == "__main__":
    pathlib.Path(__file__).with_suffix(".svg").write_text(drawing())
