"""What is said of functions that Numba does not compile: the line, the reason, what helps; and names that are not defined."""

import numpy as np
import pytest
import scipy.special

import bouligand as bd


class Law:
    k = 2.0


LAW = Law()


def helper(x):
    return scipy.special.j0(x)


def calls_python(t, x, b, p):
    return x[1], helper(x[0])


def reads_an_object(t, x, b, p):
    return x[1], LAW.k


def asks_by_name(t, x, b, p):
    return x[1], p["k"]


def imports_inside(t, x, b, p):
    import math

    return x[1], math.sin(x[0])


def uses_scipy(t, x, b, p):
    return np.array([x[1], scipy.special.j0(x[0])])


def misspelt(t, x, b, p):
    return x[1], -gravty if b[0] > 0 else 0.0  # type: ignore[name-defined]  # noqa: F821


@pytest.mark.parametrize(
    ("f", "line", "helps"),
    [
        (calls_python, "return scipy.special.j0(x)", "Numba has no scipy"),
        (reads_an_object, "return x[1], LAW.k", "from LAW in p"),
        (asks_by_name, 'return x[1], p["k"]', "not p['k']"),
        (imports_inside, "import math", "import at the top"),
        (uses_scipy, "return np.array([x[1], scipy.special.j0(x[0])])", "Numba has no scipy"),
    ],
)
def test_the_line_and_what_helps(f, line, helps):
    with pytest.raises(TypeError) as error:
        bd.solve(
            bd.System(f, lambda t, x, p: (x[0],), n=2, m=1, params={"k": 1.0}, compile=True), (0.0, 0.1), [1.0, 0.0]
        )
    message = str(error.value)
    assert message.startswith("f does not compile: ")
    assert line in message
    assert helps in message
    assert __file__.rpartition("/")[2] in message


def test_the_warning_has_the_same_reason():
    with pytest.warns(bd.PerformanceWarning, match=r"(?s)LAW\.k.*plain Python") as caught:
        bd.solve(bd.System(reads_an_object, n=2), (0.0, 0.1), [1.0, 0.0])
    assert caught[0].filename == __file__


def test_a_name_that_is_not_defined_is_a_name_error():
    system = bd.System(misspelt, lambda t, x, p: (x[0],), n=2, m=1)
    with pytest.raises(NameError, match=r"'gravty' is not defined, in f \(line \d+ of .*test_reasons\.py"):
        bd.solve(system, (0.0, 0.1), [-1.0, 0.0])


def test_backward_time_is_refused_with_the_way_out():
    with pytest.raises(
        ValueError, match=r"runs backwards, from 1 to 0.*integrate the reversed system -f\(-s, x, b, p\)"
    ):
        bd.solve(bd.models.hopper(), (1.0, 0.0), [1.0, 0.0])


def test_the_reversed_system_leads_back():
    hopper = bd.models.hopper()
    there = bd.solve(hopper, (0.0, 2.0), [2.0, 0.3], rtol=1e-10)

    def f(s, x, b, p):
        return -x[1], p[0] - (p[1] * (p[2] - x[0]) if b[0] > 0 else 0.0)

    back = bd.System(f, lambda s, x, p: (p[2] - x[0],), n=2, guards=("foot",), params=hopper.defaults)
    home = bd.solve(back, (-2.0, 0.0), there.x[-1], rtol=1e-10)
    assert np.allclose(home.x[-1], [2.0, 0.3], atol=1e-7)
    assert np.allclose(-home.events.t[::-1], there.events.t, atol=1e-8)
