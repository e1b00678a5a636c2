"""Packages that only optional parts of the library use."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ._undivided import undivided


class MissingExtraError(ImportError):
    """A package that an optional part needs is not installed. The message is the command that installs it."""


def need(package: str, extra: str) -> Any:
    """Import an optional package.

    Parameters
    ----------
    package : str
        The module to import.
    extra : str
        The extra of this library that installs it.

    Returns
    -------
    module

    Raises
    ------
    MissingExtraError
        If it is not installed.

    Examples
    --------
    >>> need("json", "none").dumps([1, 2])
    '[1, 2]'
    >>> need("no_such_package", "film")
    Traceback (most recent call last):
    bouligand._optional.MissingExtraError: this needs no_such_package, which is not installed; type:
        pip install 'bouligand[film]'
    """
    try:
        with undivided():
            return import_module(package)
    except ImportError as error:
        raise MissingExtraError(
            f"this needs {package.split('.')[0]}, which is not installed; type:\n    pip install 'bouligand[{extra}]'"
        ) from error
