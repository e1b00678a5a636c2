"""Ensembles and grids."""

import numpy as np

import bouligand as bd

from . import Good, good, made
from .systems import OPTIONS, SAYS
from .things import SPAN, START, ensemble, system

made("Ensemble", "EnsembleEvents")


@good("solve_many")
def _():
    arguments = {"system": system(), "t_span": SPAN, "x0": [list(START), [1.1, 0.1]], "p": {"k": [900.0, 1000.0]}}
    particular = {**OPTIONS, "keep": ["nobody", ["x", "nobody"]], "derivative": ["direct"], "on_failure": ["ignore"]}
    return Good(bd.solve_many, arguments | {"rtol": 1e-6}, particular=particular, says=SAYS)


@good("Ensemble.__getitem__")
def _():
    return Good(ensemble().__getitem__, {"i": 1}, particular={"i": [3, -4, 1.5]}, raises=(IndexError,))


@good("Ensemble.on_grid")
def _():
    on_grid = bd.solve_many(system(), SPAN, START, bd.grid(k=[900.0, 1000.0], g=[9.7, 9.8, 9.9]))
    return Good(on_grid.on_grid, {"values": np.arange(6.0)})


@good("Ensemble.verify")
def _():
    return Good(ensemble().verify, {"repair": False}, says={"repair": ("store",)})


@good("EnsembleEvents.__getitem__")
def _():
    return Good(ensemble().events.__getitem__, {"i": 1}, particular={"i": [3, -4, 1.5]}, raises=(IndexError,))


@good("grid")
def _():
    return Good(bd.grid, {"k": [900.0, 1000.0], "z": [1.0, 1.1, 1.2]})


@good("Grid")
def _():
    return Good(bd.Grid, {"k": [900.0, 1000.0], "z": [1.0, 1.1, 1.2]})


@good("Grid.columns")
def _():
    return Good(bd.grid(k=[900.0, 1000.0]).columns, {"first": 0, "stop": 2})


@good("Grid.values")
def _():
    return Good(bd.grid(k=[900.0, 1000.0]).values, {"i": 1}, particular={"i": [2, -3, 1.5]})
