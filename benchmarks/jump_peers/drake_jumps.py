"""Drake: a LeafSystem whose witness function triggers an update of the state; compiled functions, called from Python."""

from types import SimpleNamespace

import numpy as np
from pydrake.systems.analysis import Simulator
from pydrake.systems.framework import EventStatus, LeafSystem, UnrestrictedUpdateEvent, WitnessFunctionDirection

from . import arm


class Hybrid(LeafSystem):
    """Continuous state x, discrete state b; the margin is the witness."""

    def __init__(self, problem):
        super().__init__()
        self.f, self.margin, self.land = problem.functions
        self.dx, self.times = np.empty(problem.n), []
        self.DeclareContinuousState(problem.n)
        self.DeclareDiscreteState([problem.b0])
        self.witness = self.MakeWitnessFunction(
            "margin",
            WitnessFunctionDirection.kPositiveThenNonPositive,
            self.watch,
            UnrestrictedUpdateEvent(self.jump),
        )

    def b(self, context):
        return context.get_discrete_state(0).get_value().copy()

    def DoCalcTimeDerivatives(self, context, derivatives):
        x = context.get_continuous_state_vector().CopyToVector()
        self.f(context.get_time(), x, self.b(context), self.dx)
        derivatives.get_mutable_vector().SetFromVector(self.dx)

    def watch(self, context):
        x = context.get_continuous_state_vector().CopyToVector()
        return self.margin(context.get_time(), x, self.b(context)) + 1e-12

    def DoGetWitnessFunctions(self, context):
        return [self.witness]

    def jump(self, context, event, state):
        x, b = context.get_continuous_state_vector().CopyToVector(), self.b(context)
        self.times += [context.get_time()] * self.land(context.get_time(), x, b)
        state.get_mutable_continuous_state().get_mutable_vector().SetFromVector(x)
        state.get_mutable_discrete_state().get_mutable_vector(0).SetFromVector(b)
        return EventStatus.Succeeded()


def build(problem, accuracy):
    system = Hybrid(problem)
    simulator = Simulator(system)
    integrator = simulator.get_mutable_integrator()
    integrator.set_target_accuracy(accuracy)
    integrator.set_maximum_step_size(problem.grid)
    context = simulator.get_mutable_context()
    context.SetAccuracy(accuracy)  # (by which witness functions are isolated)

    def solve():
        system.times.clear()
        context.SetTime(0.0)
        context.get_mutable_continuous_state_vector().SetFromVector(problem.x0)
        context.get_mutable_discrete_state(0).SetFromVector([problem.b0])
        simulator.Initialize()
        simulator.AdvanceTo(problem.tf)
        return list(system.times), context.get_continuous_state_vector().CopyToVector()

    return arm(problem, f"accuracy={accuracy:.0e}", solve)


PEERS = [
    SimpleNamespace(
        NAME="Drake",
        PACKAGE="drake",
        GIVEN="a LeafSystem with a witness function; its integrator (RK3) by accuracy, with step caps",
        settings=lambda problem: [1e-3, 1e-5, 1e-7, 1e-9],
        build=build,
    )
]
