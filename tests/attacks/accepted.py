"""Values of the zoo that an argument takes without a word, and why that is right: all others must be refused."""

import sys
from dataclasses import dataclass
from typing import Any

from . import zoo


@dataclass(frozen=True)
class Rule:
    """These values are good for these arguments. An argument is "rtol" (of everything) or "Solution.word: side" (of one call)."""

    values: frozenset
    arguments: frozenset
    reason: str


def _rule(values, arguments, reason):
    labels, names = (frozenset(text.strip() for text in part.split(",")) for part in (values, arguments))
    return Rule(labels, names, reason)


_BRIDGES = [
    _rule(
        "0, 0.5, huge, 1e300",
        ", ".join(
            f"bridges.mujoco.{name}"
            for name in (
                "Contact: radius",
                "Contact: friction",
                "Coulomb: mu",
                "Coulomb: slip_speed",
                "Coulomb.rate: force",
                "Coulomb.rate: mass",
                "ExactCoulomb: mu",
                "HuntCrossley: damping",
                "HuntCrossley: exponent",
                "HuntCrossley: stiffness",
                "HuntCrossley.rate: depth",
                "HuntCrossley.rate: mass",
                "JointFriction: damping",
                "JointFriction: deflection",
                "JointFriction.rate: friction",
                "JointFriction.rate: inertia",
                "JointFriction.rate: speed",
                "LuGre: mu_d",
                "LuGre: mu_s",
                "LuGre: relax",
                "LuGre: sigma0",
                "LuGre: sigma1",
                "LuGre: sigma2",
                "LuGre: stribeck",
                "LuGre.rate: force",
                "LuGre.rate: mass",
                "LuGre.rate: speed",
                "Spring: damping",
                "Spring: stiffness",
                "Spring.rate: mass",
                "Stops: damping",
                "Stops: stiffness",
                "load: friction",
                "load: joint_friction",
            )
        ),
        "a number that is positive, or not negative, in the unit of the law",
    ),
    _rule(
        "-1, 0, 0.5, huge, 1e300",
        ", ".join(
            f"bridges.mujoco.{name}"
            for name in (
                "PD: target",
                "PD: kp",
                "PD: kd",
                "Sinusoid: centre",
                "Sinusoid: amplitude",
                "Sinusoid: frequency",
                "Sinusoid: phase",
                "Spring: preload",
                "Hold: u",
                "load: floor",
                "Robot.x: lift",
                "Robot.forces: t",
                "PiecewiseConstant.__call__: t",
            )
        ),
        "any number",
    ),
    _rule(
        "True",
        "bridges.mujoco.Spring: adhesion, bridges.mujoco.HuntCrossley: adhesion, bridges.mujoco.load: meshes, "
        "bridges.sympy.system: additive",
        "what it asks is answered by True",
    ),
    _rule(
        "text, another name",
        "bridges.mujoco.Contact: geom, bridges.mujoco.Contact: site, bridges.mujoco.Contact: against, "
        "bridges.mujoco.Contact: name, bridges.mujoco.load: name, bridges.sympy.system: name",
        "any text is a name; `load` looks for those of geoms and sites in the file",
    ),
    _rule("number for a name", "bridges.mujoco.load: joint_friction", "a speed"),
    _rule(
        "text, texts, name of nobody, empty list",
        "bridges.mujoco.load: package_dirs",
        "any text is the name of a folder",
    ),
    _rule(
        "empty list",
        "bridges.mujoco.load: contacts, bridges.mujoco.Robot.x: act",
        "nothing may touch; it has no activations",
    ),
    _rule("function of any", "bridges.mujoco.load: edit", "a function of the spec, whose result is not used"),
    _rule(
        "empty dict, dict of nobody, a key of nobody",
        "bridges.mujoco.load: params",
        "any text is the name of a parameter",
    ),
    _rule(
        "vector of 7, dict of nobody, reversed span, a key of nobody",
        "bridges.mujoco.PD: target",
        "an angle for each joint, which `load` finds in the file",
    ),
    _rule(
        "True, matrix, reversed span",
        "bridges.mujoco.Hold: u, bridges.mujoco.PiecewiseConstant: u",
        "a number for all inputs, or a row for each of two times; `load` knows how many inputs there are",
    ),
    _rule(
        "True, empty list, matrix, cube, vector of 7, reversed span",
        "bridges.mujoco.PiecewiseConstant.__call__: t",
        "an array of times",
    ),
    _rule(
        "empty dict",
        ", ".join(f"bridges.mujoco.Robot.{name}: p" for name in ("forces", "hold", "parameters")),
        "nothing is changed",
    ),
    _rule("one axis more", "bridges.mujoco.Robot.hold: U", "a row for each interval"),
    _rule("0", "bridges.mujoco.Robot.neutral: key", "the number of a keyframe"),
    _rule("matrix", "bridges.mujoco.Robot.tangent: B", "a matrix of two states"),
    _rule(
        "reversed span",
        ", ".join(
            f"bridges.mujoco.Robot.{name}"
            for name in (
                "data: x",
                "energy: x",
                "forces: x",
                "forces: b",
                "lift: x",
                "points: x",
                "project: x",
                "tangent: x1",
                "touching: b",
            )
        ),
        "two numbers: two states, or the signs of two guards",
    ),
    _rule(
        "dict of nobody, a key of nobody, vector of 7, reversed span, iterator, empty list, empty dict",
        "bridges.sympy.from_kane: guards, bridges.sympy.system: guards, bridges.sympy.system: rates",
        "numbers are expressions, any text is the name of a guard, and there may be none",
    ),
]
BLOCKS = {
    "thresholds": "u lo hi",
    "saturation": "u lo hi above_lo above_hi",
    "dead_zone": "u lo hi above_lo above_hi",
    "limited_integrator": "rate above_lo above_hi scale",
}

_B = ", ".join(
    f"{kind}.{name}: {{}}"
    for kind in ("BDerivative", "BDerivativeAtTimes")
    for name in ("__call__", "event_times", "matrix", "offset", "orders", "vjp")
)
_NUMBERS = "-1, 0, 0.5, True, huge, 1e300"
_POSITIVE = "0, 0.5, True, huge, 1e300"  # (each argument refuses those of them that it has to)
_CORE = [
    _rule("0, 0.5", "Solution.bderivative: t, Solution.bderivative: since", "a time of the trajectory"),
    _rule("-1, 0", "Solution.bderivative: event", "the number of an event, from the end, too"),
    _rule("True", "Solution.bderivative: params", "what it asks is answered by True"),
    _rule("0, 0.5, huge, 1e300", "Solution.bderivative: merge", "a duration"),
    _rule(
        "0, 0.5, one more, one less, ten times as many, empty list, reversed span",
        "Solution.sensitivity: t",
        "times of it",
    ),
    # options of integrations, which all that integrate have
    _rule("0.5", "rtol, derivative_rtol", "a tolerance below one, if a loose one"),
    _rule(_POSITIVE, "atol, eps, max_step", "a tolerance, a width or a length; beyond all sizes it decides nothing"),
    _rule("infinity", "max_step", "the default: no limit"),
    _rule(
        "huge, 1e300",
        "max_steps, max_solves, max_cycles, max_iterations, iterations, limit",
        "a limit that is not reached",
    ),
    _rule(_NUMBERS, "breakpoints", "any time; those outside the interval do not matter"),
    _rule("empty list, vector of 7, reversed span", "breakpoints", "times in any order, or none"),
    _rule("0, empty list, empty dict", "terminal", "a guard by its number, or none"),
    _rule("empty list", "t_eval", "the state is reported nowhere"),
    _rule("text, empty text, True", "progress", "True shows a bar, a text is its title"),
    _rule("-1, 0, 0.5, huge", "t0, solve: t_span", "any time is a start"),
    _rule("iterator", "t_span, limits", "two numbers that can be unpacked"),
    _rule(
        "empty dict",
        "p, dp, estimate, uncertain, bounds, prior, fixed, contacts, symmetry",
        "nothing is changed, or asked for",
    ),
    # systems
    _rule(
        "empty dict", "jumps, DR, Dp_R, Dt_R, active_while, System: rest, System: direction", "for none of the guards"
    ),
    _rule("empty list", "observers, order, System: rest, unit, drift, free, keep, wrt, guards", "none of them"),
    _rule(
        "0",
        "observers, System: order, System: rest, System.guard_index: guard, Filter.contact: guard, section, guards",
        "a guard by its number",
    ),
    _rule("one less", "System: order", "the others follow in their own order"),
    _rule("-1, 0, True", "System: direction", "a direction for all; True is the number 1"),
    _rule("True", "compile, sliding, quick, repair, resume, touching", "what it asks is answered by True"),
    _rule("texts, a name of nobody", "System: states", "any texts are names"),
    _rule("text, empty text, name of nobody", "System: guards", "any texts are names; one alone, too"),
    _rule("text, empty text, another name", "System: name", "any text is a name"),
    _rule(
        f"{_NUMBERS}, empty list, empty dict, reversed span", "System: params", "of a system whose functions use none"
    ),
    _rule("vector of 7, dict of nobody, a key of nobody", "System: params", "parameters by any names, or by number"),
    _rule("empty dict", "Stepper.p =: p", "nothing is changed"),
    _rule("None", "Stepper.p =: p", "the defaults"),
    _rule("0.5, huge, 1e300", "tol, normalised: eps", "a part; above one it hides everything, as asked for"),
    _rule("-1, 0, 0.5, huge, 1e300", "check: t, System.check: t, normalised: t", "any time"),
    _rule(
        f"{_NUMBERS}, empty list, matrix, cube, vector of 7, reversed span",
        "Schedule.__call__: t",
        "any times, of any shape",
    ),
    _rule("one axis more", "Schedule: values", "a row of inputs for each time"),
    _rule("0, 0.5", "Stepper.advance: until", "a time from the present to the end, or the nearest such"),
    # derivatives
    _rule("-1, 0, 0.5, huge, 1e300", _B.format(*["dt0"] * 12), "any number is a perturbation"),
    _rule(
        "empty list, vector of 7, reversed span",
        "BDerivative.__call__: dt0, BDerivativeAtTimes.__call__: dt0",
        "a batch",
    ),
    _rule("matrix", "BDerivative.__call__: dx, BDerivativeAtTimes.__call__: dx, Corner.__call__: dx", "a batch of two"),
    _rule(
        "reversed span",
        "dx, w, theta, by_x, f_before, f_after, Dh, target, U, planning.MPC.plan: x, planning.MPC.start: x",
        "two numbers",
    ),
    _rule("reversed span", "System.check: x, check: x, normalised: x, Corner: Dt_h", "two numbers"),
    _rule(_NUMBERS, "Rollout.linear: du", "a number is a vector of one"),
    _rule("matrix", "Corner: Dh", "two guards of two states"),
    _rule(_NUMBERS, "Corner: Dt_h, saltation: Dt_h", "any number is a rate"),
    _rule("-1", "Corner: before", "a word of one sign"),
    _rule(
        f"{_NUMBERS}, infinity, -infinity", "Shooting: failed", "any number, also an infinite one, stands for a failure"
    ),
    _rule("one less", "Shooting: free", "one name less"),
    _rule("matrix", "Shooting.fit: data", "two times of two states"),
    _rule(f"{_POSITIVE}, matrix, reversed span", "Shooting.fit: weights", "weights of all, of times, or of each value"),
    # ensembles
    _rule(f"{_NUMBERS}, vector of 7, reversed span", "grid: k, grid: z, Grid: k, Grid: z", "any numbers are an axis"),
    _rule("one more, one less, ten times as many", "grid: k, grid: z, Grid: k, Grid: z", "an axis of any length"),
    _rule(
        "-1, 0", "Ensemble.__getitem__: i, EnsembleEvents.__getitem__: i, Branch.__getitem__: k", "from the end, too"
    ),
    _rule(
        "0",
        "Grid.values: i, Grid.columns: first, Grid.columns: stop, Rollout.linear: k, Rollout.bderivative: k",
        "a number",
    ),
    _rule("0.5", "Rollout.bderivative: rtol", "a loose tolerance"),
    _rule(
        "NaN in it, infinity in it, as complex, as texts, one axis more",
        "Ensemble.on_grid: values",
        "of any type, and shape",
    ),
    _rule(
        "matrix, list with NaN, span of NaN, one less, NaN in it, infinity in it",
        "solve_many: x0",
        "starts that are not finite fail alone: their status says so",
    ),
    _rule("huge, 1e300", "solve_many: block, threads", "no more than there are trajectories"),
    _rule("text, empty text", "solve_many: identity, solve_many: store", "any text"),
    # estimation
    _rule(f"{_POSITIVE}, empty dict, matrix, reversed span", "P0, Q", "a variance of all, variances, or a matrix"),
    _rule(_POSITIVE, "Filter: R, Filter.update: R, particle_filter: R, fit: sigma", "a variance of all"),
    _rule(f"{_NUMBERS}, NaN, NaN in it", "Filter.update: values", "a measured value; NaN: none"),
    _rule("0, 0.5", "gate, error, contact_error", "a probability"),
    _rule("0, 0.5, huge, 1e300", "Filter.contact: noise", "a standard deviation"),
    _rule("0, 0.5, huge", "Filter.predict: t", "a time that is not before the present one"),
    _rule("0, huge, 1e300", "particle_filter: seed", "any whole number"),
    # cycles
    _rule("0.5", "find_cycle: period, find_cycle: settle", "a duration"),
    _rule("0", "find_cycle: settle", "a duration"),
    _rule("huge, 1e300", "find_cycle: crossings", "of a section that is no guard, they do not count"),
    _rule("matrix", "find_cycle: guess", "states at two times of a period that is given"),
    _rule("-1, 0, 0.5, huge, 1e300", "continue_cycle: stop, continue_cycle: backward", "any value of the parameter"),
    # planning
    _rule(
        _POSITIVE,
        "planning.Quadratic: x, planning.Quadratic: u, planning.Tracking: x, planning.Tracking: u",
        "a weight of all",
    ),
    _rule(
        "empty dict",
        "planning.Quadratic: x, planning.Quadratic: u, planning.Tracking: x, planning.Tracking: u",
        "no weights",
    ),
    _rule("reversed span", "planning.Quadratic: x, planning.Tracking: x", "two weights"),
    _rule("empty dict", "planning.Quadratic: target", "the default state"),
    _rule(_NUMBERS, "planning.Quadratic: rest, planning.Tracking: rest", "a number is a vector of one"),
    _rule("infinity in it", "planning.Plan: limits", "no limit on that side"),
    _rule("vector of 7, one less", "planning.Plan: times", "increasing times, of any number"),
    _rule("None", "planning.Plan.controls: U", "those in p"),
    _rule("0", "planning.Plan.solve: iterations, planning.MPC.start: iterations", "the first rollout alone"),
    _rule("0, 0.5, huge, 1e300", "tolerance, deadline, reach, latency", "a part, or a duration"),
    _rule("-1, 0, 0.5, huge", "planning.MPC.plan: t, planning.MPC.start: t, planning.MPC.shifted: t", "any time"),
    _rule("0, 0.5", "planning.Statistics.percentile: q", "a percentage"),
]

RULES: list[Rule] = [
    _rule("reversed span", "x0, atol, eps, guess", "two numbers: a value for each of two states, or guards"),
    _rule(
        "-1, 0, empty list, slice",
        "Events.__getitem__: key",
        "numbers of events (from the end too), slices and an empty list choose events as in NumPy",
    ),
    _rule(
        "0, 0.5, empty list",
        "Solution.__call__: t, Solution.word: t, Solution.rate: t",
        "a time within the trajectory, or no times",
    ),
    _rule("text, another name", "Solution.save: path", "any text is the name of a file"),
    _rule("-1, 0, 0.5, huge", "integrate: t0, integrate: tf", "any time is a start, and any later one an end"),
    _rule("reversed span", "integrate: x0", "two numbers are a state"),
    _rule(
        "function of any, a function that returns NaN, a function that returns text, a function that returns complex, "
        "a function that returns an empty tuple, a function that returns a vector of 7, a function that returns a ragged list, "
        "a function that returns an object",
        "plot.animate: draw",
        "a drawing draws, and what it returns is not looked at",
    ),
    _rule("0.5", "plot.animate: fps", "pictures may be shown for two seconds each"),
    _rule("0.5, huge, 1e300", "plot.animate: speed", "any pace; a film has at least two pictures"),
    _rule("0", "plot.animate: gait, plot.contacts: guards", "the number of a guard"),
    _rule("True", "plot.animate: gait", "all contacts"),
    _rule("text, empty text, True", "plot.animate: progress", "whether there is a bar, or its title"),
    _rule("-1", "plot.contacts: sign, plot.stretches: sign", "the other side"),
    _rule("0", "plot.stretches: sign", "stretches of sliding and rest"),
    _rule("-1, 0, 0.5, huge, 1e300", "plot.contacts: ties", "any time; a negative one draws no ties"),
    _rule("one more, a name twice", "plot.trajectory: states, plot.cycle: states", "a state may be drawn twice"),
    _rule("0.5, huge, 1e300", "plot.fan: radius, plot.perturbations: radius", "a circle of any size"),
    _rule("0", "plot.fan: state, plot.residuals: experiment", "a number"),
    _rule(
        "empty list, one more, one less, ten times as many",
        "plot.fan: levels",
        "any number of bands, or the median alone",
    ),
    _rule("text, empty text, another name", "plot.map: label, plot.track: label", "any text is a label"),
    _rule(
        "True",
        "plot.map: bar, plot.perturbations: flow, plot.trajectory: mark, plot.mechanisms.frame: floor",
        "a switch",
    ),
    _rule(
        "a key of nobody, a key of another kind",
        "plot.track: truth, plot.track: data",
        "columns that are not drawn are not looked at",
    ),
    _rule(
        "-1, 0, 0.5, huge, 1e300",
        "plot.mechanisms.frame: t, plot.mechanisms.project: azimuth, plot.mechanisms.project: elevation, "
        "plot.mechanisms.spring: width",
        "any number is a time, an angle or a width",
    ),
    _rule("reversed span", "plot.mechanisms.frame: across, plot.mechanisms.frame: up", "limits may run backwards"),
    _rule("reversed span", "plot.mechanisms.spring: start, plot.mechanisms.spring: stop", "two numbers are a point"),
    _rule("one more, ten times as many", "plot.mechanisms.project: points", "any number of points"),
    *_BRIDGES,
    _rule(
        "True, 0, -1, 0.5, 1e300, NaN, infinity, -infinity",
        ", ".join(f"blocks.{name}: {argument}" for name, arguments in BLOCKS.items() for argument in arguments.split()),
        "called in f at every evaluation: any number, of which only the order of lo and hi is looked at",
    ),
    _rule("text, another name", "blocks.relay: below, blocks.relay: above", "any text is the name of a guard"),
    _rule("text, 0", "blocks.relay: state", "any text is the name of a state, or a number"),
    _rule("-1, 0, 0.5, huge, 1e300", "blocks.relay: low, blocks.relay: high", "any number is an output"),
    _rule("text, empty text, another name", "models.Model: about, models.Model.unit: name", "any text"),
    _rule("0.5, huge, 1e300", "models.Model: tf, models.Model: speed", "any positive number"),
    _rule(
        "text, empty text, empty list, name of nobody, another name",
        "models.Model: gait",
        "names of guards, which are looked for when the diagram is drawn",
    ),
    _rule(
        "empty dict, dict of nobody, a key of nobody, text for a key, None for a key, object for a key, NaN for a key, "
        "complex for a key, vector of 7 for a key, empty list for a key",
        "models.Model: units, models.Model: cycle",
        "units of any names; arguments of find_cycle, which looks at them",
    ),
    _rule(
        "function of any, function that raises",
        "models.Model: draw, models.Model: make, models.Model: start",
        "build calls it",
    ),
    _rule("function of none", "models.Model: make", "a model without a size is made without arguments; build calls it"),
    _rule(
        ", ".join(f"a function that returns {what}" for what in zoo.RETURNS),
        "models.Model: make",
        "build calls it, and refuses what is no System",
    ),
    _rule(
        "vector of 7, reversed span, one more, one less, ten times as many",
        "models.Model: start",
        "build, which makes the system, compares it with its states",
    ),
    _rule("0, empty list", "models.ball_row: order", "the number of a guard; no order"),
    *_CORE,
]


def reason(name, argument, label, call):
    """Why this value is good for this argument; None if nothing says so."""
    plain = name.partition(" (")[0]
    for rule in RULES:
        if label in rule.values and ({argument, f"{plain}: {argument}"} & rule.arguments):
            return rule.reason
    return _declared(plain.removeprefix("models."), argument, label) if plain.startswith("models.") else None


def _declared(model, argument, label):
    """The reason for a value that is within the limits that a model declares."""
    limit: Any = getattr(sys.modules.get(f"bouligand.models.{model}"), "LIMITS", {}).get(argument)
    try:
        limit.read(argument, zoo.ZOO[label]())
    except (AttributeError, KeyError, TypeError, ValueError):
        return None
    return "within the limits that the model declares"
