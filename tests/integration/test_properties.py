"""Properties that hold for every start and every parameter. The systems are compiled once; hypothesis varies p and x0."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import bouligand as bd
from bouligand.models.plate import FIXED, field
from tests.helpers.systems import close

M = 5
PLATE = bd.models.plate(M)
BY_NAME = {name: i for i, name in enumerate(PLATE.params)}
fair = settings(max_examples=25, deadline=None, derandomize=True)

starts = st.tuples(
    st.floats(-0.2, 0.2),
    st.floats(1.2, 2.0),
    st.floats(-0.15, 0.15),
    st.floats(-0.5, 0.5),
    st.floats(-1, 1),
    st.floats(-1, 1),
)
positions = st.lists(st.floats(-1, 1), min_size=M, max_size=M)


def params(where, order=range(M)):
    p = PLATE.defaults.copy()
    p[FIXED:] = np.array(where)[list(order)]
    return p


def solve(x0, p, t_span=(0.0, 0.8), **options):
    # a sensitive start may graze: that is a named error, not a wrong answer
    return bd.solve(PLATE, t_span, x0, p, rtol=1e-9, on_failure="return", **options)


def kappa(x0, p):
    """A rough amplification: how far the ends of two near starts are apart."""
    a, b = solve(x0, p), solve(np.array(x0) + 1e-7, p)
    return max(1.0, np.abs(a.x[-1] - b.x[-1]).max() / 1e-7) if a.success and b.success else np.inf


@fair
@given(starts, positions, st.permutations(range(M)))
def test_permuting_the_guards_changes_nothing(x0, where, order):
    one, other = solve(x0, params(where)), solve(x0, params(where, order))
    if one.success and other.success:
        close(one.x[-1], other.x[-1], 1e-7 * kappa(x0, params(where)))
        if len(one.events) == len(other.events):
            close(one.events.t, other.events.t, 1e-6 * kappa(x0, params(where)))


@fair
@given(starts, positions, st.floats(-100, 100))
def test_shifting_time_changes_nothing(x0, where, shift):
    p = params(where)
    one, other = solve(x0, p), solve(x0, p, (shift, shift + 0.8))
    if one.success and other.success:
        close(one.x[-1], other.x[-1], 1e-7 * kappa(x0, p))


@fair
@given(starts, positions, st.floats(0.05, 0.75))
def test_splitting_the_interval_changes_nothing(x0, where, split):
    p = params(where)
    whole, first = solve(x0, p), solve(x0, p, (0.0, split))
    if whole.success and first.success:
        second = solve(first.x[-1], p, (split, 0.8), b0=first.b[-1])
        if second.success:
            close(whole.x[-1], second.x[-1], 1e-7 * kappa(x0, p))
            assert abs(len(whole.events) - len(first.events) - len(second.events)) <= (0 if kappa(x0, p) < 1e3 else 2)


def scaled_guards(t, x, p, out):
    slope = np.tan(x[2])
    for i in range(out.size):
        out[i] = p[M + FIXED + i] * (p[3] + slope * (x[0] - p[FIXED + i]) - x[1])


SCALED = bd.System(field, scaled_guards, n=6, m=M, params=np.r_[PLATE.defaults, np.ones(M)], compile="auto")


@fair
@given(starts, positions, st.lists(st.floats(-6, 6), min_size=M, max_size=M))
def test_scaling_the_guards_changes_nothing(x0, where, powers):
    p = params(where)
    ends = [
        bd.solve(SCALED, (0, 0.8), x0, np.r_[p, 10.0 ** np.array(s)], rtol=1e-9, on_failure="return")
        for s in (np.zeros(M), powers)
    ]
    if all(sol.success for sol in ends):
        close(ends[0].x[-1], ends[1].x[-1], 1e-7 * kappa(x0, p))
        assert len(ends[0].events) == len(ends[1].events) or kappa(x0, p) > 1e3
