"""The SymPy bridge: the same numbers as by hand, exact Jacobians, refusals by name, and what the cache on disk does."""

import itertools
import sys

import numpy as np
import pytest

import bouligand as bd
from bouligand.models.hopper import crossings as hopper_crossings
from bouligand.models.hopper import exact as hopper_exact
from bouligand.models.plate import START as PLATE_START

from ..helpers import flow

sympy = pytest.importorskip("sympy")

from sympy.physics import mechanics  # noqa: E402

from bouligand.bridges.sympy import switching  # noqa: E402
from bouligand.bridges.sympy.program import Program  # noqa: E402

from ..helpers import derived  # noqa: E402
from ..helpers.symbolic import DEFAULTS, FOOT, PUSH, g, hopper, k, rest, s, system, t, v, w, z  # noqa: E402


def one_sided(B, solve, x0, direction, step=1e-6):
    """What the true flow leaves of B's first order, relative, for a small step along a direction and against it."""
    left = []
    for d in (step * direction, -step * direction):
        change = solve(x0 + d) - solve(x0)
        left.append(np.abs(change - B(d)).max() / np.abs(change).max())
    return max(left)


# ------------------------------------------------------------------------------------------- three ways to switch

WAYS = {
    "sides": ([v, -g + (1 + s) / 2 * PUSH], [s]),
    "sides by name": ({z: v, v: -g + (1 + s) / 2 * PUSH}, {"foot": s}),
    "condition on a side": ([v, -g + sympy.Piecewise((PUSH, s > 0), (0, True))], [s]),
    "Piecewise": ([v, -g + sympy.Piecewise((PUSH, rest - z > 0), (0, True))], None),
    "Piecewise, the other way round": ([v, -g + sympy.Piecewise((0, z >= rest), (PUSH, True))], None),
    "Piecewise, a multiple": ([v, -g + sympy.Piecewise((PUSH, 3 * z < 3 * rest), (0, True))], None),
    "Piecewise without an else": ([v, sympy.Piecewise((PUSH - g, z < rest), (-g, z >= rest))], None),
    "Piecewise with Not": ([v, -g + sympy.Piecewise((0, ~(z < rest)), (PUSH, True))], None),
    "words": ({(-1,): [v, -g], (1,): [v, -g + PUSH]}, None),
    "words as signs": ({-1: {z: v, v: -g}, 1: {z: v, v: -g + PUSH}}, None),
}


@pytest.mark.parametrize("way", WAYS)
def test_every_way_to_switch_gives_the_hopper(way):
    rates, sides = WAYS[way]
    made = hopper(rates, sides, compile=False)
    for x, side in itertools.product((np.array([0.9, -2.0]), np.array([1.4, 3.0])), (-1.0, 1.0)):
        word = np.array([side])
        push = -1000.0 if side > 0 else 0.0
        assert np.allclose(
            made.function("f")(0.0, x, word, made.defaults), [x[1], push * (x[0] - 1.0) - 9.81], rtol=1e-14
        )
        assert np.array_equal(made.function("Df")(0.0, x, word, made.defaults), [[0.0, 1.0], [push, 0.0]])


def test_the_hopper_against_its_closed_form():
    sol = bd.solve(hopper(WAYS["Piecewise"][0], None), (0.0, 2.0), [2.0, 0.0], rtol=1e-10)
    assert np.abs(sol.x - hopper_exact(sol.t)).max() < 1e-8
    assert np.allclose(sol.events.t, hopper_crossings(2.0), atol=1e-9)


def test_a_word_without_rates_is_refused_when_it_is_reached():
    falls = hopper({(-1,): [v, -g]}, None)
    assert bd.solve(falls, (0.0, 0.4), [2.0, 0.0]).success
    with pytest.raises(ValueError, match=r"none are given for this mode of \(foot\).*1") as caught:
        bd.solve(falls, (0.0, 2.0), [2.0, 0.0])
    assert "t = 0.45" in "".join(caught.value.__notes__)


def test_choices_on_two_guards():
    a, b = sympy.symbols("a b", positive=True)
    both = sympy.Piecewise((3, sympy.And(z > a, v < b)), (sympy.Piecewise((2, z > a), (1, True)), True))
    made = system([z, v], [both, 0], {"one": z - a, "two": b**2 - b * v}, {a: 1.0, b: 2.0}, compile=False)
    for word, wanted in (((1, 1), 3), ((1, -1), 2), ((-1, 1), 1), ((-1, -1), 1)):
        assert made.function("f")(0.0, np.zeros(2), np.array(word, dtype=float), made.defaults)[0] == wanted


def test_conditions_of_any_logic():
    a, b = z > 0, v > 1
    odd = sympy.Piecewise((1, sympy.Xor(a, b)), (2, sympy.Implies(a, v < 0)), (3, True))
    made = system([z, v], [odd, v], {"one": z, "two": v - 1, "three": -v}, compile=False)
    for word in itertools.product((-1.0, 1.0), repeat=3):
        on = [side > 0 for side in word]
        wanted = 1 if on[0] != on[1] else 2 if not on[0] or on[2] else 3
        assert made.function("f")(0.0, np.zeros(2), np.array(word), made.defaults)[0] == wanted


# ------------------------------------------------------------------------------------------------ against the plate


@pytest.fixture(scope="module")
def plates():
    return derived.plate(4), bd.models.plate(4)


def test_the_plate_has_the_field_of_the_model(plates):
    ours, model = derived.plate(4, compile=False), plates[1]
    assert ours.states == model.states
    assert ours.params == model.params
    assert np.array_equal(ours.defaults, model.defaults)
    random = np.random.default_rng(0)
    for _ in range(40):
        x = random.normal(size=6) * [1.0, 1.0, 0.3, 2.0, 2.0, 2.0]
        word = random.choice([-1.0, 1.0], 4)
        for name, arguments in {"f": (word,), "h": (), "Df": (word,), "Dp_f": (word,), "Dp_h": ()}.items():
            one, other = (q.function(name)(0.0, x, *arguments, q.defaults) for q in (ours, model))
            assert np.allclose(one, other, rtol=1e-13, atol=1e-13 * np.abs(other).max()), name


@pytest.mark.parametrize("rtol", [1e-6, 1e-10])
def test_the_plate_has_the_trajectory_of_the_model(plates, rtol):
    one, other = (bd.solve(q, (0.0, 1.0), PLATE_START, rtol=rtol) for q in plates)
    assert len(one.events) == len(other.events) > 4
    assert np.array_equal(one.events.guard, other.events.guard)
    assert np.abs(one.events.t - other.events.t).max() < 1e-12
    assert np.abs(one.x[-1] - other.x[-1]).max() < 1e-12 * np.abs(other.x).max()


def test_the_derivative_of_the_plate(plates):
    x0 = np.array([0.0, 1.2, 0.0, 0.1, 0.0, 0.0])  # level: four springs at one instant
    matrices = []
    for q in plates:
        B = bd.solve(q, (0.0, 0.4), x0, rtol=1e-12).bderivative()
        assert B.corners
        direction = np.array([0.3, 1.0, 0.7, -0.2, 0.5, 1.1])
        assert one_sided(B, lambda x, q=q: flow.end(q, (0.0, 0.4), x), x0, direction) < 1e-4
        matrices.append(B.matrix(direction))
    one, other = matrices
    assert np.abs(one - other).max() < 1e-9 * np.abs(other).max()


def test_jacobians_pass_the_check():
    assert derived.plate(4, compile=False).check([0.0, 1.0, 0.01, 0.3, -2.0, 0.1]).ok


# ---------------------------------------------------------------------------------------- Jacobians and time


def test_guards_and_rates_that_depend_on_time():
    made = system(
        [z, v],
        [
            v * sympy.cos(t) + sympy.atan2(z, 3 + t),
            sympy.erf(v) + sympy.exp(-t) * s * sympy.sec(z / 4) / (1 + z**2) ** sympy.Rational(3, 2),
        ],
        {"wave": z - k * sympy.sin(g * t) * sympy.tanh(v), "level": v - sympy.sqrt(2 + z**2)},
        {g: 2.0, k: 0.3},
        sides=[s, w],
        compile=False,
    )
    report = made.check([0.4, 0.9], t=0.7)
    assert set(report.jacobians) >= {"Df", "Dh_row", "Dt_h", "Dp_f", "Dp_h"}
    assert max(report.jacobians.values()) < 1e-8


def test_derivatives_of_programs_are_those_of_the_expressions():
    random = np.random.default_rng(1)
    x = sympy.symbols("x:4")
    on = sympy.Symbol("on0")
    for _ in range(4):
        pool = list(x)
        for _ in range(9):
            a, b, c = (pool[i] for i in random.integers(len(pool), size=3))
            pool.append(
                [a * b + c, sympy.sin(a) - b, a / (2 + b**2), sympy.sqrt(a**2 + b**2 + 1), a + b + c + a * c + 1][
                    random.integers(5)
                ]
            )
        outputs = [pool[-1], pool[-1] * pool[-2], sympy.Piecewise((pool[-1], on), (pool[-3], True)) * x[0]]
        program, elements = Program.of(outputs).derivative(x, range(3))
        at = {**{q: float(value) for q, value in zip(x, random.normal(size=4), strict=True)}, on: sympy.true}
        values = dict(at)
        for symbol, e in program.statements:
            values[symbol] = e.subs(values)
        for i, j in itertools.product(range(3), range(4)):
            wanted = float(outputs[i].diff(x[j]).subs(at))
            found = float(sympy.sympify(elements.get((i, j), 0)).subs(values))
            assert abs(found - wanted) <= 1e-9 * max(1.0, abs(wanted))


def test_what_is_not_chosen_may_be_nan():
    deep = sympy.Piecewise((k * (rest - z) ** sympy.Rational(3, 2), rest - z > 0), (0, True))
    made = hopper([v, deep - g], None)
    x, word = np.array([1.5, 0.3]), np.array([-1.0])  # off the ground, where the root is not real
    assert np.array_equal(made.function("Df")(0.0, x, word, made.defaults), [[0.0, 1.0], [0.0, 0.0]])
    assert np.array_equal(made.function("Dp_f")(0.0, x, word, made.defaults), [[0.0, 0.0, 0.0], [-1.0, 0.0, 0.0]])


def test_what_f_and_h_share_is_computed_once():
    height = sympy.sin(z) * sympy.exp(-(v**2)) + sympy.sqrt(1 + z**2)  # dear, and in both
    made = system([z, v], [v, -z + (1 + s) * height], {"level": height - k}, {k: 1.2}, sides=[s])
    assert made.has("fh")
    x, word = np.array([0.3, 0.4]), np.array([1.0])
    dx, out = np.empty(2), np.empty(1)
    made._functions["fh"].function(0.0, x, word, made.defaults, dx, out)
    value = np.sin(0.3) * np.exp(-0.16) + np.sqrt(1.09)
    assert np.allclose(dx, [0.4, -0.3 + 2.0 * value], rtol=1e-14)
    assert np.allclose(out, value - 1.2, rtol=1e-14)
    assert not hopper().has("fh")
    apart = bd.System(made._functions["f"].function, made._functions["h"].function, n=2, m=1, params=[1.2])
    one, other = (bd.solve(q, (0.0, 3.0), [0.1, 0.0], rtol=1e-9).x[-1] for q in (made, apart))
    assert np.abs(one - other).max() < 1e-11


def test_floats_keep_all_their_digits():
    value = 0.1 + 0.2
    made = system([z], [value * z + sympy.Float(1 / 3)], params={}, compile=False)
    assert repr(value) in made.source
    assert repr(1 / 3) in made.source
    assert made.m == 0
    assert abs(bd.solve(system([z], [-z]), (0.0, 1.0), [1.0], rtol=1e-11).x[-1, 0] - np.exp(-1.0)) < 1e-10


# -------------------------------------------------------------------------------------------- sums over contacts


def test_a_sum_over_contacts_is_found_and_declared():
    made = derived.plate(3, additive=True)
    assert {"f0", "g", "g_many"} <= set(made._functions)
    assert derived.plate(3, additive=True, compile=False).check([0.0, 1.0, 0.01, 0.3, -2.0, 0.1]).ok
    sol, model = (bd.solve(q, (0.0, 1.0), PLATE_START, rtol=1e-9) for q in (made, bd.models.plate(3)))
    assert np.abs(sol.x[-1] - model.x[-1]).max() < 1e-7
    assert not derived.plate(3).has("g")  # few contacts: not worth it
    assert not derived.plate(9, additive=False, compile=False).has("g")


def test_contacts_that_are_alike_share_one_loop():
    made, model = derived.plate(12), bd.models.plate(12)
    assert "o0 = p[6 + 1 * k]" in made.source
    assert len(derived.plate(40, compile=False).source.split("def f(")[1]) < 1.1 * len(made.source.split("def f(")[1])
    assert derived.plate(12, compile=False).check([0.0, 1.0, 0.01, 0.3, -2.0, 0.1]).ok
    one, other = (bd.solve(q, (0.0, 1.0), PLATE_START, rtol=1e-10) for q in (made, model))
    assert np.array_equal(one.events.guard, other.events.guard)
    assert np.abs(one.x[-1] - other.x[-1]).max() < 1e-12 * np.abs(other.x).max()


def test_contacts_that_differ_have_lines_of_their_own():
    levels, sides = sympy.symbols("l:8"), sympy.symbols("b:8")
    guards = [z - level for level in levels]
    values = {level: float(i) for i, level in enumerate(levels)}
    pulls = [(1 + b) * (level - z) for b, level in zip(sides, levels, strict=True)]

    def made(pulls, order=levels):
        params = {level: values[level] for level in order}
        return system([z], [1 + sum(pulls)], guards, params, sides=sides, compile=False)

    def is_loop(q):
        return "for k in range(8)" in q.source.split("def f(")[1].split("def ")[0]

    assert is_loop(made(pulls))
    for other in (made([*pulls[:-1], 2 * pulls[-1]]), made(pulls, [*levels[1:], levels[0]])):
        assert not is_loop(other)
        x, word = np.array([3.5]), np.array([1.0, -1.0] * 4)
        some = 2.0 * sum(level - 3.5 for level in (0.0, 2.0, 4.0, 6.0))
        assert np.allclose(other.function("f")(0.0, x, word, other.defaults), 1.0 + some)
        assert max(other.check(x).jacobians.values()) < 1e-8


def test_sums_are_told_from_what_is_none():
    b, x = sympy.symbols("b:3"), sympy.Symbol("x0")
    on = [switching.on(i) for i in range(3)]

    def of(*rates, mass=None):
        return switching.contacts(list(rates), mass, 3)

    f0, parts = of(x + b[0] * x**2 + sympy.Piecewise((sympy.sin(x), on[1]), (x, True)), 3 * (b[2] * x + 1) / (1 + x))
    assert sympy.simplify(f0[0] - (2 * x - x**2)) == 0
    assert [sympy.simplify(q[0]) for q in parts] == [2 * x**2, sympy.sin(x) - x, 0]
    assert [sympy.simplify(q[1] * (1 + x)) for q in parts] == [0, 0, 6 * x]
    assert of(b[0] ** 2 * x + b[1] ** 3)[1][0] == [0]
    assert of((1 + b[0]) * (x + b[0]))[1][0] == [2 + 2 * x]
    assert of(b[0] * b[1]) is None
    assert of(sympy.sin(b[0] * x)) is None
    assert of(sympy.Piecewise((1, on[0] & on[1]), (0, True))) is None
    assert of(b[0] * x, mass=[[x + b[1]]]) is None
    with pytest.raises(ValueError, match="additive=True, but the rates are not a sum"):
        system([z], [s * w], [z, z - 1], sides=[s, w], additive=True)


# --------------------------------------------------------------------------------------------------- mechanics


def chain(count, method):
    """A pendulum of rods on a cart, with a spring that the cart touches at rest: coordinates, equations, guards, values."""
    q, u = mechanics.dynamicsymbols(f"q:{count}"), mechanics.dynamicsymbols(f"u:{count}")
    frame, origin = mechanics.ReferenceFrame("N"), mechanics.Point("O")
    origin.set_vel(frame, 0)
    speeds = {a.diff(): b for a, b in zip(q, u, strict=True)} if method == "kane" else {}
    last = origin.locatenew("P0", q[0] * frame.x)
    last.set_vel(frame, q[0].diff().xreplace(speeds) * frame.x)
    bodies = [mechanics.Particle("cart", last, 2)]
    side, c = sympy.symbols("side c")
    hit = (1 + side) / 2 * (-k * (q[0] - rest) - c * q[0].diff().xreplace(speeds))
    loads = [(last, hit * frame.x)]
    for i in range(1, count):
        point = last.locatenew(f"P{i}", sympy.sin(q[i]) * frame.x - sympy.cos(q[i]) * frame.y)
        point.set_vel(
            frame,
            last.vel(frame) + (q[i].diff().xreplace(speeds)) * (sympy.cos(q[i]) * frame.x + sympy.sin(q[i]) * frame.y),
        )
        bodies.append(mechanics.Particle(f"mass{i}", point, 1))
        loads.append((point, -g * frame.y))
        last = point
    if method == "kane":
        made = mechanics.KanesMethod(frame, q, u, [b - a for a, b in speeds.items()])
        made.kanes_equations(bodies, loads)
    else:
        made = mechanics.LagrangesMethod(mechanics.Lagrangian(frame, *bodies), q, forcelist=loads, frame=frame)
        made.form_lagranges_equations()
    return made, {"stop": q[0] - rest}, {g: 9.81, k: 900.0, c: 3.0, rest: 0.2}, [side]


@pytest.mark.parametrize("count", [1, 2, 4])
def test_kanes_equations_are_solved_and_differentiated(count):
    kane, guards, values, sides = chain(count, "kane")
    made = bd.bridges.sympy.from_kane(kane, guards, values, sides=sides, compile=False)
    assert ("factor" in made.source) == (count > 2)
    random = np.random.default_rng(2)
    symbols = [*kane.q, *kane.u, *values, *sides]
    M, forcing = (sympy.lambdify(symbols, e, "numpy", dummify=True) for e in (kane.mass_matrix, kane.forcing))
    for side in (-1.0, 1.0):
        x = random.normal(size=2 * count)
        numbers = (*x, *made.defaults, side)
        wanted = np.append(x[count:], np.linalg.solve(M(*numbers), forcing(*numbers)))
        found = made.function("f")(0.0, x, np.array([side]), made.defaults)
        assert np.allclose(found, wanted, rtol=1e-12, atol=1e-12)
    for x in random.normal(size=(2, 2 * count)):
        report = made.check(x)
        assert max(report.jacobians.values()) < 1e-7, report


def test_kane_and_lagrange_agree_and_keep_energy():
    made = []
    for which in ("kane", "lagrange"):
        method, guards, values, sides = chain(3, which)
        made.append(bd.bridges.sympy.from_kane(method, guards, values, sides=sides))
    kane, lagrange = made
    assert lagrange.states[3:] == ("q0_dot", "q1_dot", "q2_dot")
    x0, p = [0.0, 0.8, -0.4, 0.5, 0.0, 0.0], {"c": 0.0}
    one, other = (bd.solve(q, (0.0, 1.5), x0, p, rtol=1e-11) for q in (kane, lagrange))
    assert len(one.events) >= 2
    assert np.abs(one.x[-1] - other.x[-1]).max() < 1e-8

    def energy(x):
        (q0, a, b), (u0, ua, ub) = x[:3], x[3:]
        one = np.array([u0 + ua * np.cos(a), ua * np.sin(a)])
        two = one + ub * np.array([np.cos(b), np.sin(b)])
        return (
            u0**2 + (one @ one + two @ two) / 2 - 9.81 * (2 * np.cos(a) + np.cos(b)) + 450.0 * max(q0 - 0.2, 0.0) ** 2
        )

    assert np.ptp([energy(x) for x in one.x]) < 1e-8


def test_contacts_with_a_mass_matrix_are_a_sum_too():
    kane, guards, values, sides = chain(3, "kane")
    made = bd.bridges.sympy.from_kane(kane, guards, values, sides=sides, additive=True, compile=False)
    x = np.array([0.3, 0.8, -0.4, 0.5, 0.1, -0.3])
    assert made.has("g")
    assert made.check(x).ok


def test_equations_must_have_been_formed():
    q, u = mechanics.dynamicsymbols("q u")
    frame = mechanics.ReferenceFrame("N")
    kane = mechanics.KanesMethod(frame, [q], [u], [u - q.diff()])
    with pytest.raises(ValueError, match="call kanes_equations"):
        bd.bridges.sympy.from_kane(kane)
    with pytest.raises(TypeError, match="KanesMethod or a LagrangesMethod; got str"):
        bd.bridges.sympy.from_kane("kane")


# ---------------------------------------------------------------------------------------------------- refusals

q, u = mechanics.dynamicsymbols("q u")
REFUSED: dict = {
    "an unknown symbol": ({"rates": [v, -w]}, r"the rate of v contains w, which is none of"),
    "other assumptions": ({"rates": [v, -sympy.Symbol("g", positive=True)]}, "other assumptions"),
    "an unknown function": ({"rates": [v, q]}, r"the rate of v contains q\(t\), which is none of the states"),
    "a derivative": ({"rates": [v, q.diff()]}, r"Derivative\(q\(t\), t\), which is not known"),
    "a symbol in a guard": ({"guards": {"foot": rest - w}}, "guard 'foot' contains w"),
    "a side in a guard": ({"guards": {"foot": rest - z * s}}, "guard 'foot' contains the side s"),
    "a choice in a guard": ({"guards": {"foot": sympy.Piecewise((z, z > 0), (1, True))}}, "a guard must be smooth"),
    "Abs": ({"rates": [v, -sympy.Abs(v)]}, r"Abs\(v\), which is not smooth: make what is inside a guard"),
    "sign": ({"rates": [v, -sympy.sign(v)]}, r"sign\(v\), which is not smooth"),
    "Max": ({"guards": {"foot": sympy.Max(z, 0)}}, r"guard 'foot' contains Max\(0, z\), which is not smooth"),
    "floor": ({"rates": [v, sympy.floor(z)]}, "not smooth"),
    "Heaviside": ({"rates": [v, sympy.Heaviside(z)]}, "not smooth"),
    "complex": ({"rates": [v, sympy.I * z]}, "contains I: every part of an expression must be real"),
    "infinite": ({"rates": [v, sympy.oo]}, "real and finite"),
    "no counterpart": (
        {"rates": [v, sympy.besselj(0, z)]},
        "besselj has no counterpart in compiled code; known are sin",
    ),
    "an integral": ({"rates": [v, sympy.Integral(z, z)]}, "Integral has no counterpart"),
    "a strange condition": (
        {"rates": [v, sympy.Piecewise((1, z > 3), (0, True))]},
        r"z > 3 of a Piecewise is no guard.*foot: rest - z",
    ),
    "an equality": ({"rates": [v, sympy.Piecewise((1, sympy.Eq(z, 3)), (0, True))]}, "not of the kind 'guard > 0'"),
    "half a choice": ({"rates": [v, sympy.Piecewise((1, z > rest))]}, r"has no value where foot > 0"),
    "a short list": ({"rates": [v]}, "an expression for each of the 2 states; got 1"),
    "a rate missing": ({"rates": {z: v}}, "rates: no rate for v"),
    "a rate too many": ({"rates": {z: v, v: 0, w: 1}}, "rates: no state w"),
    "no word": ({"rates": {(1, 1): [v, 0]}}, r"\(1, 1\) is not a mode, a tuple of 1 signs"),
    "text": ({"rates": [v, "z +"]}, r"must be an expression of SymPy; got 'z \+'"),
    "a matrix": ({"rates": [v, sympy.eye(2)]}, "must be a scalar expression"),
    "states twice": ({"states": [z, z]}, "z: more than one of the states"),
    "state and parameter": ({"states": [z, g]}, "g: more than one of the states"),
    "states as text": ({"states": ["z", "v"]}, "states must be Symbols or dynamicsymbols; got 'z'"),
    "no states": ({"states": [], "rates": []}, "states is empty"),
    "an imaginary state": ({"states": [z, sympy.Symbol("i", imaginary=True)]}, "not real"),
    "params as a list": ({"params": [g, k]}, "params must be a mapping from Symbol to default"),
    "a default": ({"params": {**DEFAULTS, g: "g"}}, "the default of g must be a number; got 'g'"),
    "sides": ({"sides": [s, w]}, "a symbol for each of the 1 guards; got 2"),
    "sides by name": ({"sides": {"hand": s}}, r"a symbol for each guard, \['foot'\]; got \['hand'\]"),
    "one guard alone": ({"guards": rest - z}, "guards must be a mapping"),
    "time": ({"t": "t"}, "t must be the Symbol of time"),
    "mass": ({"mass": [[1, 2]]}, "mass must be square"),
    "additive": ({"additive": 1.5}, "additive must be"),
    "an option": ({"colour": "red"}, "colour"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_by_name(case):
    changed, message = REFUSED[case]
    given = {"states": [z, v], "rates": [v, -g], "guards": FOOT, "params": DEFAULTS, "sides": [s], **changed}
    with pytest.raises((ValueError, TypeError), match=message):
        system(**given)


def test_a_missing_extra_is_named_with_its_install_line(monkeypatch):
    monkeypatch.setitem(sys.modules, "sympy", None)
    with pytest.raises(ImportError, match=r"pip install 'bouligand\[sympy\]'"):
        system([z], [z])
