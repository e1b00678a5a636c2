"""An integration scheme as data: an explicit Runge-Kutta pair with a continuous extension, which checks itself.

A scheme advances ``x`` by ``s sum b_q K_q`` with ``K_q = f(t + c_q s, x + s sum_r A_qr K_r)``. Its last ordinary stage is
evaluated at the result itself, so that it is the first stage of the next step. The continuous extension is a polynomial
in ``theta = (time since the start) / s``: ``x + s sum_q K_q sum_d P[q, d] theta^(d+1)``; it may need more stages.
"""

from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True)
class Control:
    """Constants of a scheme for step size control, besides its order."""

    late: int  # a stage late in the step: with x' at both ends it gives x'' and x''' at the end
    growth: float = 5.0  # from one step to the next, at most
    # For the first step after an event, its error from two stages: the times of these in the step, and a factor and a power
    # such that the error is about factor * (size of x''') * rate ** power. None: not guessed.
    early: tuple[float, float] | None = None
    early_error: tuple[float, int] = (0.0, 0)
    # The step at which the error estimate is the tolerance, from the size of x'' and a rate that hops have measured: about
    # (factor / (x'' rate ** power)) ** (1 / (power + 2)).
    natural: tuple[float, int] = (5e4, 4)


@dataclass(frozen=True)
class Scheme:
    """An explicit Runge-Kutta pair.

    ``A`` has a row for each stage, that at the result included (its row is ``b``), then those of the extension. ``errors``
    are the weights of one error estimate, or of two that are combined as in DOP853. ``P`` is the extension.
    """

    name: str
    order: int  # of the result
    error_order: int  # the error estimate falls like s ** (error_order + 1)
    dense_order: int
    stages: int  # ordinary stages, that at the result included
    c: np.ndarray
    A: np.ndarray
    errors: np.ndarray
    P: np.ndarray
    source: str
    control: Control
    b: np.ndarray = field(init=False)

    def __post_init__(self):
        object.__setattr__(self, "b", self.A[self.stages - 1])
        self.check()

    def check(self):
        """Raise ValueError unless the coefficients are those of a method of the stated orders (as far as is cheap)."""
        c, A, b, P = self.c, self.A, self.b, self.P

        def demand(holds, what):
            if not holds:
                raise ValueError(f"scheme {self.name}: {what}")

        demand(np.allclose(A.sum(1), c, rtol=0, atol=1e-13), "the rows of A do not add up to c")
        demand(not np.triu(A).any(), "A is not strictly lower triangular")
        for q in range(self.order):
            demand(np.isclose(b @ c**q, 1 / (q + 1), rtol=1e-12), f"b does not integrate c^{q}")
        demand(np.isclose(b @ A @ c, 1 / 6, rtol=1e-12), "b A c is not 1/6")
        if self.order > 3:
            demand(np.isclose(b @ A @ c**2, 1 / 12, rtol=1e-12), "b A c^2 is not 1/12")
            demand(np.isclose(b @ A @ A @ c, 1 / 24, rtol=1e-12), "b A A c is not 1/24")
        demand(np.allclose(self.errors.sum(1), 0, rtol=0, atol=1e-13), "an error estimate is not zero for constant f")
        demand(np.allclose(P.sum(1), b, rtol=0, atol=1e-12), "the extension does not end at the result")
        for q in range(self.dense_order):
            # integral of t^q from 0 to theta: theta^(q+1)/(q+1)
            wanted = np.zeros(P.shape[1])
            wanted[q] = 1 / (q + 1)
            demand(np.allclose(c**q @ P, wanted, rtol=0, atol=1e-11), f"the extension does not integrate t^{q}")
