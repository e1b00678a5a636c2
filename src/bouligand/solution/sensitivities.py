"""The part of a `Solution` that hands over to `derivative`: B-derivatives and sensitivities."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, cast, overload

import numpy as np

from .._made import make
from ..errors import DerivativeError
from ..system.arguments import numbers

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from .._typing import FloatArray, Parameters
    from ..derivative.at_times import BDerivativeAtTimes
    from ..derivative.bderivative import BDerivative
    from ..derivative.differences import Steps
    from ..derivative.flights import Flight
    from ..derivative.refinement import Rates
    from .solution import Solution


class Sensitivities:
    """Derivatives of the trajectory, and what they keep of it for the next one."""

    # the fastest modes along the record, found by the last derivative with another tolerance
    _rates: Rates | None = None
    # the steps of differences, without parameters and with them; see `derivative.differences`
    _difference_steps: dict[bool, Steps] | None = None
    # the parts between jumps of the state
    _flights: list[Flight] | None = None

    @overload
    def bderivative(
        self,
        t: float | None = None,
        *,
        since: float | None = None,
        event: int | None = None,
        params: Literal[False] = False,
        merge: float | None = None,
        rtol: float | None = None,
    ) -> BDerivative: ...

    @overload
    def bderivative(
        self,
        t: float | None = None,
        *,
        since: float | None = None,
        event: int | None = None,
        params: Literal[True],
        merge: float | None = None,
        rtol: float | None = None,
    ) -> BDerivative[tuple[FloatArray, FloatArray]]: ...

    @overload
    def bderivative(
        self,
        t: float | None = None,
        *,
        since: float | None = None,
        event: int | None = None,
        params: bool,
        merge: float | None = None,
        rtol: float | None = None,
    ) -> BDerivative[FloatArray | tuple[FloatArray, FloatArray]]: ...

    @overload
    def bderivative(
        self,
        t: Sequence[float] | FloatArray,
        *,
        since: float | None = None,
        params: Literal[False] = False,
        merge: float | None = None,
        rtol: float | None = None,
    ) -> BDerivativeAtTimes: ...

    @overload
    def bderivative(
        self,
        t: Sequence[float] | FloatArray,
        *,
        since: float | None = None,
        params: Literal[True],
        merge: float | None = None,
        rtol: float | None = None,
    ) -> BDerivativeAtTimes[tuple[FloatArray, FloatArray]]: ...

    @overload
    def bderivative(
        self,
        t: Sequence[float] | FloatArray,
        *,
        since: float | None = None,
        params: bool,
        merge: float | None = None,
        rtol: float | None = None,
    ) -> BDerivativeAtTimes[FloatArray | tuple[FloatArray, FloatArray]]: ...

    def bderivative(
        self,
        t: float | Sequence[float] | FloatArray | None = None,
        *,
        since: float | None = None,
        event: int | None = None,
        params: bool = False,
        merge: float | None = None,
        rtol: float | None = None,
    ) -> BDerivative[Any] | BDerivativeAtTimes[Any]:
        """The Bouligand derivative of ``x(since) -> x(t)``: how the outcome depends on the start.

        Parameters
        ----------
        t : float or sequence of float, optional
            The time of the outcome; default: the end of the trajectory. Or several times, in any order, all in one pass.
        since : float, optional
            The time of the start; default: the start of the trajectory.
        event : int, optional
            Take the state at this event instead of a fixed time: the derivative of a Poincare map. That is also the default
            for a solution that ended at a terminal event.
        params : bool
            Whether to differentiate with respect to the parameters too: ``B(dx, dp=...)``, ``B.matrix(wrt="p")``.
        merge : float, optional
            Crossings within this time of each other are one corner, whose offsets are kept: right for perturbations that
            are larger than the gaps, with an error of O(merge |dx|). Default: crossings that the tolerances cannot tell
            apart are one corner, without offsets.
        rtol : float, optional
            The tolerance to which steps that are too long for perturbations are divided; default: that of the solution. A
            looser one costs less where the trajectory has fast modes that it does not excite.

        Returns
        -------
        BDerivative
            ``B(dx)``, ``B.matrix(dx)``, ``B.vjp(w, dx)``, ``B.event_times(dx)``, ``B.pieces()`` and more. For several times, a
            `BDerivativeAtTimes`, which has the same; its arrays have the times first.

        Raises
        ------
        DerivativeError
            If the solution failed before its end (and no ``t`` is given), or its parameters were changed and
            ``params=True``.
        GrazingError
            If a guard is touched tangentially.

        Examples
        --------
        >>> import bouligand as bd
        >>> sol = bd.solve(bd.models.hopper(), (0.0, 0.2), [2.0, 0.0])
        >>> B = sol.bderivative(params=True)
        >>> B([0.0, 1.0]).round(6)
        array([0.2, 1. ])
        >>> B(dp={"g": 1.0}).round(6)
        array([-0.02, -0.2 ])
        >>> sol.bderivative([0.1, 0.2]).matrix().shape
        (2, 2, 2)
        """
        at_one, at_many = _derivatives()
        several = hasattr(t, "__len__") and getattr(t, "ndim", None) != 0
        if not several:
            self._refuse_jump(t)
            return make(at_one, self, t, since, event, params, merge, rtol)
        if event is not None:
            raise ValueError("give t or event, not both: the state is taken at fixed times, or at an event")
        return make(at_many, self, t, since, params, merge, rtol)

    def _refuse_jump(self, t: Any) -> None:
        """Raise if the state jumps at this very time."""
        solution = cast("Solution", self)
        if t is None or not solution.system.jumps:
            return
        record = solution.record
        if record.jump_rows.size and (record.t[record.jump_rows] == t).any():
            raise DerivativeError(
                f"the state jumps at t = {t:.10g}, the very time of the outcome, which has no derivative there: a trajectory "
                "that is a little later has not jumped yet. Give another t, or event= for the state behind the jump"
            )

    def sensitivity(
        self,
        wrt: str | Iterable[str] = "x",
        t: ArrayLike | None = None,
        *,
        dx: ArrayLike | None = None,
        dp: Parameters | None = None,
        rtol: float | None = None,
    ) -> FloatArray:
        """The derivatives of the states at many times with respect to the start or to parameters, in one pass.

        Parameters
        ----------
        wrt : {"x", "p"}, or a sequence of str
            With respect to the state at the start, to all parameters, or to these states and parameters, by name.
        t : array, optional
            The times; default: ``sol.t``, which is ``t_eval`` if that was given.
        dx, dp
            A perturbation of the start and of the parameters. It selects the linear piece, and is needed only where there are
            several (see `bderivative`).
        rtol
            As for `bderivative`.

        Returns
        -------
        array (times, n, columns)

        Examples
        --------
        >>> import bouligand as bd
        >>> sol = bd.solve(bd.models.hopper(), (0.0, 1.0), [2.0, 0.0], t_eval=[0.0, 0.1, 0.2])
        >>> sol.sensitivity(("vz", "g")).round(6)
        array([[[ 0.   ,  0.   ],
                [ 1.   ,  0.   ]],
        <BLANKLINE>
               [[ 0.1  , -0.005],
                [ 1.   , -0.1  ]],
        <BLANKLINE>
               [[ 0.2  , -0.02 ],
                [ 1.   , -0.2  ]]])
        """
        from ..derivative.moments import columns_of

        solution = cast("Solution", self)
        columns = columns_of(solution.system, wrt)
        params = dp is not None or any(column >= solution.system.n for column in columns)
        times = solution.t if t is None else np.atleast_1d(numbers("t", t))
        at_many: Any = _derivatives()[1]
        out: FloatArray = make(at_many, solution, times, None, params, None, rtol)._columns(columns, dx, dp)
        return out


@cache
def _derivatives() -> tuple[Any, Any]:
    """The classes of derivatives at one time and at many, from the layer above, imported once they are needed."""
    from ..derivative.at_times import BDerivativeAtTimes
    from ..derivative.bderivative import BDerivative

    return BDerivative, BDerivativeAtTimes
