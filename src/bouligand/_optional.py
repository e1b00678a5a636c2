"""Packages that only optional parts use."""

from importlib import import_module


class MissingExtraError(ImportError):
    """A package that an optional part needs is not installed; the message says what to type."""


def need(package, extra):
    """The package, imported; or an error with the line that installs it."""
    try:
        return import_module(package)
    except ImportError as error:
        raise MissingExtraError(
            f"this needs {package.split('.')[0]}, which is not installed; type:\n    pip install 'bouligand[{extra}]'"
        ) from error
