"""Spanning steps: many crossings in one step, for fields that are sums over contacts.

Answers are closed forms, references at rtol = 1e-12 that hop from guard to guard (``method="dop853"`` never spans), or the
same integration with hops. An error in tolerances is divided by a rough amplification where the system amplifies.
"""

import numpy as np
import pytest
from benchmarks.kappa import amplification

import bouligand as bd
from bouligand.core import state as at
from bouligand.models import falling, relays
from tests.helpers import sums, systems
from tests.helpers.systems import close

PLATES = {m: bd.models.plate(m) for m in (2, 8, 100, 500, 2000)}
references: dict = {}


def tight(system, t_span, x0, p=None, **options):
    return bd.solve(system, t_span, x0, p, rtol=1e-12, atol=1e-13, method="dop853", **options)


def plate_reference(m):
    if m not in references:
        references[m] = tight(PLATES[m], (0, 2), falling.START)
    return references[m]


def in_tolerances(sol, exact, rtol):
    return float(np.max(np.abs(sol.x[-1] - exact) / (rtol * np.abs(exact) + 0.01 * rtol)))


def same_events(sol, ref, tol):
    assert len(sol.events) == len(ref.events)
    assert np.array_equal(sol.events.guard, ref.events.guard)
    assert np.array_equal(sol.events.direction, ref.events.direction)
    close(sol.events.t, ref.events.t, tol)


@pytest.mark.parametrize("rtol", [1e-4, 1e-6])
@pytest.mark.parametrize("m", [2, 8, 100, 500])
def test_plate(m, rtol):
    ref = plate_reference(m)
    sol = bd.solve(PLATES[m], (0, 2), falling.START, rtol=rtol)
    # how much the plate amplifies an error: 150 with 100 contacts, 130 with 500
    kappa = amplification(PLATES[m], (0, 2), falling.START, samples=10) if m < 100 else 130
    assert in_tolerances(sol, ref.x[-1], rtol) < 10 * kappa
    same_events(sol, ref, (20 if m >= 100 else kappa) * rtol)
    assert (sol.counts.spans > 0) == (m >= 100)
    assert (np.diff(sol.t) > 0).all()
    assert (np.diff(sol._E[:, at.E_T]) >= 0).all()


@pytest.mark.parametrize("rtol", [1e-5, 1e-6, 1e-7])
def test_the_error_follows_the_tolerance(rtol):
    """A pass that counted what it had already integrated would be 50 to 200 tolerances off here."""
    sol = bd.solve(PLATES[500], (0, 2), falling.START, rtol=rtol)
    assert sol.counts.spans > 20
    assert in_tolerances(sol, plate_reference(500).x[-1], rtol) < 30


def test_evaluations_do_not_grow_with_the_number_of_contacts():
    counts = [bd.solve(PLATES[m], (0, 2), falling.START, rtol=1e-5).counts for m in (500, 2000)]
    assert [c.events for c in counts] == [2000, 8000]
    assert counts[1].f < 1.2 * counts[0].f
    assert counts[1].f < 800
    assert counts[1].hops < 20


def test_tight_tolerances_are_left_to_hops():
    sol = bd.solve(PLATES[100], (0, 2), falling.START, rtol=1e-9)
    assert sol.counts.spans == 0
    assert sol.counts.hops >= sol.counts.events


@pytest.mark.parametrize(
    "options",
    [{"terminal": {"spring3": 9}}, {"eps": 1e-3}, {"method": "dop853"}, {"method": "bosh3"}],
    ids=["terminal", "bands", "dop853", "bosh3"],
)
def test_what_cannot_be_spanned_is_hopped(options):
    sol = bd.solve(PLATES[100], (0, 0.62), falling.START, rtol=1e-4, **options)
    assert sol.counts.spans == 0
    assert sol.counts.events >= 100


def test_one_sided_guards_and_observers_are_not_spanned():
    p, parts = PLATES[100].defaults, {"f0": falling.free, "g": falling.contact}
    for extra in ({"direction": {5: 1}}, {"observers": (5,)}):
        system = bd.System(PLATES[100]._functions["f"].function, falling.guards, n=6, m=100, params=p, **parts, **extra)
        sol = bd.solve(system, (0, 0.6), falling.START, rtol=1e-4)
        assert sol.counts.spans == 0
        assert len(sol.events) == 100


def test_dense_output_and_words_inside_a_spanning_step():
    rtol = 1e-5
    ref = plate_reference(500)
    sol = bd.solve(PLATES[500], (0, 2), falling.START, rtol=rtol)
    kinds = sol._R[:, at.R_KIND]
    grid = np.concatenate(
        [sol.t[i - 1] + np.linspace(0, 1, 9) * (sol.t[i] - sol.t[i - 1]) for i in np.flatnonzero(kinds == at.SPAN)]
    )
    grid = np.unique(np.clip(grid, 0, 2))
    asked = bd.solve(PLATES[500], (0, 2), falling.START, rtol=rtol, t_eval=grid)
    size = np.abs(ref.x).max(axis=0)
    assert np.max(np.abs(sol(grid) - ref(grid)) / size) < 130 * rtol
    assert np.max(np.abs(asked.x - sol(grid)) / size) < 5 * rtol
    # continuous at the ends of steps
    inner = sol.t[1:-1]
    for side in (-1e-9, 1e-9):
        assert np.max(np.abs(sol(inner + side) - sol(inner)) / size) < 2 * rtol
    # the word flips where an event is, and only there
    t, k = sol.events.t[1000], sol.events.guard[1000]
    before, after = sol.word(t, "left"), sol.word(t)
    assert before[k] == -after[k] == -sol.events.direction[1000]
    word = sol.word(0.0)
    assert np.array_equal(sol.word(2.0), np.where(np.bincount(sol.events.guard, minlength=500) % 2 == 0, word, -word))


def test_events_are_on_their_guards():
    rtol = 1e-5
    sol = bd.solve(PLATES[500], (0, 2), falling.START, rtol=rtol)
    X, h = sol.events.x, PLATES[500].function("h")
    left = [abs(h(t, x, sol.p)[k]) for t, x, k in zip(sol.events.t, X, sol.events.guard, strict=True)]
    assert max(left) < 10 * rtol
    between = sol._R[sol._E[:, at.E_RECORD].astype(int), at.R_T] > sol._E[:, at.E_T]
    assert between.sum() > 1500  # most lie inside a step


def test_the_record_of_a_spanning_step():
    sol = bd.solve(PLATES[500], (0, 2), falling.START, rtol=1e-4)
    R, E = sol._R, sol._E
    rows = E[:, at.E_RECORD].astype(int)
    inside = R[rows, at.R_KIND] == at.SPAN
    assert inside.sum() > 1500
    assert (E[inside, at.E_T] > R[rows[inside] - 1, at.R_T]).all()
    assert (E[inside, at.E_T] <= R[rows[inside], at.R_T]).all()
    spans = np.flatnonzero(R[:, at.R_KIND] == at.SPAN)
    assert len(spans) == sol.counts.spans
    close(R[spans, at.R_S1], R[spans, at.R_T] - R[spans - 1, at.R_T], 1e-15)


def test_step_by_step_is_the_same():
    whole = bd.solve(PLATES[100], (0, 1), falling.START, rtol=1e-4)
    stepper = bd.Stepper(PLATES[100], (0, 1), falling.START, rtol=1e-4)
    while stepper.status == "running":
        steps = stepper._I[at.NSTEPS]
        stepper.step()
        assert stepper._I[at.NSTEPS] <= steps + 1
    close(stepper.x, whole.x[-1], 1e-2)
    assert len(stepper.solution.events) == len(whole.events) == 200
    assert stepper.solution.counts.spans > 0


def test_continuing_inside_a_corner():
    rtol = 1e-6
    first = bd.solve(PLATES[100], (0, 0.58), falling.START, rtol=rtol)
    assert 0 < first.counts.events < 100
    second = bd.solve(PLATES[100], (0.58, 2), first.x[-1], rtol=rtol, b0=first.b[-1])
    ref = plate_reference(100)
    assert len(first.events) + len(second.events) == len(ref.events)
    assert in_tolerances(second, ref.x[-1], rtol) < 10 * 150


def test_numbering_does_not_matter():
    rtol, rng = 1e-5, np.random.default_rng(3)
    order = rng.permutation(500)
    p = PLATES[500].defaults.copy()
    p[falling.FIXED :] = p[falling.FIXED :][order]
    one = bd.solve(PLATES[500], (0, 2), falling.START, rtol=rtol)
    other = bd.solve(PLATES[500], (0, 2), falling.START, p, rtol=rtol)
    assert in_tolerances(other, one.x[-1], rtol) < 130
    assert np.array_equal(order[other.events.guard], one.events.guard)
    close(one.events.t, other.events.t, rtol)


@pytest.mark.parametrize("tilt", [0.0, 1e-14, 1e-9, 1e-6])
def test_a_level_plate_touches_everywhere_at_once(tilt):
    start = np.array([0.0, 1.5, tilt, 0.0, 0.0, 0.0])
    sol = bd.solve(PLATES[500], (0, 0.35), start, rtol=1e-5)
    assert sorted(sol.events.guard) == list(range(500))
    close(sol.events.t, np.sqrt(2 * 0.5 / 9.81), 3e-5)
    assert sol.counts.f < 300
    ref = tight(PLATES[8], (0, 0.35), start)  # the same in all that matters: the springs share the load
    close(sol.x[-1][[1, 4]], ref.x[-1][[1, 4]], 1e-3)


# ------------------------------------------------------------------------------------------------ other sums

rng = np.random.default_rng(1)
LEVELS = rng.permutation(np.sort(rng.uniform(0.1, 1.5, 400)))
SHARE = rng.uniform(0.5, 1.5, 400) / 400
THRESHOLDS = sums.thresholds(LEVELS, SHARE)
LEGS = sums.legs(rng.uniform(0.8, 1.0, 200), 10.0)
SWING = sums.swing(300)


@pytest.mark.parametrize("total", [5.0, 20.0, -0.8])
@pytest.mark.parametrize("rtol", [1e-3, 1e-5, 1e-7])
def test_guards_whose_own_rate_jumps(total, rtol):
    exact, times = sums.thresholds_exact(1.5, 0.0, LEVELS, total * SHARE)
    sol = bd.solve(THRESHOLDS, (0, 1.5), [0.0, 0.0], np.r_[1.0, LEVELS, total * SHARE], rtol=rtol)
    assert in_tolerances(sol, exact, rtol) < 30
    if abs(len(times) - len(sol.events)) == 0:
        close(sol.events.t, times, 30 * rtol)
    else:  # at the loosest tolerance one more or less, within it of the end
        assert rtol == 1e-3
        assert abs(len(times) - len(sol.events)) <= 3


@pytest.mark.parametrize("rtol", [1e-4, 1e-6])
@pytest.mark.parametrize(("stiffness", "damping", "preload"), [(10, 0, 0), (10, 0.05, 0), (10, 0, 0.15), (2, 0, 2.0)])
def test_legs(stiffness, damping, preload, rtol):
    p = LEGS.defaults.copy()
    p[201:401], p[401:601], p[601:] = stiffness, damping, preload
    x0, t_span = [1.5, 0.0], (0, 1.0)
    ref, sol = tight(LEGS, t_span, x0, p), bd.solve(LEGS, t_span, x0, p, rtol=rtol)
    moved = tight(LEGS, t_span, np.array(x0) + 1e-6, p)
    kappa = max(10.0, np.abs(moved.x[-1] - ref.x[-1]).max() / 1e-6)
    assert sol.counts.spans > 0
    assert in_tolerances(sol, ref.x[-1], rtol) < 10 * kappa
    same_events(sol, ref, 30 * rtol)


@pytest.mark.parametrize("rtol", [1e-4, 1e-6])
def test_curved_and_moving_guards(rtol):
    x0 = [0.0, 1.0, 0.5, -0.2]
    ref, sol = tight(SWING, (0, 3), x0), bd.solve(SWING, (0, 3), x0, rtol=rtol)
    assert sol.counts.spans > 0
    assert in_tolerances(sol, ref.x[-1], rtol) < 100
    same_events(sol, ref, 20 * rtol)


def test_breakpoints_between_spanning_steps():
    x0, breakpoints = [0.0, 1.0, 0.5, -0.2], (0.3, 0.31, 1.0)
    ref, sol = tight(SWING, (0, 3), x0), bd.solve(SWING, (0, 3), x0, rtol=1e-4, breakpoints=breakpoints)
    assert sol.counts.spans > 0
    assert np.isin(breakpoints, sol.t).all()
    assert in_tolerances(sol, ref.x[-1], 1e-4) < 100


def test_oscillators_have_a_closed_form():
    m, rtol = 60, 1e-4
    system = bd.models.oscillators(m)
    q0, v0 = -np.linspace(0.30, 0.31, m), np.full(m, 0.4)
    sol = bd.solve(system, (0, 3), np.r_[q0, v0], rtol=rtol)
    exact = [relays.exact(3.0, q, v) for q, v in zip(q0, v0, strict=True)]
    close(sol.x[-1], np.r_[[e[0] for e in exact], [e[1] for e in exact]], 30 * rtol)
    assert len(sol.events) == sum(len(e[2]) for e in exact)
    for k in range(m):
        close(sol.t_events[k], exact[k][2], 30 * rtol)


def test_touch_and_release_inside_one_step():
    levels = np.linspace(0.9, 0.999, 50)
    system = sums.crests(levels, 1e-3)
    sol = bd.solve(system, (0, 4), [np.cos(-2.0), -np.sin(-2.0), 0.0], rtol=1e-4, max_step=0.7)
    # cos(t - 2) is above the level for 2 arccos(level)
    assert len(sol.events) == 100
    ups, downs = sol.events.t[sol.events.direction > 0], sol.events.t[sol.events.direction < 0]
    close(ups, 2.0 - np.arccos(levels), 3e-3)
    close(downs, 2.0 + np.arccos(levels[::-1]), 3e-3)
    close(sol.x[-1, 2], 1e-3 * np.sum(2 * np.arccos(levels)), 1e-5)


def test_refusals_are_named_as_with_hops():
    slide, turn = sums.relays(80, 0.8), sums.turning(80)
    with pytest.raises(bd.SlidingError):
        bd.solve(slide, (0, 2), -np.linspace(0.5, 0.6, 80))
    with pytest.raises(bd.NotEventSelectedError):
        bd.solve(turn, (0, 2), -np.full(80, 0.5))
    sol = bd.solve(slide, (0, 2), -np.full(80, 0.5), [0.3], rtol=1e-6)
    assert sol.counts.spans >= 1
    assert len(np.unique(sol._E[1:, at.E_RECORD])) == 1  # all but the first, which was landed on, in one step
    close(sol.x[-1], 0.4 * 1.5, 1e-5)
    close(sol.events.t, 0.5, 1e-6)


def test_several_contacts_at_once_are_optional():
    plain = bd.System(
        PLATES[100]._functions["f"].function,
        falling.guards,
        n=6,
        m=100,
        params=PLATES[100].defaults,
        f0=falling.free,
        g=falling.contact,
    )
    one, other = (bd.solve(s, (0, 2), falling.START, rtol=1e-4) for s in (plain, PLATES[100]))
    assert one.counts.f == other.counts.f
    close(one.x[-1], other.x[-1], 1e-9)
    many = PLATES[100].function("g_many")(0.0, falling.START, np.array([3, 70]), plain.defaults)
    g = plain.function("g")
    close(many.T, [g(0.0, falling.START, k, plain.defaults) for k in (3, 70)], 1e-14)
    with pytest.raises(TypeError, match="give g as well"):
        bd.System(lambda t, x, b, p: x, lambda t, x, p: x, n=1, m=1, g_many=falling.contact_many)


def test_an_error_in_g_comes_out():
    def broken(t, x, k, p, dx):
        if x[0] < 0.999:
            raise ValueError("this leg is broken")
        dx[1] += 10.0 * (1.0 - x[0])

    def together(t, x, b, p, dx):
        dx[0] = x[1]
        dx[1] = -9.81

    p = np.r_[9.81, np.linspace(0.99, 1.0, 40), np.zeros(120)]
    system = bd.System(together, sums._compressed, n=2, m=40, params=p, f0=sums._falling, g=broken)
    with pytest.raises(ValueError, match="this leg is broken") as caught:
        bd.solve(system, (0, 1), [1.2, 0.0], rtol=1e-4)
    assert "in g, at t =" in caught.value.__notes__[0]


def test_systems_that_are_no_sums_do_not_span():
    assert bd.solve(systems.balls(30), (0, 1), np.r_[np.linspace(1, 1.001, 30), np.zeros(30)]).counts.spans == 0
