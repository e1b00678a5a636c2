"""What a user gives: the functions of a system, its names, sizes, parameters and guards.

`system` has the class itself; `declarations` reads names, parameters and options; `functions` and `user_memory` bring the
user's functions to the form in which the core calls them, `composing` makes f out of f0 and g, `binding` compiles; `check`
tests a system at a state.
"""

from .system import System

__all__ = ["System"]
