"""Filters against closed forms: linear systems, jumps, the asymmetric corner, contact sensors; consistency."""

import math

import numpy as np
import pytest
from benchmarks.estimation import (
    CORNER_COVARIANCE,
    CORNER_MEAN,
    ball,
    consistency,
    corner_samples,
    rough_ground,
    single_times,
    through_corner,
)
from scipy.integrate import trapezoid
from scipy.stats import chi2, multivariate_normal, norm

import bouligand as bd

HOPPER = bd.models.hopper()
FREE = bd.System(lambda t, x, b, p: (x[1], p[0]), states=("z", "v"), params={"a": 0.0})  # a free mass, no guards


def test_a_linear_system_is_the_kalman_filter():
    """Prediction, noise and updates against the textbook's matrices; so are log-likelihood and smoother (a joint Gaussian)."""
    rng, q, r, dt, P0 = np.random.default_rng(0), 0.3, 0.04, 0.1, np.diag([0.5, 0.2])
    t = dt * np.arange(1, 6)
    z = rng.normal(size=5)
    estimator = bd.Filter(FREE, [0.1, 0.2], P0, R=r, Q={"v": q}, observe="z")
    track = estimator.run({"t": t, "z": z})
    A, H = np.array([[1.0, dt], [0.0, 1.0]]), np.array([[1.0, 0.0]])
    Q = q * np.array([[dt**3 / 3, dt**2 / 2], [dt**2 / 2, dt]])
    # all states at once: mean and covariance of (x_1, ..., x_5), given the data
    mean, cov = [np.array([0.1, 0.2])], {(0, 0): P0}
    for k in range(5):
        mean.append(A @ mean[-1])
        cov[k + 1, k + 1] = A @ cov[k, k] @ A.T + Q
    full_mean = np.concatenate(mean[1:])
    full = np.zeros((10, 10))
    for i in range(1, 6):
        for j in range(i, 6):
            block = cov[i, i] @ np.linalg.matrix_power(A, j - i).T
            full[2 * i - 2 : 2 * i, 2 * j - 2 : 2 * j] = block
            full[2 * j - 2 : 2 * j, 2 * i - 2 : 2 * i] = block.T
    Hs = np.kron(np.eye(5), H)
    S = Hs @ full @ Hs.T + r * np.eye(5)
    gain = full @ Hs.T @ np.linalg.inv(S)
    given_all = full_mean + gain @ (z - Hs @ full_mean)
    spread = full - gain @ Hs @ full
    smoothed = track.smooth()
    assert smoothed.z.ravel() == pytest.approx(given_all, abs=1e-9)
    assert smoothed.P[2] == pytest.approx(spread[4:6, 4:6], abs=1e-9)
    assert track.z[-1] == pytest.approx(given_all[-2:], abs=1e-9)
    assert track.P[-1] == pytest.approx(spread[-2:, -2:], abs=1e-9)
    assert track.log_likelihood == pytest.approx(multivariate_normal(Hs @ full_mean, S).logpdf(z), abs=1e-8)


def test_a_bounce_in_closed_form():
    """A ball that falls from z0 has at the time t behind its bounce z = v+ s - g s^2 / 2: the covariance is that of
    this formula."""
    z0, g, e, t = 1.0, 9.81, 0.8, 0.6
    hit = math.sqrt(2 * z0 / g)
    # of z and v at t in z0 (and v0): the time of the bounce moves by dz / v
    v = -g * hit

    def outcome(z0, v0, floor=0.0):
        s = (v0 + math.sqrt(v0 * v0 + 2 * g * (z0 - floor))) / g
        up, rest = -e * (v0 - g * s), t - s
        return np.array([floor + up * rest - 0.5 * g * rest**2, up - g * rest])

    d = 1e-6
    B = np.column_stack(
        [(outcome(z0 + d, 0.0) - outcome(z0 - d, 0.0)) / (2 * d), (outcome(z0, d) - outcome(z0, -d)) / (2 * d)]
    )
    by_floor = (outcome(z0, 0.0, d) - outcome(z0, 0.0, -d)) / (2 * d)
    P0 = np.diag([1e-4, 4e-4])
    plain = bd.Filter(ball(), [z0, 0.0], P0).predict(t)
    assert plain.how == "matrix"
    assert pytest.approx(B @ P0 @ B.T, rel=1e-5) == plain.P
    rough = bd.Filter(ball(), [z0, 0.0], P0, uncertain={"floor": 0.01}).predict(t)
    assert pytest.approx(B @ P0 @ B.T + 1e-4 * np.outer(by_floor, by_floor), rel=1e-5) == rough.P
    kept = bd.Filter(ball(), [z0, 0.0], P0, estimate={"floor": 0.01}).predict(t)
    assert kept.P[:2, :2] == pytest.approx(rough.P, rel=1e-9)
    assert kept.P[:2, 2] == pytest.approx(1e-4 * by_floor, rel=1e-5)
    assert v < 0.0


def test_the_asymmetric_corner():
    """A Gaussian at a corner: closed form, samples that are integrated, and a filter with one piece, which is wrong."""
    sampled = corner_samples(200_000, 0.1, np.random.default_rng(0))
    assert sampled[0] == pytest.approx(CORNER_MEAN, abs=0.01)
    assert sampled[1] == pytest.approx(np.array(CORNER_COVARIANCE), abs=0.01)
    mean, P = through_corner("auto", samples=4096)
    assert mean == pytest.approx(CORNER_MEAN, abs=5e-4)
    assert pytest.approx(np.array(CORNER_COVARIANCE), abs=5e-4) == P
    mean, P = through_corner("auto", samples=128)
    assert mean == pytest.approx(CORNER_MEAN, abs=3e-3)
    mean, P = through_corner("matrix")
    assert np.abs(mean).max() < 1e-6
    assert any(
        pytest.approx(np.array(wrong), abs=1e-6) == P
        for wrong in ([[0.5, 0.25], [0.25, 0.25]], [[1.0, -0.25], [-0.25, 0.625]])
    )


def test_a_contact_that_is_in_doubt():
    """At the end half of the Gaussian has touched the floor: z is in two parts, and the next height tells which."""
    hit = math.sqrt(2 * 1.0 / 9.81)
    estimator = bd.Filter(ball(), [1.0, 0.0], [1e-3, 1e-6], observe="z", R=1e-6, samples=512)
    estimator.predict(hit)
    assert estimator.how == "flow"
    v = 9.81 * hit
    # half of it goes up with 0.8 v, half goes down with v
    assert estimator.x[1] == pytest.approx(-0.1 * v, abs=0.1)
    assert math.sqrt(estimator.P[1, 1]) == pytest.approx(0.9 * v, abs=0.2)
    up = bd.Filter(ball(), [1.0, 0.0], [1e-3, 1e-6], observe="z", R=1e-6, samples=512).predict(hit + 0.005)
    up.update([0.03])
    later = bd.Filter(ball(), [1.0, 0.0], [1e-3, 1e-6], observe="z", R=1e-6, samples=512).predict(hit + 0.005)
    later.contact("floor", False, error=0.0)
    assert np.isfinite(later.P).all()
    assert len(up._parts) <= 2


def test_a_contact_sensor_cuts_the_gaussian():
    """z ~ N(1, 0.1^2), and the foot is at rest = 1: a report "touching" leaves the lower half, of known mean and variance."""
    estimator = bd.Filter(HOPPER, [1.0, -3.0], [[0.01, 0.005], [0.005, 0.04]])
    assert estimator.contact("foot", True, error=0.0) == pytest.approx(0.5)
    assert estimator.x[0] == pytest.approx(1.0 - 0.1 * math.sqrt(2 / math.pi), abs=1e-9)
    assert estimator.P[0, 0] == pytest.approx(0.01 * (1 - 2 / math.pi), abs=1e-9)
    assert estimator.x[1] == pytest.approx(-3.0 - 0.5 * 0.1 * math.sqrt(2 / math.pi), abs=1e-9)  # (by its correlation)
    # with wrong reports and an uncertain threshold: against numbers
    mean, std, error, noise = 1.05, 0.1, 0.1, 0.04
    estimator = bd.Filter(HOPPER, [mean, -3.0], [std**2, 0.04])
    probability = estimator.contact("foot", True, error=error, noise=noise)
    z = np.linspace(mean - 8 * std, mean + 8 * std, 200_001)
    likelihood = error + (1 - 2 * error) * norm.cdf((1.0 - z) / noise)
    density = norm.pdf(z, mean, std) * likelihood
    total = trapezoid(density, z)
    expected = trapezoid(density * z, z) / total
    assert probability == pytest.approx(total, abs=1e-7)
    assert estimator.x[0] == pytest.approx(expected, abs=1e-7)
    assert estimator.P[0, 0] == pytest.approx(trapezoid(density * (z - expected) ** 2, z) / total, abs=1e-7)
    with pytest.raises(bd.EstimationError, match="impossible"):
        bd.Filter(HOPPER, [5.0, 0.0], [0.0, 0.0]).contact("foot", True, error=0.0)


def test_consistency_over_runs():
    """NEES of a hopper's state and floor height: 3 on average. (A thousand runs: python -m benchmarks estimation.)"""
    runs = 20
    rows = consistency(runs, "auto", np.random.default_rng(5))
    # (of runs with correlated samples the mean over time is at least as certain as one of them)
    assert rows.mean() == pytest.approx(3.0, abs=5.0 * math.sqrt(6.0 / runs))
    # at single times, too: before and behind contacts, in stance and in flight
    low, high = chi2.ppf([1e-5, 1.0 - 1e-5], 3 * runs) / runs
    for name, (mean, *_) in single_times(rows).items():
        assert low < mean < high, name
    one_piece = single_times(consistency(5, "matrix", np.random.default_rng(5)))
    assert one_piece["falling"][0] < 2.0 * high
    assert one_piece["mid stance"][0] > high


def test_knowing_that_the_ground_is_rough_lowers_the_error():
    errors = {
        name: np.nanmean(rows, axis=0) for name, rows in rough_ground(8, np.random.default_rng(2), steps=45).items()
    }
    without, with_it = errors["jump alone"], errors["points where in doubt, rough ground"]
    assert with_it[:, 0].max() < 0.76 * without[:, 0].max()  # (24 to 60 % are published)
    assert with_it[:, 1].mean() < 0.9 * without[:, 1].mean()


def test_a_particle_filter_agrees():
    rng = np.random.default_rng(4)
    t = 0.04 * np.arange(1, 25)
    x = bd.solve(HOPPER, (0.0, 1.0), [1.62, 0.05], rtol=1e-9)(t)
    data = {"t": t, "z": x[:, 0] + rng.normal(0.0, 0.01, t.size)}
    ours = bd.Filter(HOPPER, [1.6, 0.0], [4e-4, 2.5e-3], R=1e-4).run(data)
    many = bd.particle_filter(HOPPER, data, [1.6, 0.0], [4e-4, 2.5e-3], R=1e-4, count=20_000, threads=1)
    assert np.abs(ours.z - many.z).max(axis=0) == pytest.approx([0.0, 0.0], abs=0.03)
    assert ours.std("vz") == pytest.approx(many.std("vz"), rel=0.4)
    assert ours.log_likelihood == pytest.approx(many.log_likelihood, abs=1.0)


def test_gates_gaps_and_outliers():
    t = 0.02 * np.arange(1, 11)
    z = 2.0 - 0.5 * 9.81 * t**2
    z[4], z[6] = 5.0, np.nan
    track = bd.Filter(HOPPER, [2.0, 0.0], [1e-4, 1e-4], R=1e-4, gate=0.999).run({"t": t, "z": z})
    assert track.accepted.tolist() == [True] * 4 + [False] + [True] * 5
    assert track["z"][-1] == pytest.approx(z[-1], abs=1e-3)
    open_ = bd.Filter(HOPPER, [2.0, 0.0], [1e-4, 1e-4], R=1e-4).run({"t": t, "z": z})
    assert abs(open_["z"][4] - z[3]) > 0.1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"P0": [[1.0, 2.0], [2.0, 1.0]]}, "P0 is not a covariance"),
        ({"P0": [-1.0, 1.0]}, "P0 is not a covariance"),
        ({"P0": [[1.0, 0.5], [0.0, 1.0]]}, "symmetric"),
        ({"P0": [1.0, 1.0, 1.0]}, "P0 must be"),
        ({"P0": {"y": 1.0}}, "'y'"),
        ({"Q": [-1.0, 0.0]}, "Q is not"),
        ({"estimate": {"mass": 1.0}}, "mass"),
        ({"estimate": {"k": -1.0}}, "negative"),
        ({"estimate": {"k": 1.0}, "uncertain": {"k": 1.0}}, "not both"),
        ({"method": "unscented"}, "method"),
        ({"gate": 2.0}, "gate"),
        ({"x0": [1.0]}, "x0"),
    ],
)
def test_wrong_arguments_are_named(options, message):
    given = {"x0": [2.0, 0.0], "P0": [0.1, 0.1], **options}
    with pytest.raises(ValueError, match=message):
        bd.Filter(HOPPER, given.pop("x0"), given.pop("P0"), **given)


def test_wrong_measurements_are_named():
    estimator = bd.Filter(HOPPER, [2.0, 0.0], [0.1, 0.1], observe="z", R=0.1)
    with pytest.raises(ValueError, match="each of z"):
        estimator.update([1.0, 2.0])
    with pytest.raises(ValueError, match="R is not a covariance"):
        estimator.update([1.0], R=0.0)
    with pytest.raises(ValueError, match="before the present time"):
        estimator.predict(-1.0)
    with pytest.raises(ValueError, match="R, the covariance"):
        bd.Filter(HOPPER, [2.0, 0.0], [0.1, 0.1]).run({"t": [0.1], "z": [1.0]})
    with pytest.raises(ValueError, match="contacts"):
        estimator.run({"t": [0.1], "z": [1.0]}, contacts={"foot": [1, 0]})
    with pytest.raises(ValueError, match="called 'w'"):
        estimator.run({"t": [0.1], "w": [1.0]})


def test_an_estimate_that_cannot_be_integrated_is_an_error():
    pole = bd.System(lambda t, x, b, p: (x[0] ** 2,), states=("x",))
    with pytest.raises(bd.EstimationError, match="could not be propagated"):
        bd.Filter(pole, [1.0], [1e-6]).predict(2.0)
