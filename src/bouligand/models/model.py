"""What the file of a model declares: a `Model`, under the name ``MODEL``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..system.arguments import finite_numbers, short, whole
from ..system.declarations import MOST
from ..system.system import System
from ..system.words import function
from .admissible import POSITIVE, VECTOR

if TYPE_CHECKING:
    from .._typing import FloatArray


# attributes, their types, and what the types are called
_KINDS: tuple[tuple[str, Any, str], ...] = (
    ("about", str, "a text"),
    ("units", Mapping, "a mapping from names to units"),
    ("cycle", Mapping, "a mapping from names to arguments of find_cycle"),
    ("gait", (str, Sequence, type(None)), "a pattern of guards, a sequence of such, or None"),
)


@dataclass(frozen=True, eq=False)
class Model:
    """A ready model: how to make it, where it starts, when it ends and how it is drawn.

    A file ``bouligand/models/NAME.py`` with ``MODEL = Model(...)`` is all that a new model needs: `bouligand.models.available`
    finds it there, and with it ``bouligand.models.NAME(...)`` and the command ``bouligand run NAME``.

    Attributes
    ----------
    about : str
        One line for ``bouligand run --list``.
    make : callable
        Makes the system; called with the size, if the model has one, else without arguments.
    start : array (n,), or callable
        Usual state at t = 0; if it depends on the size, a function of the size.
    tf : float
        Usual end of the simulation.
    draw : callable, optional
        ``draw(ax, t, x, b, p)``, see `bouligand.plot.animate`; None: no animation.
    gait : str or sequence of str, optional
        Guards in the gait diagram, see `bouligand.plot.contacts`.
    size : int, optional
        Usual number of contacts, fingers, ...; None if there is nothing to choose.
    speed : float
        Of the animation: 0.1 is ten times slower than real time.
    units : mapping from str to str
        Units of the time "t" and of the states; "q" stands for q0, q1, ... too.
    cycle : mapping from str to object
        For ``bouligand cycle``: arguments of `find_cycle` that its periodic motion needs, such as the section.

    Raises
    ------
    TypeError, ValueError
        If an attribute is none of these; the message names it.

    Examples
    --------
    >>> import bouligand as bd
    >>> model = bd.models.available()["hopper"]
    >>> model.about, model.tf
    ('a mass on a spring leg', 2.0)
    >>> system, x0 = model.build()
    >>> bd.solve(system, (0.0, model.tf), x0).success
    True
    """

    about: str
    make: Callable[..., System]
    start: FloatArray | Callable[[int], FloatArray]
    tf: float
    draw: Callable[..., None] | None = None
    gait: str | Sequence[str] | None = None
    size: int | None = None
    speed: float = 1.0
    units: Mapping[str, str] = field(default_factory=dict)
    cycle: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, kind, what in _KINDS:
            value = getattr(self, name)
            if not isinstance(value, kind) or isinstance(value, bytes):
                raise TypeError(f"{name} of a Model must be {what}; got {value!r}")
        function("make of a Model", self.make, "" if self.size is None else "size")
        if self.draw is not None:
            function("draw of a Model", self.draw, "ax, t, x, b, p")
        for name, unit in self.units.items():
            if not isinstance(name, str) or not isinstance(unit, str):
                raise TypeError(f"units of a Model must be texts, by name; got {unit!r} for {name!r}")
        for one in [self.gait] if isinstance(self.gait, str) else self.gait or ():
            if not isinstance(one, str | int):
                raise TypeError(f"gait of a Model must have names, patterns or numbers of guards; got {one!r}")
        for name in self.cycle:
            if not isinstance(name, str):
                raise TypeError(f"cycle of a Model must have names of arguments; got {name!r}")
        if callable(self.start):
            function("start of a Model", self.start, "size")
        else:
            VECTOR.read("start of a Model", self.start)
        if self.size is not None:
            whole("size of a Model", self.size, 1, MOST)
        for name in ("tf", "speed"):
            POSITIVE.read(f"{name} of a Model", getattr(self, name))

    def build(self, size: int | None = None) -> tuple[System, FloatArray]:
        """The system and its usual state at t = 0.

        Parameters
        ----------
        size : int, optional
            Number of contacts, fingers, ...; default: the usual one.

        Returns
        -------
        system : System
        start : array (n,)

        Raises
        ------
        TypeError, ValueError
            If a size is given and there is none to choose, or the model does not have this one.

        Examples
        --------
        >>> import bouligand as bd
        >>> system, x0 = bd.models.available()["plate"].build(5)
        >>> system.m, x0.shape
        (5, (6,))
        """
        if self.size is None:
            if size is not None:
                raise ValueError(f"there is no size to choose; got {size!r}")
            return self._checked(self.make(), self.start)
        count = self.size if size is None else whole("size", size, 1)
        try:
            system = self.make(count)
        except ValueError as error:
            raise ValueError(f"size = {count}: {error}") from None
        return self._checked(system, self.start(count) if callable(self.start) else self.start)

    def _checked(self, system: Any, start: Any) -> tuple[System, FloatArray]:
        """A system and a state of it, where both are."""
        if not isinstance(system, System):
            raise TypeError(f"make of a Model must return a System; got {short(system)}")
        state = finite_numbers("start of a Model", start)
        if state.shape != (system.n,):
            raise ValueError(
                f"start of a Model must have a value for each of the {system.n} states; got shape {state.shape}"
            )
        return system, state

    def unit(self, name: str) -> str:
        """Unit of a state or of the time, ``"t"``; empty where there is none.

        Raises
        ------
        TypeError
            If the name is no text.

        Examples
        --------
        >>> import bouligand as bd
        >>> bd.models.available()["hopper"].unit("vz")
        'm/s'
        """
        if not isinstance(name, str):
            raise TypeError(f"name must be that of a state, or 't'; got {name!r}")
        return self.units.get(name, self.units.get(name.rstrip("0123456789"), ""))
