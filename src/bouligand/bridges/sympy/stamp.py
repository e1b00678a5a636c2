"""The sources of this package as a hash: what other sources derived is not found on disk."""

import pathlib

from ...core.compiler.sources import stamp_of

STAMP = stamp_of(pathlib.Path(__file__).parent)
