"""The look of the library's figures, as Matplotlib takes it."""

from __future__ import annotations

import importlib.resources
import pathlib


def style() -> str | dict[str, str]:
    """The style file; where the library is in a zip file, in which Matplotlib finds none, its settings by name."""
    file = importlib.resources.files(__package__) / "bouligand.mplstyle"
    if isinstance(file, pathlib.Path):
        return str(file)
    lines = [line.partition(":") for line in file.read_text().splitlines() if line and not line.startswith("#")]
    return {name: value.strip() for name, _, value in lines}
