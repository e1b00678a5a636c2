"""Is a system event-selected near a state, and where may it slide?"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from .declarations import guard_numbers

if TYPE_CHECKING:
    from .._typing import FloatArray, Guard
    from .check_report import Place, Report
    from .system import System

MOST_GUARDS = 10  # all modes of that many guards are tried; of more, the nearest to x
STILL = 1e-6  # hdot, relative to what the speed of the state could make of it, that is taken for zero
AT_HAND = 0.05  # of the state's size: guards farther away are not called problems


def check_modes(system: System, report: Report, place: Place, guards: Iterable[Guard] | None) -> None:
    """The rates of the guards in all modes around x: is each of them crossed for good, whichever comes first?"""
    if not system.m:
        return
    f, h = system.function("f"), system.function("h")
    t, x, p, here, word = place
    step = 1e-7 * max(1.0, np.abs(x).max()) / max(np.abs(f(t, x, word, p)).max(), 1e-9)
    flow = [k for k in range(system.m) if not system.observers[k]]
    speeds0 = np.abs(h(t + step, x + step * f(t, x, word, p), p) - here) / step
    if guards is None:
        near = sorted(flow, key=lambda k: float(abs(here[k]) / max(speeds0[k], 1e-300)))[:MOST_GUARDS]
        if len(flow) > MOST_GUARDS:
            report.notes.append(f"words of the {MOST_GUARDS} guards nearest to x tried, of {len(flow)}")
    else:
        near = guard_numbers(system.guards, guards, "guards")
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
