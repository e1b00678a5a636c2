"""Pictures, on figures that are never shown."""

from functools import cache

import bouligand as bd

from . import Good, good
from .things import solution, system

GUARDS = ["nobody", 7, -1, ["nobody"], [None], [1.5], ["!foot"]]
STATES = ["z", ["nobody"], [7], [-1], [0.5], [None]]
PAIRS = [["z"], ["z", "z"], ["z", "nobody"], [0, 7], "zv", (0, 1, 1)]


def one():
    from matplotlib.figure import Figure

    return Figure().subplots()


def two():
    from matplotlib.figure import Figure

    return Figure().subplots(1, 2)


@cache
def derivative():
    return solution().bderivative()


@cache
def swept():
    return bd.solve_many(system(), (0.0, 0.3), [1.2, 0.0], bd.grid(g=[8.0, 9.0], k=[500.0, 900.0]), t_eval=[0.0, 0.3])


@cache
def cycle():
    from bouligand.models.rimless_wheel import START

    return bd.find_cycle(bd.models.rimless_wheel(), START, section="forward")


@cache
def branch():
    return bd.continue_cycle(cycle(), "gamma", stop=0.09)


@good("plot.trajectory")
def _():
    arguments = {"solution": solution(), "states": ["z"], "ax": one(), "points": 10, "mark": True}
    return Good(bd.plot.trajectory, arguments, particular={"states": STATES, "points": [1]})


@good("plot.contacts")
def _():
    arguments = {"solution": solution(), "guards": "foot", "ax": one(), "sign": 1, "ties": 0.01, "colour": "red"}
    return Good(
        bd.plot.contacts, arguments, particular={"guards": GUARDS, "sign": [0, 2], "colour": ["nobody", (1, 2)]}
    )


@good("plot.stretches")
def _():
    return Good(bd.plot.stretches, {"solution": solution(), "sign": 1}, particular={"sign": [2, "1", 1.0]})


@good("plot.perturbations")
def _():
    arguments = {
        "B": derivative(),
        "radius": 0.01,
        "plane": (0, 1),
        "image": ("z", "vz"),
        "count": 4,
        "flow": False,
        "ax": two(),
    }
    return Good(bd.plot.perturbations, arguments, particular={"plane": PAIRS, "image": PAIRS, "ax": [one(), [one()]]})


@good("plot.fan")
def _():
    arguments = {"B": derivative(), "radius": 0.01, "plane": (0, 1), "count": 2, "ax": one()}
    return Good(bd.plot.fan, arguments, particular={"plane": PAIRS, "state": [1], "levels": [(0.5,)]})


@good("plot.fan (ensemble)")
def _():
    arguments = {"B": swept(), "state": "z", "levels": (0.5, 0.9), "ax": one()}
    wrong = {
        "state": ["nobody", 7, -1],
        "levels": [[0.0], [1.5], 0.5],
        "radius": [0.1],
        "plane": [(1, 0)],
        "count": [3],
    }
    return Good(bd.plot.fan, arguments, particular=wrong)


@good("plot.map")
def _():
    arguments = {"ens": swept(), "values": "events", "ax": one(), "cmap": "viridis", "label": "a", "bar": False}
    return Good(bd.plot.map, arguments, particular={"values": ["nobody", [1.0], [1.0] * 5], "cmap": ["nobody"]})


@good("plot.cycle")
def _():
    return Good(bd.plot.cycle, {"cycle": cycle(), "states": [0], "axes": two()}, particular={"states": STATES})


@good("plot.branch")
def _():
    return Good(
        bd.plot.branch, {"branch": branch(), "value": "omega", "ax": one()}, particular={"value": ["nobody", 0]}
    )


@good("plot.residuals")
def _():
    from .things import fitted

    return Good(
        bd.plot.residuals, {"found": fitted(), "experiment": 0, "axes": two()}, particular={"experiment": [1, -1]}
    )


@cache
def tracked():
    from .things import data, filtering

    return filtering().run(data())


@good("plot.track")
def _():
    column = {"t": [0.1, 0.2], "z": [1.0, 1.1]}
    arguments = {
        "track": tracked(),
        "name": "z",
        "truth": column,
        "data": column,
        "ax": one(),
        "label": "a",
        "color": "C0",
    }
    wrong = [{"z": [1.0]}, {"t": [0.1], "z": [1.0, 2.0]}, {"t": ["a"], "z": [1.0]}, {"t": [0.1], "z": ["a"]}]
    return Good(bd.plot.track, arguments, particular={"truth": wrong, "data": wrong, "name": ["nobody"]})


@good("plot.animate")
def _():
    short = bd.solve(system(), (0.0, 0.05), [1.2, 0.0])
    arguments = {
        "solution": short, "draw": bd.plot.mechanisms.hopper, "path": "film.gif", "fps": 25, "speed": 1.0, "gait": "foot",
        "size": (1.0, 1.0), "dpi": 30.0, "progress": False,
    }  # fmt: skip
    wrong = {
        "path": ["film", "film.avi", "", "nowhere/film.gif"],
        "fps": [101],
        "gait": GUARDS,
        "size": [(0, 1), (1000, 1)],
    }
    return Good(
        bd.plot.animate, arguments, particular=wrong, raises=(FileNotFoundError,), says={"path": ("no folder",)}
    )


@good("plot.mechanisms.frame")
def _():
    arguments = {"ax": one(), "t": 0.0, "across": (0.0, 1.0), "up": (0.0, 1.0), "floor": True}
    return Good(bd.plot.mechanisms.frame, arguments)


@good("plot.mechanisms.spring")
def _():
    arguments = {"start": (0.0, 0.0), "stop": (0.0, 1.0), "coils": 3, "width": 0.1}
    return Good(bd.plot.mechanisms.spring, arguments, particular={"start": [(0.0,), (0.0, 1.0, 2.0)]})


@good("plot.mechanisms.project")
def _():
    arguments = {"points": [[0.0, 1.0, 2.0]], "azimuth": 0.1, "elevation": 0.2}
    return Good(bd.plot.mechanisms.project, arguments)
