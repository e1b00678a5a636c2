"""The B-derivative of the outcome with respect to start, parameters and start time; its corners and its pieces."""

from .bderivative import BDerivative
from .corner import Corner
from .saltation_matrix import saltation

__all__ = ["BDerivative", "Corner", "saltation"]
