"""Warnings that point to the line of the user, however deep in the library they are found."""

from __future__ import annotations

import pathlib
import sys
import warnings

_HERE = str(pathlib.Path(__file__).parent.parent)


def warn_user(message: str, category: type[Warning]) -> None:
    """Warn as if the line that called the library did."""
    depth, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_HERE):
        depth, frame = depth + 1, frame.f_back
    warnings.warn(message, category, stacklevel=depth)
