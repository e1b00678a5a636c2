"""Systems: what may be given, and what is said when something is wrong."""

import ctypes
import pickle

import numba
import numpy as np
import pytest
import scipy

import bouligand as bd
from bouligand.models.hopper import exact as hopper_exact
from bouligand.models.hopper import field as hopper_field
from bouligand.models.hopper import field_jacobian
from bouligand.models.hopper import guard as hopper_guard
from bouligand.models.plate import START as PLATE_START
from bouligand.models.plate import contact, free, guards
from bouligand.system.functions import UserFunction
from tests.helpers.systems import close

END = hopper_exact(1.0)[0]


def field(t, x, b, p):
    g, k, rest = p
    push = k * (rest - x[0]) if b[0] > 0 else 0.0
    return np.array([x[1], push - g])


def guard(t, x, p):
    return np.array([p[2] - x[0]])


PARAMS = {"g": 9.81, "k": 1000.0, "rest": 1.0}


def hopper(f=field, h=guard, **options):
    return bd.System(f, h, **{"states": ("z", "vz"), "guards": ("foot",), "params": PARAMS, **options})


def run(system, **options):
    return bd.solve(system, (0, 1), [2.0, 0.0], rtol=1e-9, **options)


@pytest.mark.parametrize(
    ("f", "h"),
    [
        (field, guard),
        (lambda t, x, b, p: (x[1], (p[1] * (p[2] - x[0]) if b[0] > 0 else 0.0) - p[0]), lambda t, x, p: (p[2] - x[0],)),
        (lambda t, x, b, p: [x[1], (p[1] * (p[2] - x[0]) if b[0] > 0 else 0.0) - p[0]], lambda t, x, p: [p[2] - x[0]]),
        (numba.njit(field), numba.njit(guard)),
        (hopper_field, lambda t, x, p: p[2] - x[0]),
    ],
    ids=["arrays", "tuples", "lists", "dispatchers", "in place and a number"],
)
def test_forms_of_functions(f, h):
    system = hopper(f, h)
    assert system.compiled
    close(run(system).x[-1], END, 1e-7)


def test_low_level_callable():
    kind = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_double, *[ctypes.POINTER(ctypes.c_double)] * 3, ctypes.c_void_p)

    @kind
    def h(t, x, p, out, ctx):
        out[0] = p[2] - x[0]
        return 0

    system = hopper(field, scipy.LowLevelCallable(h))
    close(run(system).x[-1], END, 1e-7)


def test_python_twin_gives_the_same_trajectory():
    one, other = run(hopper()), run(hopper(compile=False))
    close(one.x, other.x, 0.0)
    close(one.t, other.t, 0.0)
    assert "compile=False" in repr(hopper(compile=False).compiled)


def test_a_function_that_numba_cannot_compile_falls_back_with_a_warning():
    class Law:
        k = 1000.0

    law = Law()

    def f(t, x, b, p):
        return [x[1], (law.k * (p[2] - x[0]) if b[0] > 0 else 0.0) - p[0]]

    system = hopper(f)
    with pytest.warns(bd.PerformanceWarning, match="f does not compile"):
        sol = run(system)
    close(sol.x, run(hopper()).x, 0.0)
    assert not system.compiled
    assert "f does not compile" in repr(system.compiled)
    with pytest.raises(TypeError, match="f does not compile"):
        run(hopper(f, compile=True))


def test_parameters_from_a_file_have_their_byte_order_written_out():
    hopper = bd.models.hopper()
    p = hopper.defaults.astype(np.dtype("<f8").newbyteorder("<"))
    assert bd.solve(hopper, (0.0, 1.0), [2.0, 0.0], p=p).success


def test_parameters():
    system = hopper()
    soft = run(system, p={"k": 500.0})
    close(soft.x, run(system, p=[9.81, 500.0, 1.0]).x, 0.0)
    close(soft.x[-1], hopper_exact(1.0, k=500.0)[0], 1e-7)
    with pytest.raises(ValueError, match="no parameter is called 'stiffness'; parameters: g, k, rest"):
        run(system, p={"stiffness": 1})
    with pytest.raises(ValueError, match=r"p must have 3 values, \(g, k, rest\)"):
        run(system, p=[1.0])
    with pytest.raises(ValueError, match="p is not finite: k; got nan"):
        run(system, p={"k": np.nan})
    mine = system.parameters()
    mine[:] = 0.0  # it is a copy: the defaults stay
    close(system.parameters(), [9.81, 1000.0, 1.0], 0.0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"f": None}, "give f, or f0 and g"),
        ({"h": None}, "h is missing: 1 guards are declared"),
        ({"states": None}, "give states="),
        ({"states": ("z", "z")}, "a name twice"),
        ({"n": 3}, "n = 3, but states has 2 names"),
        ({"f": lambda *args: args}, "takes \\*args"),
        ({"f": lambda t, x: x}, "f takes 2 arguments; expected f\\(t, x, b, p\\)"),
        ({"h": 3}, "h must be a function"),
        ({"direction": 2}, "direction must be -1, 0 or \\+1"),
        ({"direction": [1, 1]}, "one for each of the 1 guards"),
        ({"observers": ["knee"]}, "no guard is called 'knee'"),
        ({"reset": np.eye(2)}, "reset must have shape"),
        ({"reset": np.eye(1)}, "reset is for one-sided guards"),
        ({"compile": "yes"}, "compile must be"),
        ({"f0": field_jacobian}, "f0 takes 5 arguments"),
        ({"Dq": field}, "does not know \\['Dq'\\]; functions it knows"),
        ({"terminal": "foot"}, "does not know \\['terminal'\\]; terminal is an option of solve"),
        ({"direction": "up"}, "direction must be -1, 0 or \\+1"),
        ({"params": {"k": np.inf}}, "params must be finite"),
        ({"breakpoints": [np.nan]}, "breakpoints must be finite"),
    ],
)
def test_wrong_declarations_are_named(options, message):
    with pytest.raises((TypeError, ValueError), match=message):
        hopper(**{"f": field, "h": guard, **options})


def test_wrong_shapes_are_named():
    with pytest.raises(ValueError, match="h returned 1 value, but 2 values expected, one for each guard"):
        run(hopper(guards=("a", "b")))
    with pytest.raises(ValueError, match="f returned 3 values, but 2 values expected, one for each state"):
        run(hopper(lambda t, x, b, p: np.zeros(3)))
    with pytest.raises(ValueError, match="h left 1 of 2 values unset"):
        run(hopper(h=hopper_guard, guards=("a", "b")))


@pytest.mark.parametrize("compile", [True, False])
def test_an_exception_in_f_reaches_the_user(compile):
    def f(t, x, b, p):
        if t > 0.3:
            raise ZeroDivisionError("no law for this")
        return np.array([x[1], -p[0]])

    with pytest.raises(ZeroDivisionError, match="no law for this") as caught:
        run(hopper(f, compile=compile))
    assert "in f, at t = 0." in caught.value.__notes__[-1]
    so_far = vars(caught.value)["solution"]
    assert so_far.t[-1] <= 0.3
    assert not so_far.success
    assert isinstance(run(hopper(f, compile=compile), on_failure="return").error, ZeroDivisionError)


def test_an_index_out_of_range_in_a_compiled_function():
    def h(t, x, p, out):
        out[0] = p[2] - x[0] if t < 0.3 else x[7]

    with pytest.raises(IndexError) as caught:
        run(hopper(h=h))
    assert "in h, at t = 0." in caught.value.__notes__[-1]
    assert len(vars(caught.value)["solution"].t) > 1


def test_a_field_given_as_a_sum():
    whole = bd.models.plate(8)
    composed = bd.System(None, guards, n=6, m=8, params=whole.defaults, f0=free, g=contact)
    one, other = (bd.solve(s, (0, 1.5), PLATE_START, rtol=1e-10) for s in (whole, composed))
    close(one.x[-1], other.x[-1], 1e-8)
    assert len(one.events) == len(other.events) > 8
    returned = bd.System(
        None,
        lambda t, x, p: (x[0],),
        n=1,
        m=1,
        f0=lambda t, x, p: np.array([1.0]),
        g=lambda t, x, k, p: np.array([-0.5]),
    )
    close(bd.solve(returned, (0, 2), [-1.0]).x[-1], [0.5], 1e-12)


def test_a_combined_fh_is_used():
    def fh(t, x, b, p, dx, out):
        hopper_field(t, x, b, p, dx)
        hopper_guard(t, x, p, out)

    system = hopper(hopper_field, hopper_guard, fh=fh, compile=False)
    close(run(system).x[-1], END, 1e-7)


def test_no_guards_is_an_ordinary_equation():
    system = bd.System(lambda t, x, b, p: (x[1], -x[0]), n=2)
    sol = bd.solve(system, (0, 10), [1.0, 0.0], rtol=1e-10)
    close(sol.x[-1], [np.cos(10), -np.sin(10)], 1e-8)


def test_pickle():
    rest = 1.0

    def local(t, x, b, p):  # not importable by name: travels with its code
        return np.array([x[1], (p[1] * (rest - x[0]) if b[0] > 0 else 0.0) - p[0]])

    system = hopper(local)
    first = run(system)
    copy = pickle.loads(pickle.dumps(system))
    close(run(copy).x, first.x, 0.0)
    plate = pickle.loads(pickle.dumps(bd.models.plate(3)))
    assert bd.solve(plate, (0, 1), PLATE_START).success


def test_repr():
    assert "2 states (z, vz), 1 guards (foot), 3 parameters" in repr(hopper())


def test_linear_algebra_compiles():
    """Numba's array maths are imported without looking for BLAS, which must be found where it is needed."""
    A = np.array([[0.0, 1.0], [-4.0, 0.0]])
    turning = bd.System(lambda t, x, b, p: np.dot(A, x) + np.linalg.solve(np.eye(2), x) - x, n=2)
    assert turning.compiled
    close(bd.solve(turning, (0.0, 1.0), [1.0, 0.0], rtol=1e-9).x[-1], [np.cos(2.0), -2.0 * np.sin(2.0)], 1e-7)


def test_guards_that_do_not_read_the_time():
    """Decided from the code of h alone, and only where that is certain."""

    def stands(t, x, p, out):
        out[0] = x[0]

    def moves(t, x, p):
        return (x[0] - t,)

    def inside(t, x, p):
        return [value - t for value in x]

    def overwritten(t, x, p):
        t = p[0]
        return (x[0] - t,)

    class Surface:
        def h(self, t, x, p):
            return (x[0] - t,)

        __call__ = h

    def known(h):
        return UserFunction("h", h).ignores_time()

    assert all(known(h) for h in (stands, numba.njit(stands), lambda time, x, p: (x[0],)))
    assert not any(known(h) for h in (moves, numba.njit(moves), inside, overwritten, Surface().h, Surface()))
