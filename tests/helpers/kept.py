"""Folders for what is kept on disk, for tests."""

from bouligand.core.compiler.places import Kept


def kept_at(folder, names="*"):
    """What is kept in this folder, which must be there; with None there is no place for anything."""
    kept = Kept("tests", names)
    kept.root = folder
    kept.why = "" if folder else "nowhere"
    return kept
