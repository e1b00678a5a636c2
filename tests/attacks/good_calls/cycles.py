"""Periodic motions and their branches."""

import bouligand as bd

from . import Good, good, made
from .systems import OPTIONS, SAYS, STATES
from .things import branch, cycle

made("Bifurcation", "Branch", "Cycle")


@good("find_cycle")
def _():
    arguments = {"system": bd.models.hopper(), "guess": [2.0, 0.0], "section": "phase", "period": 1.4, "rtol": 1e-6}
    particular = {
        "guess": STATES[:3],
        "section": ["nobody", 7, ("foot", 2), ("nobody", 1)],
        "symmetry": [{"z": "nobody"}],
    }
    particular |= {"drift": ["nobody"], "free": ["nobody"], "fixed": [{"nobody": 1.0}, {"z": "a"}]}
    return Good(bd.find_cycle, arguments, particular=OPTIONS | particular, says=SAYS)


@good("continue_cycle")
def _():
    arguments = {"cycle": cycle(), "parameter": "k", "stop": 1002.0, "max_cycles": 4}
    return Good(bd.continue_cycle, arguments, particular={"parameter": ["nobody", 1.5]})


@good("Branch.__getitem__")
def _():
    return Good(branch().__getitem__, {"k": 0}, particular={"k": [100, -101, 1.5]}, raises=(IndexError,))


@good("Branch.states")
def _():
    return Good(branch().states, {"name": "z"})
