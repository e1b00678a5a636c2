"""Is a system the one that it was? The fingerprints of its parts, so that a difference can be named."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .fingerprint import Fingerprint, Looking
from .frozen import is_stale
from .functions import UserFunction
from .system import System

if TYPE_CHECKING:
    from collections.abc import Iterator

# attributes of a system that change while it is used, or that only name it
_PASSING = (
    "_probed",
    "_settled",
    "_jacobians_probed",
    "_modes_tried",
    "_trusts_Df",
    "name",
    "_contexts",
    "__doc__",
    "failures",
    "_radii",
)
# what a user declares besides functions, and a saved solution goes on with
_DECLARED = ("direction", "observers", "reset", "sliding", "rests", "rest_forces", "needs", "unit", "breakpoints")


def whole(value: Any) -> Fingerprint:
    """The fingerprint of a system, or of what contains one: of what was declared, not of what changes while it is used."""
    return _LookingAtSystems().at(value, "")


def parts(system: System) -> dict[str, Fingerprint]:
    """The fingerprints of a system's functions by their names, and of what is declared beside them; of a robot, which has machine
    code of its own, in one."""
    if _is_bridge(system):
        return {"the system": whole(system)}
    found = {name: whole(user) for name, user in functions_of(system)}
    return found | {name: whole(getattr(system, name)) for name in _DECLARED}


def functions_of(system: System) -> Iterator[tuple[str, UserFunction]]:
    """The functions that a user gave, by names that tell them apart."""
    for name, user in system._functions.items():
        if not (name == "f" and system._composed):
            yield name, user
    jumps = system.jumps
    for k, user in jumps.functions.items():
        yield f"the jump of {system.guards[k]}", user
    if jumps.many is not None:
        yield "jump_many", jumps.many
    for name, given in jumps.jacobians.items():
        for k, user in given.items():
            yield f"{name} of {system.guards[k]}", user


def _is_bridge(system: System) -> bool:
    return type(system).__module__.startswith("bouligand.bridges.mujoco")


class _LookingAtSystems(Looking):
    """Looks at a system as it was declared."""

    def _object(self, value: Any) -> None:
        if not isinstance(value, UserFunction):
            super()._object(value)
            return
        content = value.content
        self.say("function", value.name, content.digest)
        for one in content.unknown:
            self.refuse(one.it, one.why, one.where)
        for one in content.numba if not value.is_machine_code else ():
            if is_stale(one):
                self.refuse(
                    one, "Numba compiled it, perhaps with other values than those that it reads now", value.name
                )

    def contents(self, value: Any) -> tuple[Any, ...]:
        if isinstance(value, System):
            # (a bridge's machine code is its own: what it does follows from the rest)
            own = {
                name: user
                for name, user in value._functions.items()
                if not (name == "f" and value._composed) and not (user.is_low_level and _is_bridge(value))
            }
            return (_lasting({**value.__getstate__(), "_functions": own}),)
        if not type(value).__module__.startswith("bouligand."):
            return super().contents(value)
        made, arguments, state, *rest = value.__reduce_ex__(4)
        return made, arguments, _lasting(state) if isinstance(state, dict) else state, rest


def _lasting(state: dict[str, Any]) -> dict[str, Any]:
    return {name: part for name, part in state.items() if name not in _PASSING}
