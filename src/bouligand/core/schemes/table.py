"""All schemes together, for compiled code: numbers by scheme (``ORDER[scheme]``), and their formulas.

The formulas take the number of the scheme as their first argument; those of dopri5 alone, for hops and spanning steps, ignore it.
"""

import numpy as np

from . import BOSH3, DOPRI5, SCHEMES
from .stages import combination, stage_runner

# by number; the first, for no scheme, is not used; stiff steps are of order 3, too, and share its step size control
_BY_NUMBER = SCHEMES[0], *SCHEMES, BOSH3


def _numbers(of, dtype=float):
    """A value for each scheme, by its number."""
    return np.array(list(map(of, _BY_NUMBER)), dtype=dtype)


def _padded(of):
    """An array for each scheme, by its number, filled up with zeros to the size of the largest."""
    arrays = list(map(of, _BY_NUMBER))
    out = np.zeros((len(arrays), *(max(sizes) for sizes in zip(*(a.shape for a in arrays), strict=True))))
    for q, a in enumerate(arrays):
        out[(q, *map(slice, a.shape))] = a
    return out


def _stable(scheme):
    """The longest step, in units of its time, behind which a decaying mode is not larger than before."""
    stages = scheme.stages - 1
    A, b, z = scheme.A[:stages, :stages], scheme.b[:stages], -np.arange(0.05, 20.0, 0.05)
    powers = [np.ones(stages)]
    for _ in range(stages - 1):
        powers.append(A @ powers[-1])
    left = 1.0 + sum((b @ power) * z ** (q + 1) for q, power in enumerate(powers))
    return -z[np.argmax(np.abs(left) > 1.0) - 1]


ORDER = _numbers(lambda q: q.order)
STABLE = _numbers(_stable)  # the length of a step times the rate of a decaying mode up to which it is stable
# ... as a sum of threes and twos: by which y ** order is multiplied up
THREES = _numbers(lambda q: (q.order - 2 * (-q.order % 3)) // 3, int)
TWOS = _numbers(lambda q: -q.order % 3, int)
LAST = _numbers(lambda q: q.stages - 1, int)  # the stage at the result
LATE = _numbers(lambda q: q.control.late, int)
GROWTH = _numbers(lambda q: q.control.growth)
ESTIMATES = _numbers(lambda q: len(q.errors), int)  # of the error: one, or two that are combined
EARLY = _numbers(lambda q: q.control.early or (0.0, 0.0))  # (0: not guessed)
EARLY_FACTOR = _numbers(lambda q: q.control.early_error[0])
EARLY_POWER = _numbers(lambda q: q.control.early_error[1], int)
NATURAL_FACTOR = _numbers(lambda q: q.control.natural[0])
NATURAL_POWER = _numbers(lambda q: q.control.natural[1], int)
STAGE_TIME = _padded(lambda q: q.c)  # where in the step a stage is evaluated, 0 to 1
EXTENSION = _padded(lambda q: q.P)
DENSE_STAGES = _numbers(lambda q: q.P.shape[0], int)  # stages that the extension uses,
DEGREE = _numbers(lambda q: q.P.shape[1], int)  # its degree,
MORE_STAGES = _numbers(lambda q: len(q.c) - q.stages, int)  # and how many of them the step itself does not need


def _formulas(schemes):
    """As compiled code: two stages, the others before the result, the result, the extension's own stages, error estimates."""

    def stages(which):
        return stage_runner([(q.A, q.c, which(q)) for q in schemes])

    return (
        stages(lambda q: range(1, 3)),
        stages(lambda q: range(3, q.stages - 1)),
        combination([q.b[: q.stages - 1] for q in schemes], onto=True),
        stages(lambda q: range(q.stages, len(q.c))),
        combination([q.errors[0, : q.stages] for q in schemes]),
        combination([q.errors[1, : q.stages] if len(q.errors) > 1 else None for q in schemes]),
    )


first_stages, later_stages, result, dense_stages, error_estimate, second_estimate = _formulas(SCHEMES)
dopri5_first, dopri5_later, dopri5_result, _, dopri5_error, _ = _formulas([DOPRI5])
