"""The sources of the library as a hash: machine code that was made from other sources is not found."""

import hashlib
import pathlib
import zipfile

NO_SOURCES = "no_sources"  # instead of a hash where there are none, as in an application that has byte code only


def stamp_of(*folders):
    """A hash of all sources in these folders and their subfolders, which may be in a zip file."""
    digest, any_source = hashlib.sha256(), False
    for folder in map(pathlib.Path, folders):
        for name, content in _sources(folder):
            digest.update(name.encode() + b"\0" + content + b"\0")
            any_source = True
    return digest.hexdigest()[:12] if any_source else NO_SOURCES


def _sources(folder):
    """The names (within the folder) and the contents of its sources, in order."""
    if folder.is_dir():
        return [(source.relative_to(folder).as_posix(), source.read_bytes()) for source in sorted(folder.rglob("*.py"))]
    archive = next((parent for parent in folder.parents if parent.is_file()), None)
    if archive is None:
        return []
    start = folder.relative_to(archive).as_posix() + "/"
    with zipfile.ZipFile(archive) as opened:
        names = [name for name in opened.namelist() if name.startswith(start) and name.endswith(".py")]
        named = [(pathlib.PurePosixPath(name.removeprefix(start)), opened.read(name)) for name in names]
    return [(name.as_posix(), content) for name, content in sorted(named)]


STAMP = stamp_of(pathlib.Path(__file__).parents[1])
