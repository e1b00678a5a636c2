"""The peers, one a file, behind one small interface.

A peer's module has

- ``NAME``: as in tables and figures (`bouligand.reporting.figures.COLOURS`), and ``PACKAGE``: what pip calls it (None: nothing
  to install);
- ``settings(problem)``: its precision settings, loosest first; empty if it cannot express the problem's law;
- ``build(problem, setting)``: an `Arm`, compiled and ready. ``build_ties(problem, setting)``, where it differs, builds it
  with one event for each guard, as its manual shows, for the table of ties; ``TIES`` is its setting there;
- ``name(problem)``, where a peer goes by different names;
- ``GIVEN``: one line for the docs: what it was given.

An arm's ``run`` is what is timed: from the start to the end of the interval; every peer returns at least the state there.
"""

import pathlib
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

import numpy as np

from bouligand.reporting.machine import source_hash

# In the order in which tables list them; ours last.
MODULES = (
    "scipy_rk45",
    "scipy_dop853",
    "cvode",
    "diffrax_tsit5",
    "heyoka_taylor",
    "mujoco_steps",
    "mujoco_soft",
    "pybullet_contact",
    "dart_spring",
    "ode_contact",
    "plain_rk4",
    "plain_dopri5",
    "ours",
)


def decades(loosest, tightest, each=2):
    """So many settings a decade, for those that are close to each other."""
    return [float(f"{10.0 ** (q / each):.0e}") for q in range(each * loosest, each * tightest - 1, -1)]


@dataclass
class Arm:
    """One peer at one setting on one problem."""

    setting: str
    run: Callable[[], np.ndarray]  # to the end: the state there, (n,)
    sample: Callable[[], np.ndarray]  # states at the problem's times, (1000, n)
    events: Callable[[], int | None] = lambda: None  # crossings that the last run acted on; None: it knows of none


def stepped(problem, dt, reset, advance, state):
    """The arm of a simulator of the hopper that takes steps of one length: ``advance(steps)`` from where ``reset()`` left it."""
    steps = round(problem.tf / dt)

    def run():
        reset()
        advance(steps)
        return state()

    def sample():
        reset()
        out = np.empty((len(problem.times), problem.n))
        for row in out:
            advance(steps // len(problem.times))
            row[:] = state()
        return out

    return Arm(f"dt={dt * 1e3:.2g} ms", run, sample)


def load(only=None):
    """The peers that can be used, and the names of those that cannot, with the reason."""
    usable, skipped = [], {}
    for name in MODULES:
        if only and name not in only:
            continue
        try:
            usable.append(import_module(f"{__name__}.{name}"))
        except ImportError as error:
            skipped[name] = f"not installed ({error})"
    return usable, skipped


def say_skipped(skipped):
    for name, reason in skipped.items():
        print(f"skipped: {name}: {reason}", file=sys.stderr)


def packages(peers):
    """Names of what the peers are installed as, for the versions in the results."""
    return sorted({peer.PACKAGE for peer in peers if peer.PACKAGE})


def source():
    """A hash of the benchmarks themselves: cells measured by other code are not continued."""
    return source_hash(pathlib.Path(__file__).parent.parent)
