"""How the outcome depends on start, parameters and start time: the B-derivative, its corners and its pieces."""

from .bderivative import BDerivative
from .corner import Corner, saltation

__all__ = ["BDerivative", "Corner", "saltation"]
