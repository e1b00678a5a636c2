"""B where guards are crossed at the moment of a breakpoint, and at ends on corners: against trajectories by hand."""

import numpy as np
import pytest

import bouligand as bd
from tests.helpers.piecewise_constant import by_hand, parameters, system

TWO_LEGS = {m: system(m, 2) for m in (1, 2, 3)}
ONE_LEG = {m: system(m, 1) for m in (1, 2, 3)}


def compare(rng, sol, tables, normals, legs, breaks, x0, end):
    """B, its matrix, its adjoint and its pieces, in six directions; returns how many were no kink themselves."""
    B, base, compared = sol.bderivative(), by_hand(tables, normals, legs, breaks, x0, 0.0, end)[0], 0
    for _ in range(6):
        dx, w = rng.normal(size=(2, len(x0)))
        one, two = ((by_hand(tables, normals, legs, breaks, x0 + e * dx, 0.0, end)[0] - base) / e for e in (1e-5, 2e-5))
        if np.abs(one - two).max() > 1e-5:
            continue
        compared += 1
        np.testing.assert_allclose(B(dx), one, atol=1e-4)
        np.testing.assert_allclose(B.matrix(dx) @ dx, one, atol=1e-4)
        assert abs(B.vjp(w, dx) @ dx - w @ one) < 1e-3
    assert any(np.abs(piece.matrix @ dx - one).max() < 1e-4 for piece in B.pieces()) or np.abs(one - two).max() > 1e-5
    return compared


def test_crossings_at_a_breakpoint_at_which_h_or_f_jumps():
    rng, compared = np.random.default_rng(5), 0
    for _ in range(120):
        m = int(rng.integers(1, 4))
        normals = np.linalg.qr(rng.normal(size=(m, m)))[0]
        tables = rng.uniform(0.6, 2.0, (2, 2**m, m)) @ normals
        tables[1] = tables[rng.integers(2)]
        moment, there = rng.uniform(0.3, 1.0), rng.normal(size=m)
        end, x0, speeds = moment + rng.uniform(0.3, 1.0), there - moment * tables[0, 0], rng.uniform(-0.2, 0.2, (2, m))
        levels = normals @ there - speeds * moment
        for k in range(m):
            what = rng.choice(["on it, before and behind", "jumps away", "jumps across", "ahead"])
            if what == "jumps away":
                levels[1, k] += rng.uniform(0.2, 0.5) * rng.choice([-1.0, 1.0])
            elif what == "jumps across":
                levels[:, k] += rng.uniform(0.3, 0.6), -rng.uniform(0.1, 0.3)
            elif what == "ahead":
                levels[:, k] += rng.uniform(0.05, 0.2)
        legs = list(zip(levels, speeds, strict=True))
        p = parameters(tables, normals, legs, [moment])
        sol = bd.solve(TWO_LEGS[m], (0.0, end), x0, p, rtol=1e-10, breakpoints=[moment])
        compared += compare(rng, sol, tables, normals, legs, [moment], x0, end)
    assert compared > 400


def test_ends_on_corners():
    rng, compared = np.random.default_rng(6), 0
    for _ in range(100):
        m = int(rng.integers(1, 4))
        normals, speed = np.linalg.qr(rng.normal(size=(m, m)))[0], rng.uniform(-0.2, 0.2, m)
        tables = rng.uniform(0.6, 2.0, (1, 2**m, m)) @ normals
        end, there = rng.uniform(0.3, 2.0), rng.normal(size=m)
        x0, legs = there - end * tables[0, 0], [(normals @ there - speed * end, speed)]
        sol = bd.solve(ONE_LEG[m], (0.0, end), x0, parameters(tables, normals, legs, []), rtol=1e-9)
        compared += compare(rng, sol, tables, normals, legs, [], x0, end)
    assert compared > 300


JUMP = bd.System(
    lambda t, x, b, p: (1.0 + 0.3 * x[1], (2.0 if b[0] > 0 else -0.5) + 0.1 * x[0]),
    lambda t, x, p: (x[0] - (5.0 if t < 1.0 else 0.2),),
    n=2,
    m=1,
    breakpoints=[1.0],
)


def test_an_event_that_happens_because_h_jumps_has_a_fixed_time():
    B = bd.solve(JUMP, (0.0, 2.0), [0.0, 0.5], rtol=1e-11).bderivative()
    np.testing.assert_array_equal(B.event_times([1.0, 0.3]), [0.0])
    assert B.is_linear


def test_the_state_at_an_event_at_a_breakpoint_where_f_jumps_is_refused():
    late = bd.System(
        lambda t, x, b, p: (1.0 if t < 1.0 else 2.0, 1.0 if b[0] > 0 else 0.0),
        lambda t, x, p: (x[0] - 1.0,),
        n=2,
        m=1,
        breakpoints=[1.0],
    )
    with pytest.raises(bd.DerivativeError, match="breakpoint"):
        bd.solve(late, (0.0, 2.0), [0.0, 0.0], rtol=1e-9).bderivative(event=0)
