"""The only files that know the internals of Numba and LLVM."""

from ..._undivided import undivided
from . import forks  # (first: from here on forks wait)

with undivided():  # (the first of these files to be imported imports Numba)
    from . import jit, kept, overloads, tables, vectors, wrapping

__all__ = ["forks", "jit", "kept", "overloads", "tables", "vectors", "wrapping"]
