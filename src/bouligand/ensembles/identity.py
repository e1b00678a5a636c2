"""A hash of everything that determines the results of an ensemble: the same in another process, and on another day."""

from __future__ import annotations

import importlib.metadata
from typing import TYPE_CHECKING, Any

from ..errors import StoreError
from ..system.fingerprint import fingerprint
from ..system.identity import whole

if TYPE_CHECKING:
    from .problem import Problem


def identity(problem: Problem, given: str | None = None) -> dict[str, str]:
    """The hashes of the parts of a problem, by what they are, so that a difference can be named.

    ``given``: the user's own word for what cannot be looked into. Raises a StoreError if there is such a thing, and no word.
    """
    from ..core.compiler.sources import STAMP  # (imports Numba, which `import bouligand` does not)

    system = problem.system
    parts: dict[str, Any] = {
        "the system": system,
        "t_span": problem.t_span,
        "t_eval": problem.t_eval,
        "keep": sorted(problem.keep),
        "derivative": (problem.derivative, problem.wrt, problem.cost),
        "the options": {name: problem.options[name] for name in sorted(problem.options)},
        "the version of bouligand's core": (_version("bouligand"), STAMP),
        "the version of numba": _version("numba"),
    }
    if "mujoco" in type(system).__module__:
        parts["the version of mujoco"] = _version("mujoco")
    if given is not None:
        parts["identity"] = given
    found = {name: whole(value) for name, value in parts.items()}
    unknown = [one for fingerprint in found.values() for one in fingerprint.unknown]
    if unknown and given is None:
        raise StoreError(
            f"store: a later run could not tell whether this is the same problem, because of {unknown[0]}. Give identity='...', "
            "a text that you change whenever that changes (or pass what changes in p, or keep the results without a store)"
        )
    return {name: one.digest for name, one in found.items()}


def digest(value: Any) -> str:
    """A hash of a value: numbers, texts, arrays, and what is made of them."""
    return fingerprint(value).digest


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "unknown"
