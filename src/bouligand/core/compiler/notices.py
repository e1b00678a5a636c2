"""Lines on stderr: what compiles for more than two seconds, and why; what is kept on disk and cannot be used.

While something is compiled a thread waits beside it. None is started as long as machine code is found on disk.
"""

import contextlib
import sys
import threading

SECONDS = 2.0  # of compiling without a word
_said: set = set()
_compiling: list = []  # what is being compiled, the innermost last. (Within `compiling()`: one thread at a time)
_silent: list = []


def say(text, once=None):
    """Write a line; ``once``: not again in this process under the same name."""
    name = text if once is None else once
    if name not in _said and not _silent and sys.stderr is not None:
        _said.add(name)
        print(f"bouligand: {text}", file=sys.stderr, flush=True)


@contextlib.contextmanager
def silence():
    """Nothing is said: a progress bar does."""
    _silent.append(True)
    try:
        yield
    finally:
        _silent.pop()


class _Compilation:
    """Something that may have to be compiled."""

    def __init__(self, what, why):
        self._what, self._why, self._over = what, why, None

    def begin(self):
        """It is not on disk: from now on it is compiled."""
        if self._over is None:
            self._over = threading.Event()
            threading.Thread(target=self._watch, name="bouligand notice", daemon=True).start()

    def end(self):
        if self._over is not None:
            self._over.set()

    def _watch(self):
        if not self._over.wait(SECONDS):
            say(f"compiling {self._what}{self._why()} ...", once=self._what)


@contextlib.contextmanager
def said_if_slow(what, why, begun=False):
    """Say what is compiled here, if that takes long; ``why()``: why it is not there. ``begun``: it is known not to be. Within
    `compiling()`."""
    one = _Compilation(what, why)
    _compiling.append(one)
    if begun:
        one.begin()
    try:
        yield
    finally:
        _compiling.remove(one)
        one.end()


def compilation_begins():
    """What is asked for is not on disk."""
    if _compiling:
        _compiling[-1].begin()
