"""What can go wrong, by name.

Every failure of an integration carries the trajectory up to there: ``error.solution``.
"""


class BouligandError(Exception):
    """Base of all errors of this library."""


class SolveError(BouligandError):
    """An integration that could not go on.

    Attributes
    ----------
    solution : Solution
        The trajectory up to the failure.
    t, x : float, array (n,)
        Where it failed.
    guard : str or None
        Name of the guard concerned, if one is.
    hdot : float or None
        How fast that guard was approached (``b hdot``, negative towards it), where it is known.
    """

    def __init__(self, message, *, solution=None, t=None, x=None, guard=None, hdot=None):
        super().__init__(message)
        self.solution, self.t, self.x, self.guard, self.hdot = solution, t, x, guard, hdot


class SlidingError(SolveError):
    """On a guard, hdot under both words points to it: the trajectory would slide along the guard."""


class GrazingError(SolveError):
    """It cannot be told, at this tolerance, whether a guard was crossed or only touched, and it matters."""


class NotEventSelectedError(SolveError):
    """A guard that was about to be crossed was turned away by another's crossing: the outcome has no continuous answer."""


class ChatteringError(SolveError):
    """A guard was crossed over and over in no time."""


class NotFiniteError(SolveError):
    """f or h is not finite, however short the step."""


class StepSizeError(SolveError):
    """The step became too small: the field is too stiff for an explicit method, or singular."""


class TooManyStepsError(SolveError):
    """``max_steps`` was reached before the end."""


class StiffnessError(TooManyStepsError, StepSizeError):
    """Steps are as short as stability demands, not accuracy: a mode decays much faster than anything that happens.

    Attributes
    ----------
    rate : float
        How fast it decays, in 1/time.
    states : tuple of str
        The states it lives in, the first most.
    """

    def __init__(self, message, *, rate, states, **where):
        super().__init__(message, **where)
        self.rate, self.states = rate, states


class StartError(SolveError):
    """The word at the start is ambiguous, impossible, or contradicts the sign of h."""


class FunctionError(SolveError):
    """A compiled user function reported a failure that did not show again when it was called once more."""


class DerivativeError(BouligandError):
    """A derivative that does not exist: of a solution that failed, in parameters that changed on the way."""


class TooManyPiecesError(BouligandError):
    """A derivative with more pieces than can be gone through one by one."""


class PerformanceWarning(UserWarning):
    """Something works, but much slower than it could."""
