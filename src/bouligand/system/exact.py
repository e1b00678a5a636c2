"""Where the Jacobians of a system come from: given, exact by dual numbers from the user's own code, or by differences."""

from __future__ import annotations

import traceback
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from ..core.state import DUAL_NAMES, LANES, SMALL
from .addresses import Keyed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .functions import UserFunction
    from .system import System

NAMES = ("Df", "Dp_f", "Dh", "Dp_h", "Dt_h")
FEW = 3 * LANES  # states up to which colours of columns do not pay
KINDS = ("auto", "exact", "differences")
_SHAPES = {
    "f": ("dual n", "m", "dual p", "dual n"),
    "h": ("dual t", "dual n", "dual p", "dual m"),
    "jump": ("dual n", "m", "dual p", "dual n"),
    "jump_many": ("dual n", "m", "m", "dual p", "dual n"),
}
_NAMES = {lanes: name for name, lanes in DUAL_NAMES.items()}


class Ways(NamedTuple):
    """How derivatives are propagated with the Jacobians that a system has."""

    Df: bool  # it is given
    by_duals: bool  # tangents by f of dual numbers
    by_colours: bool  # rows of Dh by the colours of its columns (see `derivative.patterns`)
    differenced: bool  # some Jacobian by differences


def ways(system: System, addresses: Any, params: bool) -> Ways:
    """The same, after the Jacobians have been bound."""
    has = {name: bool(addresses[name][0]) for name in addresses.dtype.names}
    params = params and len(system.defaults) > 0
    f = has["f_dual"] or (has["Df"] and (has["Dp_f"] or not params))
    h = has["h_dual"] or ((has["Dh"] or has["Dh_row"]) and has["Dt_h"] and (has["Dp_h"] or not params))
    return Ways(
        Df=has["Df"],
        by_duals=has["f_dual"] and not has["Df"] and (not (params and has["Dp_f"]) or system.n > SMALL),
        by_colours=has["h_dual"] and not (has["Dh"] or has["Dh_row"]) and system.n > FEW,
        differenced=not (f and (h or not system.m)),
    )


class Jacobians:
    """Where each Jacobian of a system comes from, and why none is exact that is not.

    Attributes
    ----------
    Df, Dp_f, Dh, Dp_h, Dt_h : {"given", "exact", "differences"}
        "given": a function of the user's (or of a bridge); "exact": by dual numbers, from the code of f or h; "differences":
        central differences of f or h.
    reason : str
        Why some are by differences; empty if none is.
    exact : bool
        Whether none is by differences.

    Examples
    --------
    >>> import bouligand as bd
    >>> bd.models.hopper().jacobians.exact
    True
    """

    def __init__(self, sources: dict[str, str], reason: str) -> None:
        self.Df, self.Dp_f, self.Dh, self.Dp_h, self.Dt_h = (sources[name] for name in NAMES)
        self.reason = reason

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return ((name, getattr(self, name)) for name in NAMES)

    @property
    def exact(self) -> bool:
        """Whether none is by differences."""
        return all(source != "differences" for _, source in self)

    def __repr__(self) -> str:
        grouped: dict[str, list[str]] = {}
        for name, source in self:
            grouped.setdefault(source, []).append(name)
        text = "; ".join(f"{', '.join(names)} {source}" for source, names in grouped.items())
        return text + (f" ({self.reason})" if self.reason else "")


def dual_function(user: UserFunction, lanes: int = LANES) -> tuple[int, object]:
    """The address of f or h of dual numbers with so many tangents (LANES, FEW_LANES or ONE_LANE), and what keeps it alive. Raises
    a TypeError if there is none, which says why."""
    from ..core.compiler import jit

    if not jit.JIT:
        raise TypeError("Numba's JIT is switched off")
    if user.is_low_level:
        raise TypeError(f"{user.name} is machine code (a LowLevelCallable)")
    if not user.is_dispatcher:
        raise TypeError(f"{user.name} runs as plain Python")
    from ..core.compiler.compiling import compiling

    with compiling():
        # (the copy that f was compiled from: it has the same values)
        return _compiled(user.name, Keyed(user.function), user.in_place, lanes)


@lru_cache(maxsize=256)
def _compiled(name: str, keyed: Keyed, in_place: bool, lanes: int) -> tuple[int, object]:
    shapes = tuple(shape.replace(_NAMES[LANES], _NAMES[lanes]) for shape in _SHAPES[name])
    kept = keyed.kept
    if (found := kept.load_entry(shapes, in_place, True)) is not None:
        address, library = found
        return int(address), library
    try:
        from ..core.compiler.compiling import compiling
        from ..core.compiler.notices import said_if_slow
        from ..core.compiler.wrapping import c_function
        from ..core.duals.recast import recast

        with compiling(), said_if_slow(f"{keyed.called(name)} for derivatives", keyed.why, begun=True):
            function = recast(keyed.function, lanes)
            address, keep = c_function(function, shapes, in_place, True, kept)
        return int(address), keep
    except Exception as error:  # whatever Numba raises, also a Numba of another version: there are differences
        raise TypeError(f"{name} does not compile for dual numbers: {_in_one_line(error)}") from error


def _in_one_line(error: Exception) -> str:
    """What a Numba error is about: the operation that it misses, and the line of code."""
    if any(frame.name == "list_to_list" for frame in traceback.extract_tb(error.__traceback__)):
        return (
            "it makes an array of a list of lists, of which only some depend on x or p. Fill the array instead "
            "(M = np.zeros((n, n)), M[0, 0] = ...)"
        )
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    missing = next((line.strip("> ") for line in lines if line.startswith(">>>")), "")
    code = next((lines[i + 1] for i, line in enumerate(lines[:-1]) if line.startswith('File "')), "")
    if missing:
        missing = f"no rule for {missing.replace('<unknown function>', 'this call')}"
    return " in ".join(part for part in (missing, code) if part) or (lines[0] if lines else type(error).__name__)


def sources(system: System, addresses: Any, reason: str) -> Jacobians:
    """Where the Jacobians come from, after they have been bound."""
    found = {}
    for name in NAMES:
        given = system.has(name) or (name == "Dh" and system.has("Dh_row"))
        dual = addresses["f_dual" if name.endswith("_f") or name == "Df" else "h_dual"][0]
        trivial = (name == "Dt_h" and addresses["Dt_h"][0] != 0) or (not system.m and "h" in name)
        trivial = trivial or (name.startswith("Dp") and not system.defaults.size)
        found[name] = "given" if given else "exact" if dual or trivial else "differences"
    return Jacobians(found, reason if "differences" in found.values() else "")
