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
        self.what, self._why, self._over, self.said = what, why, None, False

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
            self.said = True
            say(f"compiling {self.what}{self._why()} ...", once=self.what)


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


def not_kept(reason):
    """What was compiled cannot be kept on disk: said where its compilation was, so that nobody waits for it to be the last."""
    if _compiling and _compiling[-1].said:
        say(f"{_compiling[-1].what} has to be compiled in every process: {reason}")
