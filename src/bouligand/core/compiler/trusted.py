"""Who may have written what is run: machine code and generated modules run as they are, so that whoever can write to them can run
anything as this user.

A file or folder is trusted if it belongs to this user or to root, and neither its group nor others can write to it. (Which
members a group has cannot be known at little cost: not even a group that only this user is in may write.) On Windows, where
modes say nothing, all are.
"""

import os
import stat

_POSIX = hasattr(os, "geteuid")
_OTHERS = stat.S_IWGRP | stat.S_IWOTH


class UntrustedError(Exception):
    """Somebody else may have written this file."""


def flaw(status):
    """Why what has this status (of `os.stat`) is not trusted; empty if it is."""
    if not _POSIX:
        return ""
    if status.st_uid not in (os.geteuid(), 0):
        return f"it belongs to another user (uid {status.st_uid})"
    # (a link itself has no mode of its own)
    if not stat.S_ISLNK(status.st_mode) and status.st_mode & _OTHERS:
        return f"others than its owner can write to it (mode {stat.S_IMODE(status.st_mode):o})"
    return ""


def flaw_of_folder(path):
    """The same of a folder, and of the link that it may be."""
    link = os.lstat(path)
    return flaw(link) or (flaw(os.stat(path)) if stat.S_ISLNK(link.st_mode) else "")


def flaw_beside_source(status):
    """Why a file that came with the library is not trusted: it is as easy to change as this source only if its owner is one that
    could change the source, and no more may write to it."""
    if not _POSIX:
        return ""
    source = os.stat(__file__)
    if status.st_uid not in (os.geteuid(), 0, source.st_uid):
        return flaw(status)
    return flaw(status) if status.st_mode & _OTHERS & ~source.st_mode else ""


def read(path, flaw=flaw):
    """The content of a file; an UntrustedError if ``flaw`` finds one. (The open file is looked at, not what has its name now.)"""
    with open(path, "rb") as file:
        if found := flaw(os.fstat(file.fileno())):
            raise UntrustedError(found)
        return file.read()
