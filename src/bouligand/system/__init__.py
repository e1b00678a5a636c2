"""What a user gives: the functions of a system, its names, sizes, parameters and guards."""

from .system import System

__all__ = ["System"]
