"""For optimisers: the outcome of a trajectory as a function of parts of its start and of its parameters, with derivative."""

import numpy as np

from ..integration.options import state
from ..integration.solve import solve
from ..system.arguments import finite_numbers
from ..system.system import System


class Shooting:
    """Shoot from a start that depends on unknowns, and see where it ends.

    Parameters
    ----------
    system, t_span, x0, p
        As for `solve`; x0 and p hold the values of everything that is not free.
    free : sequence of str
        Names of the states (their values at the start) and parameters that are unknown; default all states.
    **options
        For `solve`: rtol, atol, ...

    ``shot(theta)`` is the state at the end (at the terminal event, if one is given), ``shot.jacobian(theta)`` its derivative,
    for `scipy.optimize.least_squares` and `root`; ``shot.value_and_gradient(cost)`` a function for `minimize(..., jac=True)`.
    The last solution is kept, so that value and derivative cost one solve.

    Where guards are crossed together, the derivative is that of the piece which lies in the direction of the last change of
    theta: what an optimiser that moves on will meet.

    Examples
    --------
    >>> import bouligand as bd
    >>> shot = bd.Shooting(bd.models.hopper(), (0.0, 0.2), [2.0, 0.0], free=("z", "g"))
    >>> shot.jacobian([2.0, 9.81]).round(6)
    array([[ 1.  , -0.02],
           [ 0.  , -0.2 ]])
    """

    def __init__(self, system, t_span, x0, p=None, *, free=None, **options):
        self.system, self.t_span, self.options = system, t_span, options
        if not isinstance(system, System):
            raise TypeError(f"system must be a System (bd.System(f, h, ...)); got {system!r}")
        self.x0, self.p = finite_numbers("x0", state(system, x0)), np.array(system.parameters(p), dtype=float)
        try:
            self.free = tuple(system.states if free is None else (free,) if isinstance(free, str) else free)
        except TypeError:
            raise TypeError(f"free must be names of states and parameters; got {free!r}") from None
        for name in self.free:
            if (name in system.states) == (name in system.params):
                what = "both a state and a parameter" if name in system.states else "neither a state nor a parameter"
                raise ValueError(
                    f"free: {name!r} is {what}; states: {', '.join(system.states)}; parameters: {', '.join(system.params)}"
                )
        self._states = [(q, system.states.index(name)) for q, name in enumerate(self.free) if name in system.states]
        self._params = [(q, system.params.index(name)) for q, name in enumerate(self.free) if name in system.params]
        self.solves = 0
        self._theta: np.ndarray | None = None
        self._direction = np.ones(len(self.free))
        self._solution = None

    def _gather(self, by_state, by_parameter):
        """The entries (or rows) of the unknowns, out of those of all states and all parameters."""
        shape = (len(self.free), *np.shape(by_state)[1:])
        out = np.empty(shape)
        for q, i in self._states:
            out[q] = by_state[i]
        for q, i in self._params:
            out[q] = by_parameter[i]
        return out

    def _scatter(self, theta, x, p):
        """x and p with the unknowns in their places."""
        x, p = x.copy(), p.copy()
        for q, i in self._states:
            x[i] = theta[q]
        for q, i in self._params:
            p[i] = theta[q]
        return x, p

    @property
    def start(self):
        """The values of the unknowns in x0 and p."""
        return self._gather(self.x0, self.p)

    def solution(self, theta):
        """The trajectory from there."""
        theta = finite_numbers("theta", theta)
        if theta.shape != (len(self.free),):
            raise ValueError(
                f"theta must have {len(self.free)} values ({', '.join(self.free)}); got shape {theta.shape}"
            )
        if self._theta is None or not np.array_equal(theta, self._theta):
            x0, p = self._scatter(theta, self.x0, self.p)
            self._solution = solve(self.system, self.t_span, x0, p, **self.options)
            self.solves += 1
            if self._theta is not None:
                self._direction = theta - self._theta
            self._theta = theta
        return self._solution

    def __call__(self, theta):
        return self.solution(theta).record.states[-1].copy()

    def _derivative(self, theta):
        """The derivative there, and the direction that selects its piece, as dx and dp."""
        B = self.solution(theta).bderivative(params=bool(self._params))
        dx, dp = self._scatter(self._direction, np.zeros(self.system.n), np.zeros(len(self.p)))
        return B, dx, dp if self._params else None

    def jacobian(self, theta):
        """Derivative of the outcome: (n, unknowns)."""
        B, dx, dp = self._derivative(theta)
        by_parameter = B.matrix(dx, dp, wrt="p").T if self._params else None
        return self._gather(B.matrix(dx, dp).T, by_parameter).T

    def value_and_gradient(self, cost):
        """``theta -> (value, gradient)`` for a cost of the outcome: ``cost(x)`` returns its value and its gradient in x."""

        def function(theta):
            value, slope = cost(self(theta))
            B, dx, dp = self._derivative(theta)
            back = B.vjp(slope, dx, dp)
            return value, self._gather(*(back if self._params else (back, None)))

        return function
