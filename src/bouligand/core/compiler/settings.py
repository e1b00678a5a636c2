"""The settings of Numba on which machine code depends, wherever that is kept."""

from numba import config

JIT = not config.DISABLE_JIT  # type: ignore[attr-defined]  # (made at run time: type checkers do not see it)

_NAMES = (
    "OPT",
    "LOOP_VECTORIZE",
    "SLP_VECTORIZE",
    "ENABLE_AVX",
    "BOUNDSCHECK",
    "DEBUGINFO_DEFAULT",
    "LLVM_PASS_TIMINGS",
)


def settings():
    """Numba's settings that change machine code."""
    return [str(getattr(config, name, None)) for name in _NAMES]
