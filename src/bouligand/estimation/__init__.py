"""What measurements tell of a system with events: its parameters (`fit`), and its state while it moves (`Filter`).

The covariance of a filter goes through events by the B-derivative (`transition`); `particle_filter` is a reference on
`solve_many`."""

from .filter import Filter
from .fit import FitResult, fit
from .particles import particle_filter
from .track import Track

__all__ = ["Filter", "FitResult", "Track", "fit", "particle_filter"]
