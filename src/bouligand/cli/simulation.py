"""What ``bouligand run`` simulates, and the integration of it."""

import contextlib
import time

from ..errors import SolveError
from ..integration.stepper import Stepper
from .assignments import assignments
from .errors import CommandError

PATIENCE = 2.0  # seconds: an integration that takes longer shows a progress bar


class Simulation:
    """A system with what is needed to simulate and to show it: a ready model or a robot file."""

    name: str  # of the folder for the results
    tf: float  # end of the simulation
    speed: float  # of the animation, relative to real time
    gait = None  # guards in the gait diagram, see `plot.contacts`
    has_animation = True

    def __init__(self, system, start):
        self.system = system
        self.start = start

    def initial_state(self, changes):
        """The state at t = 0: the usual one, with the changes {state: value} that --x0 asks for."""
        x0 = self.start.copy()
        for name, value in changes.items():
            x0[self.system.states.index(name)] = value
        return x0

    def unit(self, name):
        """Unit of a state or of the time, ``"t"``, for the figures; empty if it is not known."""
        return "s" if name == "t" else ""

    def panels(self, solution, times):
        """Curves over these times for figures, {figure: [(label, {curve: values})]}; empty: the states as they are."""
        return {}

    def animate(self, solution, path, **options):
        """Save an animation of the solution."""
        raise NotImplementedError

    def view(self, solution, viewer):
        """Show the solution live (--view)."""
        raise NotImplementedError


def solve(simulation, arguments):
    """The solution, also of an integration that fails on the way."""
    system = simulation.system
    x0 = simulation.initial_state(assignments("--x0", arguments.x0, system.states, "state"))
    p = assignments("--p", arguments.p, system.params, "parameter")
    try:
        on_graze = arguments.on_graze.replace("-", " ")
        tolerances = {"rtol": arguments.rtol, "atol": arguments.atol}
        stepper = Stepper(system, (0.0, simulation.tf), x0, p, **tolerances, on_graze=on_graze)
    except (ValueError, SolveError) as error:  # for example a start on a guard with an ambiguous mode
        raise CommandError(str(error)) from error
    began = time.perf_counter()
    with contextlib.suppress(SolveError):  # the stepper keeps the error, and `run` reports it after saving the results
        while stepper.status == "running" and time.perf_counter() - began < PATIENCE:
            stepper.step()
    solution = stepper.finish("return", simulation.name if stepper.status == "running" else None)
    if not len(solution.t):
        raise CommandError(f"the integration did not start: {solution.message}", 1)
    return solution
