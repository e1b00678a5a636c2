"""For PyInstaller, which finds this by the entry point ``pyinstaller40``: an application with this library needs no options."""

import pathlib

_HERE = pathlib.Path(__file__).parent


def hook_folders() -> list[str]:
    """The folders in which PyInstaller finds hooks."""
    return [str(_HERE)]


def modules() -> list[str]:
    """The names of all modules of the library, also of those that need packages that are not installed."""
    sources = _HERE.parent
    found = [".".join(file.relative_to(sources.parent).with_suffix("").parts) for file in sources.rglob("*.py")]
    return sorted(name.removesuffix(".__init__") for name in found if "-" not in name)
