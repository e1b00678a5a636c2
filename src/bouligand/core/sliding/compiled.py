"""The functions of sliding modes and of rest with the C signature of the user's own, compiled once for all systems."""

from ..compiler import sources
from ..compiler.compiling import compiling
from ..compiler.wrapping import c_entry
from .field import contact_rates, f_sliding, h_sliding, multipliers, project

_WHAT = "f and h of sliding modes"
_entries: dict = {}


def _f(t, x, b, p, dx, ctx):
    return f_sliding(t, x, b, p, dx, ctx)


def _h(t, x, p, out, ctx):
    return h_sliding(t, x, p, out, ctx)


def _multipliers(t, x, b, p, out, ctx):
    return multipliers(t, x, b, p, out, ctx)


def _contact_rates(t, x, b, p, out, ctx):
    return contact_rates(t, x, b, p, out, ctx)


def _project(t, x, b, p, out, ctx):
    return project(t, x, b, p, out, ctx)


def addresses():
    """By name, compiled or read from the cache at first use."""
    with compiling():
        if not _entries:
            functions = {"f": (_f, 4), "h": (_h, 3), "multipliers": (_multipliers, 4), "project": (_project, 4)}
            functions["contact_rates"] = _contact_rates, 4
            made = {q: c_entry(count, sources.STAMP, _WHAT)(function) for q, (function, count) in functions.items()}
            _entries.update(made)  # (all at once: what is there is whole)
    return {name: int(entry.address) for name, entry in _entries.items()}
