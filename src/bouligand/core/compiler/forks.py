"""A fork waits until no other thread compiles, or imports Numba or this library.

It copies the thread that calls it and no other: tables that another thread was changing stay as they were at that moment, and the
locks of that thread stay closed for ever, so that the child would wait for them at its next compilation.
"""

import importlib
import logging  # noqa: F401  (see below)
import os
import threading
import time

PATIENCE = (
    60.0  # seconds after which a fork is done all the same: the other thread may be waiting for the one that forks
)
_PACKAGES = ("bouligand", "llvmlite", "numba")

_locks: list = []  # in the order in which a thread may take several
_taken: list = []


def let_forks_wait_for(*locks):
    """From now on, a fork begins when no other thread holds these locks (a ``threading.RLock`` each)."""
    _locks.extend(locks)


def _before_fork():
    until = time.monotonic() + PATIENCE
    while True:
        for lock in tuple(_locks):
            if lock.acquire(timeout=max(until - time.monotonic(), 0.0)):
                _taken.append(lock)
        if not _others_import() or time.monotonic() > until:
            return
        _after_fork()
        time.sleep(0.002)


def _after_fork():
    """In both processes: the thread that forks is the one that goes on in the child."""
    while _taken:
        _taken.pop().release()


def _others_import():
    """Whether another thread is importing a module of ours: Python has a lock for each, which it does not open in the child."""
    locks = getattr(importlib._bootstrap, "_module_locks", {})
    ours = [lock() for name, lock in tuple(locks.items()) if str(name).partition(".")[0] in _PACKAGES]
    return any(getattr(lock, "owner", None) not in (None, threading.get_ident()) for lock in ours)


# (what is registered last comes first before a fork. That of ``logging`` closes a lock that an import of Numba needs: so it is
# imported above, for its own to come after this one)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork)
