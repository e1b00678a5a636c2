"""The cost of an integration."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Counts:
    """The cost of an integration: ``sol.counts``.

    Attributes
    ----------
    f, h, Dh : int
        Evaluations of the user's functions.
    steps : int
        Accepted steps of all kinds.
    rejected : int
        Steps that were tried and rejected.
    hops : int
        Of the steps, those that landed on a guard (or on the edge of its band).
    spans : int
        Of the steps, those that span many crossings.
    events : int
        Events found.

    Examples
    --------
    >>> import bouligand as bd
    >>> counts = bd.solve(bd.models.hopper(), (0.0, 2.0), [2.0, 0.0]).counts
    >>> counts.events, counts.spans, counts.f > counts.steps
    (4, 0, True)
    """

    f: int
    h: int
    Dh: int
    steps: int
    rejected: int
    hops: int
    spans: int
    events: int
