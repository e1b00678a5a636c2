"""Functions that are wrong, and were accepted once: noticed before, or at the moment, at which they would do harm."""

import threading
import warnings
from concurrent.futures import ThreadPoolExecutor

import numba
import numpy as np
import pytest

import bouligand as bd

SPRING = [9.81, 1000.0, 1.0]


def depth(t, x, p):
    return np.array([p[2] - x[0]])


def good(t, x, b, p):
    return np.array([x[1], (p[1] * (p[2] - x[0]) if b[0] > 0 else 0.0) - p[0]])


def hopper(f=good, h=depth, **options):
    return bd.System(f, h, **{"n": 2, "m": 1, "params": SPRING, **options})


def fall(system, **options):
    return bd.solve(system, (0.0, 2.0), [2.0, 0.0], **options)


# ------------------------------------------------------------------------------------------------- arguments are written to


def h_writes_x(t, x, p):
    out = np.array([p[2] - x[0]])
    x[1] *= 0.999
    return out


def f_writes_x(t, x, b, p):
    out = good_python(x, b, p)
    x[0] = 123.0
    return out


@numba.njit
def good_python(x, b, p):
    return np.array([x[1], (p[1] * (p[2] - x[0]) if b[0] > 0 else 0.0) - p[0]])


def f_writes_p(t, x, b, p, dx):
    dx[0], dx[1] = x[1], -p[0]
    p[0] += 1.0


def f_writes_b(t, x, b, p, dx):
    dx[0], dx[1] = x[1], -p[0]
    b[:] = -1.0


def f_sorts_x(t, x, b, p, dx):
    x.sort()
    dx[0], dx[1] = x[1], -p[0]


def f_writes_by_the_back_door(t, x, b, p, dx):  # (Numba lets it through, whatever the type of x says)
    x.flat[0] = 1.0
    dx[0], dx[1] = x[1], -p[0]


@pytest.mark.parametrize("compile", [True, "auto", False])
@pytest.mark.parametrize("f", [f_writes_x, f_writes_p, f_writes_b, f_sorts_x, f_writes_by_the_back_door])
def test_f_must_not_write_to_its_arguments(f, compile):
    system = hopper(f, compile=compile)
    with pytest.raises(ValueError, match="f writes to one of its arguments"):
        fall(system)
    assert system.defaults.tolist() == SPRING


@pytest.mark.parametrize("compile", [True, False])
def test_h_must_not_write_to_its_arguments(compile):
    with pytest.raises(ValueError, match="h writes to one of its arguments"):
        fall(hopper(h=h_writes_x, compile=compile))


def test_functions_that_numba_compiles_only_for_arrays_that_can_be_written():
    @numba.njit("float64(float64[::1])")
    def first(x):
        return x[0]

    system = hopper(h=lambda t, x, p: p[2] - first(x), compile=True)
    assert system.compiled
    assert np.array_equal(fall(system).x, fall(hopper()).x)


# --------------------------------------------------------------------------------------------------- outputs are not written


def unset_in_contact(t, x, b, p, dx):
    dx[0] = x[1]
    if b[0] < 0:
        dx[1] = -p[0]


def adds_to_the_output(t, x, b, p, dx):
    dx[0] = x[1]
    dx[1] = -p[0]
    if b[0] > 0:
        dx[0] += 0.0
    else:
        dx[1] += 0.0
    dx[1] += 0.0 if b[0] < 0 else p[1] * (p[2] - x[0])


def adds_to_old_numbers(t, x, b, p, dx):
    dx[0] = x[1]
    dx[1] += -p[0]


@pytest.mark.parametrize("compile", [True, False])
def test_every_output_must_be_written_in_every_mode(compile):
    with pytest.raises(ValueError, match=r"f leaves 1 of 2 values unset at t = 0, b = \[1\], the first at index 1"):
        fall(hopper(unset_in_contact, compile=compile))
    with pytest.raises(ValueError, match="f left 1 of 2 values unset or NaN"):
        fall(hopper(adds_to_old_numbers, compile=compile))
    assert fall(hopper(adds_to_the_output, compile=compile)).success
    report = hopper(unset_in_contact, compile=compile).check([2.0, 0.0])
    assert any("unset" in problem for problem in report.problems)


def test_an_output_that_python_leaves_unset_on_the_way():
    def later(t, x, b, p, dx):
        dx[0] = x[1]
        if t < 1.0:
            dx[1] = -p[0]

    with pytest.raises(ValueError, match="f leaves 1 of 2 values unset"):
        bd.solve(bd.System(later, n=2, params=[9.81], compile=False), (0.0, 2.0), [2.0, 0.0])


def test_nan_in_a_mode_that_is_not_reached_is_no_fault():
    def field(t, x, b, p, dx):
        dx[0] = x[1]
        dx[1] = (1000.0 * np.sqrt(p[2] - x[0]) if b[0] > 0 else 0.0) - p[0]

    assert fall(hopper(field), rtol=1e-4).success


def test_jacobians_must_be_written_too():
    def slopes(t, x, b, p, out):
        out[0, 1] = 1.0

    sol = fall(hopper(Df=slopes))
    with pytest.raises(ValueError, match="Df leaves 3 of 4 values unset"):
        sol.bderivative()
    with pytest.raises(ValueError, match="Df returned a"):
        fall(hopper(Df=lambda t, x, b, p: np.zeros((3, 3)))).bderivative()


# ----------------------------------------------------------------------------------------------------- f tests h instead of b


def looks_at_x(t, x, b, p):
    return np.array([x[1], (p[1] * (p[2] - x[0]) if x[0] < p[2] else 0.0) - p[0]])


def damped(t, x, b, p):
    return np.array([x[1], (p[1] * (p[2] - x[0]) - 5.0 * x[1] if x[0] < p[2] else 0.0) - p[0]])


def largest(t, x, b, p):
    return np.array([x[1], p[1] * max(0.0, p[2] - x[0]) - p[0]])


def power(t, x, b, p):
    return np.array([x[1], p[1] * max(0.0, p[2] - x[0]) ** 1.5 - p[0]])


def both(t, x, b, p):
    return np.array([x[1], (p[1] * (p[2] - x[0]) if b[0] > 0 and x[0] < p[2] else 0.0) - p[0]])


def rubs(t, x, b, p):
    return np.array([x[1], -np.sign(x[0] - p[2]) - p[0]])


@pytest.mark.parametrize("start", [[2.0, 0.0], [0.7, -1.0], [1.0, 3.0], [40.0, 0.0]])
@pytest.mark.parametrize("f", [looks_at_x, damped, largest, power, both, rubs])
def test_a_field_that_tests_h_itself_is_noticed(f, start):
    system = hopper(f, compile=False)
    report = system.check(start)
    assert len(report.problems) == 1
    assert "Write `if b[0] > 0:`" in report.problems[0]
    with pytest.warns(
        bd.FunctionWarning, match=r"f switches at guard 'h0' by itself.*Write `if b\[0\] > 0:`"
    ) as caught:
        bd.solve(system, (0.0, 0.01), start, on_failure="return")
    assert caught[0].filename == __file__
    with warnings.catch_warnings():  # once is enough
        warnings.simplefilter("error")
        bd.solve(system, (0.0, 0.01), start, on_failure="return")


def pushes_only(t, x, b, p):  # begins with the depth where it is at rest, and with the speed elsewhere
    return np.array([x[1], (max(0.0, p[1] * (p[2] - x[0]) - 5.0 * x[1]) if b[0] > 0 else 0.0) - p[0]])


def hertz(t, x, b, p):
    return np.array([x[1], (p[1] * abs(p[2] - x[0]) ** 1.5 if b[0] > 0 else 0.0) - p[0]])


def smoothed(t, x, b, p):
    return np.array([x[1], (p[1] * (p[2] - x[0]) if b[0] > 0 else 0.0) - np.tanh((x[0] - p[2]) / 1e-3) - p[0]])


@pytest.mark.parametrize("start", [[2.0, 0.0], [0.7, -1.0], [1.0 + 1e-9, 3.0], [40.0, 0.0], [1e-3, 0.0]])
@pytest.mark.parametrize("f", [good, pushes_only, hertz, smoothed])
def test_a_field_that_does_not_is_left_alone(f, start):
    system = hopper(f, compile=False)
    report = system.check(start)
    assert report.ok, report
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bd.solve(system, (0.0, 0.01), start, on_failure="return")


# (of load_shedding the last stage stops the frequency: hdot is zero behind it)
@pytest.mark.parametrize("name", sorted({*bd.models.available()} - {"load_shedding"}))
def test_ready_models_are_all_right_where_they_start(name):
    system, start = bd.models.available()[name].build()
    assert system.check(start).ok


def test_a_nan_is_no_state_to_check_at():
    with pytest.raises(ValueError, match="x must be finite"):
        hopper().check([np.nan, 0.0])


# -------------------------------------------------------------------------------------------------- globals and closures change

RATE = 1.0
RATES = np.array([1.0, 2.0])


def grows(t, x, b, p):
    return np.array([RATE * x[0] * RATES[0]])


def test_a_new_system_has_the_global_variables_of_now(monkeypatch):
    def end():
        return bd.solve(bd.System(grows, n=1), (0.0, 1.0), [1.0], rtol=1e-10).x[-1, 0]

    assert end() == pytest.approx(np.exp(1.0), rel=1e-8)
    monkeypatch.setitem(globals(), "RATE", 2.0)
    assert end() == pytest.approx(np.exp(2.0), rel=1e-8)
    monkeypatch.setitem(globals(), "RATES", np.array([0.5, 1.0]))
    assert end() == pytest.approx(np.exp(1.0), rel=1e-8)


def test_a_new_system_of_a_numba_function_too():
    rate = 1.0

    @numba.njit
    def field(t, x, b, p):
        return np.array([rate * x[0]])

    def end():
        return bd.solve(bd.System(field, n=1), (0.0, 1.0), [1.0], rtol=1e-10).x[-1, 0]

    assert end() == pytest.approx(np.exp(1.0), rel=1e-8)
    rate = 2.0
    assert end() == pytest.approx(np.exp(2.0), rel=1e-8)


def test_an_old_system_warns_once_that_a_variable_has_changed(monkeypatch):
    system = bd.System(grows, n=1)
    before = bd.solve(system, (0.0, 1.0), [1.0]).x[-1, 0]
    monkeypatch.setitem(globals(), "RATE", 3.0)
    assert "RATE: changed since" in repr(system.check([1.0]))
    with pytest.warns(bd.FunctionWarning, match="RATE: changed since the functions of this system were compiled"):
        assert bd.solve(system, (0.0, 1.0), [1.0]).x[-1, 0] == before
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bd.solve(system, (0.0, 1.0), [1.0])


def test_contents_of_an_array_count():
    gains = np.array([1.0])
    system = bd.System(lambda t, x, b, p: (gains[0] * x[0],), n=1)
    bd.solve(system, (0.0, 1.0), [1.0])
    gains[0] = 2.0
    with pytest.warns(bd.FunctionWarning, match="gains"):
        bd.solve(system, (0.0, 1.0), [1.0])


def end_of(f):
    """The end of x' = f = rate x after a second: exp(rate)."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return np.log(bd.solve(bd.System(f, n=1), (0.0, 1.0), [1.0], rtol=1e-10).x[-1, 0])


@pytest.mark.parametrize("used_before", [False, True])
def test_what_is_compiled_into_a_function_it_calls(used_before):
    """Numba's functions keep the values that they were compiled with. A new system has those of now, whoever compiled them."""
    rate = 1.0

    @numba.njit
    def inner(x):
        return rate * x

    @numba.njit
    def helper(x):
        return inner(x)

    def field(t, x, b, p):
        return np.array([helper(x[0])])

    if used_before:
        assert helper(1.0) == 1.0
    else:
        assert end_of(field) == pytest.approx(1.0, rel=1e-8)
    rate = 2.0
    assert end_of(field) == pytest.approx(2.0, rel=1e-8)
    assert end_of(numba.njit(field)) == pytest.approx(2.0, rel=1e-8)
    rate = 3.0
    inner.recompile()
    assert end_of(field) == pytest.approx(3.0, rel=1e-8)
    if used_before:
        assert helper(1.0) == 1.0  # (the user's own function is left as it is)


def test_a_function_called_by_a_compiled_one_that_is_replaced():
    def one(x):
        return x

    def two(x):
        return 2.0 * x

    helper = one

    def field(t, x, b, p):
        return (helper(x[0]),)

    system = bd.System(field, n=1)
    assert bd.solve(system, (0.0, 1.0), [1.0], rtol=1e-10).x[-1, 0] == pytest.approx(np.exp(1.0), rel=1e-8)
    helper = two
    with pytest.warns(bd.FunctionWarning, match="helper: changed since"):
        bd.solve(system, (0.0, 1.0), [1.0])
    assert end_of(field) == pytest.approx(2.0, rel=1e-8)


def test_what_runs_as_python_reads_them_as_they_are():
    rate = 1.0
    system = bd.System(lambda t, x, b, p: (rate * x[0],), n=1, compile=False)
    bd.solve(system, (0.0, 1.0), [1.0])
    rate = 2.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert bd.solve(system, (0.0, 1.0), [1.0], rtol=1e-10).x[-1, 0] == pytest.approx(np.exp(2.0), rel=1e-8)


# ----------------------------------------------------------------------------------------------------------- what they return


@pytest.mark.filterwarnings("ignore::bouligand.PerformanceWarning")
@pytest.mark.parametrize("compile", ["auto", False])
def test_complex_numbers_text_and_masks_are_refused(compile):
    def masked(t, x, b, p):
        return np.ma.masked_array(x, [True, False])

    for f in (lambda t, x, b, p: 1j * x, lambda t, x, b, p: ("1", "2"), masked):
        with pytest.raises(TypeError, match=r"f returned .*real numbers expected"):
            bd.solve(bd.System(f, n=2, compile=compile), (0.0, 1.0), [2.0, 1.0])
    start = np.ma.masked_array([2.0, 0.0], [True, False])
    with pytest.raises(ValueError, match="x0 must have 2 values"):
        bd.solve(hopper(), (0.0, 1.0), start)


def test_exceptions_stay_with_their_thread():
    class OwnError(Exception):
        solution: bd.Solution

    together = threading.Barrier(4)

    def f(t, x, b, p):
        if t > 0.3:
            raise OwnError(int(p[0]))
        return np.array([x[1], -9.81])

    system = bd.System(f, n=2, params=[0.0], compile=False)

    def go(number):
        together.wait()
        for _ in range(20):
            with pytest.raises(OwnError) as caught:
                bd.solve(system, (0.0, 1.0), [2.0, 0.0], [float(number)])
            assert caught.value.args == (number,)
            assert caught.value.solution.p[0] == number

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(go, range(4)))


@pytest.mark.parametrize("compile", [False, True])
@pytest.mark.parametrize("remainder", [False, True])
def test_integers_divided_by_zero_raise_as_in_python(compile, remainder):
    """Machine code had 0 there, without a word."""

    def quotient(t, x, b, p):
        return (float(3 // int(x[0])),)

    def rest(t, x, b, p):
        return (float(3 % int(x[0])),)

    system = bd.System(rest if remainder else quotient, n=1, compile=compile)
    with pytest.raises(ZeroDivisionError, match="integer"):
        bd.solve(system, (0.0, 1.0), [0.5])
    assert bd.solve(system, (0.0, 0.1), [3.0]).x[-1] == pytest.approx(3.0 if remainder else 3.1)
