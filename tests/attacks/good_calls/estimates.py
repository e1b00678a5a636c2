"""Fits and filters."""

import numpy as np

import bouligand as bd

from . import Good, good, made
from .systems import OPTIONS, SAYS, STATES
from .things import START, data, filtering, solution, system, track

made("FitResult", "Track")

TIME = {"t0": ("t",)}
OBSERVE = ["nobody", ["z", None], ["z", "nobody"]]


@good("fit")
def _():
    arguments = {"system": system(), "data": data(), "x0": list(START), "free": "k", "sigma": 0.01, "rtol": 1e-6}
    arguments |= {"bounds": {"k": (500.0, 2000.0)}, "prior": {"k": (1000.0, 100.0)}}
    particular = {"free": ["nobody", ["k", "k"]], "bounds": [{"k": (2.0, 1.0)}, {"k": 5.0}, {"nobody": (0.0, 1.0)}]}
    particular |= {"prior": [{"k": (1.0, -1.0)}, {"k": 5.0}], "x0": STATES, "observe": OBSERVE, "loss": ["cubic"]}
    return Good(bd.fit, arguments, particular=OPTIONS | particular, says=SAYS)


@good("Filter")
def _():
    arguments = {"system": system(), "x0": list(START), "P0": [1e-4, 1e-4], "observe": "z", "R": 1e-4, "rtol": 1e-6}
    arguments |= {"Q": [1e-6, 1e-6], "estimate": {"k": 100.0}, "uncertain": {"g": 0.01}}
    particular = {
        "P0": [[-1.0, 1.0], [[1.0, 2.0], [0.0, 1.0]], [[1.0, 2.0], [2.0, 1.0]]],
        "R": [-1.0, 0.0],
        "Q": [[-1.0, 1.0]],
    }
    particular |= {
        "estimate": [{"nobody": 1.0}, {"k": -1.0}],
        "uncertain": [{"nobody": 1.0}, {"g": -1.0}],
        "x0": STATES,
    }
    particular |= {"observe": OBSERVE, "method": ["kalman"]}
    later = {
        "R": "what is measured is known with the data",
        "observe": "the same",
        "t0": "the times come with the data",
    }
    return Good(
        bd.Filter,
        arguments,
        then=lambda it: it.run(data()),
        particular=OPTIONS | particular,
        says=SAYS | TIME,
        later=later,
    )


@good("Filter.predict")
def _():
    return Good(filtering().predict, {"t": 0.1}, particular={"t": [-1.0]})


@good("Filter.update")
def _():
    return Good(filtering().update, {"values": [1.2]}, particular={"observe": OBSERVE, "R": [-1.0]})


@good("Filter.contact")
def _():
    it = filtering().predict(0.2)
    return Good(
        it.contact, {"guard": "foot", "touching": True}, particular={"guard": ["nobody", 7], "error": [1.0, -0.1]}
    )


@good("Filter.run")
def _():
    touching = solution().word(data()["t"])[:, 0] > 0
    return Good(
        filtering().run,
        {"data": data(), "contacts": {"foot": touching}},
        particular={"data": [{"z": [1.0]}, {"t": [0.1]}]},
    )


@good("particle_filter")
def _():
    arguments = {"system": system(), "data": data(), "x0": list(START), "P0": [1e-4, 1e-4], "R": 1e-4, "count": 20}
    arguments |= {"estimate": {"k": 100.0}, "uncertain": {"g": 0.01}, "rtol": 1e-6, "Q": [1e-6, 1e-6]}
    particular = {"P0": [[-1.0, 1.0]], "R": [-1.0, 0.0], "observe": OBSERVE, "x0": STATES}
    return Good(bd.particle_filter, arguments, particular=OPTIONS | particular, says=SAYS)


@good("Track.__getitem__")
def _():
    return Good(track().__getitem__, {"name": "z"})


@good("Track.std")
def _():
    return Good(track().std, {"name": "z"})


@good("Track.nees")
def _():
    return Good(track().nees, {"truth": np.array(solution()(track().t))})
