"""What a derivative is compared with: the flow itself, solved anew from perturbed starts."""

import numpy as np

import bouligand as bd


def end(system, span, x0, p=None, rtol=1e-12):
    return bd.solve(system, span, x0, p, rtol=rtol, atol=1e-14).x[-1]


def richardson(function, at, direction, step):
    """The derivative of a function along a direction: central differences at three steps, extrapolated to the sixth order."""
    at, direction = np.asarray(at, dtype=float), np.asarray(direction, dtype=float)
    first, half, quarter = (
        (function(at + s * direction) - function(at - s * direction)) / (2.0 * s) for s in (step, step / 2, step / 4)
    )
    fourth, finer = (4.0 * half - first) / 3.0, (4.0 * quarter - half) / 3.0
    return (16.0 * finer - fourth) / 15.0


def falls_like_squares(system, span, x0, direction, B, start=1e-2, floor=1e-10):
    """One-sided differences over eight decades: what B(s d) leaves of the true difference falls like s^2, down to the floor.

    The floor is ten times what the reference itself is off by (rtol 1e-12, amplified along the trajectory).
    """
    x0, direction = np.asarray(x0, dtype=float), np.asarray(direction, dtype=float)
    here = end(system, span, x0)
    scales = start * 10.0 ** -np.arange(8)
    left = [np.abs(end(system, span, x0 + s * direction) - here - B(s * direction)).max() for s in scales]
    worst = max(left[0], left[1] * 1e2, left[2] * 1e4)  # the constant, from the first three decades
    for s, error in zip(scales, left, strict=True):
        assert error <= max(1.5 * worst * (s / start) ** 2, floor), f"s = {s:.0e}: {error:.2e} of {left}"
    assert left[2] <= max(1e-3 * left[0], floor), left


def piece_of(pieces, *order):
    """The piece of a derivative with one corner in which its guards are crossed in this order."""
    return next(piece for piece in pieces if (order,) in piece.orders)
