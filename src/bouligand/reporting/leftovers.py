"""Folders and files under temporary names, of a process that may be killed: found and cleaned away by the next one."""

import os
import pathlib
import shutil
import socket

_HOST = socket.gethostname().replace(".", "_") or "host"


def temporary_name(path, kind="new"):
    """A hidden name beside a path that says whose it is: ``.hopper.new-HOST-PID``."""
    path = pathlib.Path(path)
    return path.with_name(f".{path.name}.{kind}-{_HOST}-{os.getpid()}")


def clean(path):
    """Remove what processes of this machine that are no longer alive have left beside a path. A folder that one of them had moved
    away, to put another in its place, is put back if nothing is there."""
    path = pathlib.Path(path)
    for kind in ("old", "new"):
        for left in path.parent.glob(f".{glob_escape(path.name)}.{kind}-{glob_escape(_HOST)}-*"):
            pid = left.name.rpartition("-")[2]
            if not pid.isdigit() or _alive(int(pid)):
                continue
            if kind == "old" and not path.exists():
                left.rename(path)
            elif left.is_dir() and not left.is_symlink():
                shutil.rmtree(left, ignore_errors=True)
            else:
                left.unlink(missing_ok=True)


def glob_escape(text):
    """A text as a pattern that matches only itself."""
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in text)


def _alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:  # there, and someone else's
        return True
    return True
