"""What may be sent to another process arrives as it was: systems, solutions, steppers, derivatives, corners, errors."""

import multiprocessing
import pickle

import numpy as np
import pytest

import bouligand as bd
from bouligand.models.plate import START as PLATE_START


def travelled(thing):
    return pickle.loads(pickle.dumps(thing))


def relay():
    return bd.System(lambda t, x, b, p: (-b[0],), lambda t, x, p: (x[0],), n=1, guards=("switch",))


@pytest.mark.parametrize("compile", ["auto", False])
def test_systems_of_local_functions(compile):
    rate = 3.0
    system = bd.System(lambda t, x, b, p: (-rate * x[0],), n=1, compile=compile)
    copies = [travelled(system)]  # before it is compiled,
    end = bd.solve(system, (0.0, 1.0), [1.0]).x[-1]
    copies += [travelled(system), travelled(copies[0])]  # afterwards, and once more
    for copy in copies:
        assert bool(copy.compiled) is (compile == "auto")
        assert np.array_equal(bd.solve(copy, (0.0, 1.0), [1.0]).x[-1], end)


HOPPER = bd.models.hopper()
STEPPERS = {
    "plain": lambda: bd.Stepper(HOPPER, (0.0, 2.0), [2.0, 0.0]),
    "with times": lambda: bd.Stepper(
        HOPPER, (0.0, 2.0), [2.0, 0.0], t_eval=np.linspace(0.0, 2.0, 11), breakpoints=[0.5, 1.0]
    ),
    "with much to remember": lambda: bd.Stepper(HOPPER, (0.0, 9.0), [2.0, 0.0], max_step=0.02),
    "with bands": lambda: bd.Stepper(HOPPER, (0.0, 2.0), [2.0, 0.0], eps=1e-3, terminal={"foot": 3}),
    "spanning": lambda: bd.Stepper(bd.models.plate(100), (0.0, 1.5), (0.0, 2.637, -0.046, 0.0, 0.0, 0.0), rtol=1e-4),
}


@pytest.mark.parametrize("steps", [0, 1, 7, 30])
@pytest.mark.parametrize("name", STEPPERS)
def test_a_stepper_goes_on_elsewhere(name, steps):
    stepper = STEPPERS[name]()
    for _ in range(steps):
        stepper.step()
    copy = travelled(stepper)
    here, there = stepper.finish(), copy.finish()
    assert here.status == there.status
    assert np.array_equal(here.x, there.x)
    assert np.array_equal(here.events.array, there.events.array)
    assert here.counts == there.counts
    if name == "spanning":
        assert here.counts.spans > 0


@pytest.mark.parametrize("options", [{}, {"merge": 0.01}, {"params": True}, {"event": 3}, {"t": 0.8, "since": 0.1}])
def test_derivatives_and_their_corners(options):
    B = bd.solve(bd.models.plate(5), (0.0, 1.0), [0.0, 2.0, 0.0, 0.0, 0.0, 0.0]).bderivative(**options)
    copy, dx = travelled(B), np.array([0.1, 0.2, 0.3, 0.0, -0.1, 0.2])
    assert np.array_equal(B(dx), copy(dx))
    assert B.corners
    assert B.orders(dx) == copy.orders(dx)
    for corner in B.corners:
        there = travelled(corner)
        assert (there.kind, there.t, there.guards) == (corner.kind, corner.t, corner.guards)
        tangents = [np.zeros((1, B.n + B.np)) + 0.1 for _ in range(2)]
        for one, tangent in zip((corner, there), tangents, strict=True):
            one._pass(tangent)
        assert np.array_equal(*tangents)


def test_a_corner_of_its_own():
    F = {(-1, -1): (1, 1), (-1, 1): (1, 0.75), (1, -1): (0.5, 1), (1, 1): (1, 0.5)}
    corner = bd.Corner(F, [[1, 0], [0, 1]])
    assert np.array_equal(travelled(corner)([-0.25, 0.0]), corner([-0.25, 0.0]))


def test_an_error_with_its_solution():
    with pytest.raises(bd.SlidingError) as caught:
        bd.solve(relay(), (0.0, 2.0), [1.0])
    error = travelled(caught.value)
    assert type(error) is bd.SlidingError
    assert (str(error), error.guard, error.t) == (str(caught.value), "switch", caught.value.t)
    assert error.solution.error is error
    assert np.array_equal(error.solution.x, caught.value.solution.x)
    alone = travelled(caught.value.solution)
    assert type(alone.error) is bd.SlidingError


def test_a_solution_whose_function_failed():
    class LocalError(Exception):
        """Of a type that cannot travel."""

    def f(t, x, b, p):
        if t > 0.5:
            raise LocalError("too late")
        return (1.0,)

    sol = bd.solve(bd.System(f, n=1, compile=False), (0.0, 1.0), [0.0], on_failure="return")
    assert isinstance(sol.error, LocalError)
    assert str(travelled(sol).error) == "LocalError: too late"


def in_a_worker(kind):
    if kind == "stiff":
        stiff = bd.System(lambda t, x, b, p: (-1e9 * (x[0] - np.cos(t)),), n=1)
        return bd.solve(stiff, (0.0, 10.0), [1.0], max_steps=2000, method="dopri5")
    if kind == "sliding":
        return bd.solve(relay(), (0.0, 2.0), [1.0])
    return bd.solve(bd.models.plate(3), (0.0, 1.0), PLATE_START).bderivative()


@pytest.mark.fresh
def test_a_pool_of_processes_never_hangs():
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        for kind, error in (("stiff", bd.StiffnessError), ("sliding", bd.SlidingError)):
            with pytest.raises(error) as caught:
                pool.apply_async(in_a_worker, (kind,)).get(timeout=120.0)
            assert caught.value.solution.t.size > 0
        B = pool.apply_async(in_a_worker, ("derivative",)).get(timeout=120.0)
    assert np.isfinite(B(np.ones(6))).all()
