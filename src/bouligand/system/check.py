"""The paper's section 2 as a tool: is this an event-selected system near x, and are its Jacobians right?"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from .arguments import finite_numbers, number
from .declarations import guard_index
from .probing import refuse_unset_outputs
from .switching import message, switches_itself

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from .._typing import FloatArray, Guard, Parameters
    from .system import System

MOST_GUARDS = 10  # all modes of that many guards are tried; of more, the nearest to x
STILL = 1e-6  # hdot, relative to what the speed of the state could make of it, that is taken for zero
AT_HAND = 0.05  # of the state's size: guards farther away are not called problems


@dataclass
class Report:
    """The result of `check`. Printing it lists what was found.

    Attributes
    ----------
    ok : bool
        Whether there are no problems.
    problems : list of str
        What is wrong: Jacobians that differ from differences, guards at which the system is not event-selected.
    notes : list of str
        What is worth knowing, but not wrong.
    jacobians : dict from str to float
        The largest relative difference of each Jacobian that was given (and of the sum ``f0 + g``, if there is one) from
        central differences.
    depends_on_signs_only : bool
        Whether f stays the same when b is scaled by positive numbers.
    margin : float
        The smallest rate hdot with which a guard near x is crossed in any of the modes around x, relative to the largest
        |hdot| of that guard. If it is positive, hdot of each guard has the same sign in all these modes: the guards are
        crossed transversally, in any order, and the system is event-selected at x.
    worst : tuple (str, array of int) or None
        The guard and the mode with that margin.
    speeds : array (m,)
        The largest |hdot| of each guard over these modes: the paper's mu, used by `normalised`.
    """

    jacobians: dict[str, float] = field(default_factory=dict)
    depends_on_signs_only: bool = True
    margin: float = np.inf
    worst: tuple[str, NDArray[np.int_]] | None = None
    speeds: FloatArray = field(default_factory=lambda: np.empty(0))
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """Whether there are no problems."""
        return not self.problems

    def __repr__(self) -> str:
        lines = ["System check: " + ("all right" if self.ok else f"{len(self.problems)} problem(s)")]
        lines += [f"  - {problem}" for problem in self.problems]
        lines += [
            f"  {name}: agrees with differences to {error:.1e}"
            for name, error in self.jacobians.items()
            if error <= 1e-5
        ]
        if self.worst is not None:
            guard, word = self.worst
            signs = np.array2string(word, threshold=12)
            lines.append(
                f"  smallest margin of hdot: {self.margin:.3g} (relative), guard {guard!r} under the word {signs}"
            )
        lines += [f"  {note}" for note in self.notes]
        return "\n".join(lines)


def check(
    system: System,
    x: ArrayLike,
    p: Parameters | None = None,
    t: float = 0.0,
    *,
    guards: Iterable[Guard] | None = None,
    tol: float = 1e-5,
) -> Report:
    """Check a system at a state: its Jacobians, its dependence on b, and whether it is event-selected there.

    Jacobians that were given are compared with central differences; f is evaluated with scaled b; hdot, the rate of each
    guard, is evaluated in all modes around x; and f must write all of its output in all of them, be smooth across the guards
    as long as b is held (so that it does not test h itself), and be compiled with the global variables that there are now.

    Parameters
    ----------
    system : System
    x : array (n,)
        The state.
    p : array or mapping from str to float, optional
        All parameters, or those that differ from the defaults.
    t : float
        The time.
    guards : sequence of guards, optional
        The guards (names or numbers) whose signs are varied; the others keep the sign that they have at x. Default: all if
        there are up to ten, otherwise the ten that would be reached first.
    tol : float
        Largest relative difference of a Jacobian that is not a problem.

    Returns
    -------
    Report

    Raises
    ------
    TypeError, ValueError
        If an argument is wrong, or f or h returns a wrong number of values.

    Examples
    --------
    >>> import bouligand as bd
    >>> report = bd.check(bd.models.hopper(), [1.5, -1.0])
    >>> report.ok
    True
    >>> round(report.margin, 6)
    1.0
    """
    if not hasattr(system, "guard_index"):
        raise TypeError(f"system must be a System (bd.System(f, h, ...)); got {system!r}")
    x, t, tol = finite_numbers("x", x), number("t", t), number("tol", tol)
    if x.shape != (system.n,):
        raise ValueError(f"x must have {system.n} values; got shape {x.shape}")
    p = system.parameters(p)
    f, h = system.function("f"), system.function("h")
    here = h(t, x, p)
    system._functions["h"].check_shape(system.sizes, here, t, x)
    here = here.ravel()
    word = np.where(here >= 0, 1.0, -1.0)
    system._functions["f"].check_shape(system.sizes, f(t, x, word, p), t, x)
    report = Report()
    _check_jacobians(system, report, t, x, word, p, tol)
    _check_signs(report, f, t, x, word, p)
    _check_words(system, report, f, h, t, x, word, p, here, guards)
    _check_functions(system, report, t, x, word, p)
    return report


def normalised(
    system: System,
    eps: float,
    x: ArrayLike,
    p: Parameters | None = None,
    t: float = 0.0,
    *,
    guards: Iterable[Guard] | None = None,
    tol: float = 1e-5,
) -> FloatArray:
    """The paper's normalisation of guards: factors ``eps / mu_k`` by which to multiply h_k, so that one eps suits all.

    ``mu_k`` is the largest ``|hdot_k|`` that `check` finds at x. With h so scaled, a trajectory crosses the band of width eps in
    front of each guard in about the same time. Equivalently, keep h and give ``solve(..., eps=mu_k * time)``.

    Parameters
    ----------
    system : System
    eps : float
        Width of the bands, positive.
    x, p, t, guards, tol
        As in `check`.

    Returns
    -------
    array (m,)

    Examples
    --------
    >>> import bouligand as bd
    >>> bd.normalised(bd.models.hopper(), 1e-3, [1.0, -4.0]).round(6)
    array([0.00025])
    """
    if not number("eps", eps) > 0:
        raise ValueError(f"eps must be positive; got {eps!r}")
    speeds = check(system, x, p, t, guards=guards, tol=tol).speeds
    factors: FloatArray = eps / np.where(speeds > 0, speeds, 1.0)
    return factors


def _differences(function: Callable[[FloatArray], FloatArray], x: FloatArray) -> FloatArray:
    """Central differences of a function of a vector, (outputs, len(x))."""
    columns = []
    for i in range(x.size):
        step = 6e-6 * max(1.0, abs(x[i]))
        ahead, behind = x.copy(), x.copy()
        ahead[i] += step
        behind[i] -= step
        columns.append((function(ahead) - function(behind)) / (ahead[i] - behind[i]))
    return np.array(columns).T if columns else np.zeros((np.size(function(x)), 0))


def _check_jacobians(
    system: System, report: Report, t: float, x: FloatArray, word: FloatArray, p: FloatArray, tol: float
) -> None:
    f, h = system.function("f"), system.function("h")
    step = 1e-6 * max(1.0, abs(t))
    wanted: dict[str, Callable[[], FloatArray]] = {
        "Dh": lambda: _differences(lambda y: h(t, y, p), x),
        "Df": lambda: _differences(lambda y: f(t, y, word, p), x),
        "Dt_h": lambda: (h(t + step, x, p) - h(t - step, x, p)) / (2 * step),
        "Dp_f": lambda: _differences(lambda q: f(t, x, word, q), p),
        "Dp_h": lambda: _differences(lambda q: h(t, x, q), p),
    }
    for name, differences in wanted.items():
        given = system.function(name)
        if given is None:
            continue
        values = given(t, x, word, p) if name in ("Df", "Dp_f") else given(t, x, p)
        system._functions[name].check_shape(system.sizes, values, t, x)
        _compare(report, name, values, differences(), tol)
    row = system.function("Dh_row")
    if row is not None:
        rows = np.array([row(t, x, k, p) for k in range(system.m)]).reshape(system.m, system.n)
        _compare(report, "Dh_row", rows, wanted["Dh"](), tol)
    f0, g, g_many = system.function("f0"), system.function("g"), system.function("g_many")
    if f0 is not None and g is not None:
        for signs in (word, np.ones(system.m)):
            total = f0(t, x, p) + sum((g(t, x, k, p) for k in np.flatnonzero(signs > 0)), np.zeros(system.n))
            _compare(report, "f0 + sum of g", total, f(t, x, signs, p), tol)
        if g_many is not None and system.m > 0:
            every = np.arange(system.m, dtype=np.int64)
            columns = np.array([g(t, x, k, p) for k in every]).T
            _compare(report, "g_many", g_many(t, x, every, p), columns, tol)


def _compare(report: Report, name: str, given: FloatArray, wanted: FloatArray, tol: float) -> None:
    scale = max(np.abs(wanted).max(initial=0.0), np.abs(given).max(initial=0.0), 1e-12)
    difference = np.abs(np.asarray(given) - wanted)
    error = float(difference.max(initial=0.0) / scale)
    report.jacobians[name] = max(error, report.jacobians.get(name, 0.0))
    if not error <= tol:
        index = tuple(int(i) for i in np.unravel_index(np.nanargmax(difference), difference.shape))
        report.problems.append(
            f"{name} differs from the differences of {'f' if name.endswith(('f', 'g')) else 'h'}: element {list(index)} is "
            f"{np.asarray(given)[index]:.6g}, should be {wanted[index]:.6g}"
        )


def _check_signs(
    report: Report, f: Callable[..., FloatArray], t: float, x: FloatArray, word: FloatArray, p: FloatArray
) -> None:
    if not word.size:
        return
    base = f(t, x, word, p)
    for scale in (0.5, 3.0):
        other = f(t, x, scale * word, p)
        if not np.allclose(base, other, rtol=1e-12, atol=1e-12 * max(1.0, np.abs(base).max(initial=0.0))):
            report.depends_on_signs_only = False
    if not report.depends_on_signs_only:
        report.notes.append(
            "f changes when b is scaled: fine if it uses b as -1 and +1, but the paper asks for signs only"
        )


def _check_functions(system: System, report: Report, t: float, x: FloatArray, word: FloatArray, p: FloatArray) -> None:
    """What would make integrations wrong or slow without a word."""
    try:
        refuse_unset_outputs(system, t, x, word, p)
    except ValueError as error:
        report.problems.append(str(error))
    report.problems += [message(system, k, sign) for k, sign in switches_itself(system, t, x, p)]
    if system._bound is not None:
        changed = dict.fromkeys(value.name for value in system._bound.frozen if value.differs())
        if changed:
            report.problems.append(
                f"{', '.join(changed)}: changed since the functions were compiled, which go on with the old value. Make a new "
                "System, or pass what changes in p"
            )


def _check_words(
    system: System,
    report: Report,
    f: Callable[..., FloatArray],
    h: Callable[..., FloatArray],
    t: float,
    x: FloatArray,
    word: FloatArray,
    p: FloatArray,
    here: FloatArray,
    guards: Iterable[Guard] | None,
) -> None:
    if not system.m:
        return
    step = 1e-7 * max(1.0, np.abs(x).max()) / max(np.abs(f(t, x, word, p)).max(), 1e-9)
    flow = [k for k in range(system.m) if not system.observers[k]]
    speeds0 = np.abs(h(t + step, x + step * f(t, x, word, p), p) - here) / step
    if guards is None:
        near = sorted(flow, key=lambda k: float(abs(here[k]) / max(speeds0[k], 1e-300)))[:MOST_GUARDS]
        if len(flow) > MOST_GUARDS:
            report.notes.append(f"words of the {MOST_GUARDS} guards nearest to x tried, of {len(flow)}")
    else:
        near = [guard_index(system.guards, k, "guards") for k in _several(guards)]
    found, words, fields = [], [], []
    for signs in product((-1.0, 1.0), repeat=len(near)):
        candidate = word.copy()
        candidate[near] = signs
        rate = f(t, x, candidate, p)
        fields.append(rate)
        found.append((h(t + step, x + step * rate, p) - h(t - step, x - step * rate, p)) / (2 * step))
        words.append(candidate)
    rates = np.array(found)
    report.speeds = np.abs(rates).max(axis=0)
    # a guard is crossed for good if hdot has the same sign under every word: that of the word it is approached under
    still, far = [], []
    for k in near:
        slope, size = _slopes(h, t, x, p, k)
        if report.speeds[k] <= STILL * slope * np.abs(f(t, x, word, p)).max():
            still.append(k)
            continue
        sign = np.sign(rates[:, k].sum()) or 1.0
        relative = sign * rates[:, k] / max(report.speeds[k], 1e-300)
        q = int(np.argmin(relative))
        if relative[q] <= 0.0 and abs(here[k]) > AT_HAND * size:
            far.append(k)
        elif relative[q] < report.margin:
            report.margin, report.worst = float(relative[q]), (system.guards[k], words[q].astype(int))
    if still:
        report.notes.append(f"hdot of {_names(system, still)} is zero at x: look again where it moves")
    if far:
        report.notes.append(
            f"hdot of {_names(system, far)} changes sign between words at x, which is not near: it matters if it does so there"
        )
    if system.sliding is not None:
        _check_sliding(system, report, near, np.array(words), rates, np.array(fields))
    elif report.margin <= 0 and report.worst is not None:
        guard, mode = report.worst
        report.problems.append(
            f"not event-selected around x: hdot of guard {guard!r} changes sign between words (relative margin "
            f"{report.margin:.3g}, under {np.array2string(mode, threshold=12)}); it matters where these guards meet"
        )


def _check_sliding(
    system: System, report: Report, near: list[int], words: FloatArray, rates: FloatArray, fields: FloatArray
) -> None:
    """Of a system with sliding modes: on which guards it may slide around x, which it can only leave, and whether f is affine in
    the signs where several are slid on."""
    slid, left = [], []
    for k in near:
        if system.jumps.has[k]:
            continue
        ahead, behind = rates[words[:, k] > 0, k], rates[words[:, k] < 0, k]  # (in the same order of the other signs)
        if ((ahead < 0.0) & (behind > 0.0)).any():
            slid.append(k)
        if ((ahead > 0.0) & (behind < 0.0)).any():
            left.append(k)
    if slid:
        report.notes.append(
            f"the flow points towards {_names(system, slid)} on both sides, in some words: sliding modes"
        )
    if left:
        report.notes.append(
            f"the flow points away from {_names(system, left)} on both sides, in some words: a trajectory that gets there may "
            "leave to either side"
        )
    if len(slid) > 1:
        basis = np.column_stack([np.ones(len(words)), words[:, near]])
        off = np.abs(basis @ np.linalg.lstsq(basis, fields, rcond=None)[0] - fields).max()
        if off > 1e-8 * max(np.abs(fields).max(), 1e-300):
            report.notes.append(
                f"f is not affine in the signs of the guards around x: sliding on several of {_names(system, slid)} at once "
                "would be refused. If they can meet, write f so that each of them adds a term of its own"
            )


def _slopes(h: Callable[..., FloatArray], t: float, x: FloatArray, p: FloatArray, k: int) -> tuple[float, float]:
    """How much guard k changes with the state: at most for a unit of it, and over the state's size."""
    size = np.maximum(np.abs(x), 0.1 * (np.abs(x).max() or 1.0))
    ahead = np.array([h(t, x + step, p).ravel()[k] - h(t, x, p).ravel()[k] for step in np.diag(1e-6 * size)])
    return float(np.abs(ahead / (1e-6 * size)).sum()), float(np.abs(ahead).sum() / 1e-6)


def _names(system: System, guards: list[int]) -> str:
    return ", ".join(repr(system.guards[k]) for k in guards[:5]) + (" ..." if len(guards) > 5 else "")


def _several(guards: Iterable[Guard]) -> list[Guard]:
    if isinstance(guards, str):
        return [guards]
    try:
        return list(guards)
    except TypeError:
        raise TypeError(f"guards must be names or numbers of guards; got {guards!r}") from None
