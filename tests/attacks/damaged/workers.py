"""Attempts in processes of their own, so that a crash or a hang of one of them is counted, and the next ones go on."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator
from queue import Empty, Queue
from typing import Any, NamedTuple

START, EACH = 1200.0, 30.0  # seconds that a worker may take to begin, and for one attempt
ANSWER = 3.0  # and to answer Ctrl-C after that: a computation of forged numbers may be long, but it can be ended
MEMORY = 8 << 30  # bytes of address space
GOOD = ("refused", "right", "another solution", "said", "long")  # what may come of an attempt

# makes what is attacked, and returns a function that, given a number, says what it is about to do, then what came of it
Attack = Callable[[], Callable[[int], Iterator[str]]]


class Found(NamedTuple):
    """One attempt: its number, what was damaged, and what came of it."""

    number: int
    damage: str
    outcome: str


def run(attack: Attack, numbers: list[int], processes: int = 2) -> Iterator[Found]:
    """What came of these attempts, in any order."""
    todo: Queue[int] = Queue()
    for number in numbers:
        todo.put(number)
    found: Queue[Found | BaseException] = Queue()
    threads = [threading.Thread(target=_supervise, args=(attack, todo, found), daemon=True) for _ in range(processes)]
    for thread in threads:
        thread.start()
    for _ in numbers:
        one = found.get()
        if isinstance(one, BaseException):
            raise one
        yield one
    for thread in threads:
        thread.join()


def _supervise(attack: Attack, todo: Queue[int], found: Queue[Found | BaseException]) -> None:
    """Run attempts in one process after the other, until none is left."""
    context = multiprocessing.get_context("spawn")
    try:
        while not todo.empty():
            ours, theirs = context.Pipe()
            process = context.Process(target=_serve, args=(attack, theirs), daemon=True)
            process.start()
            theirs.close()
            try:
                if not ours.poll(START):
                    raise RuntimeError(f"a worker does not start within {START:g} s")
                ours.recv()
                while _attempt(ours, process.pid or 0, todo, found):
                    pass
            finally:
                process.kill()
                process.join()
                ours.close()
    except BaseException as error:
        found.put(error)


def _attempt(connection: Any, pid: int, todo: Queue[int], found: Queue[Found | BaseException]) -> bool:
    """One attempt; whether the process can go on."""
    try:
        number = todo.get_nowait()
    except Empty:
        return False
    damage = "?"
    connection.send(number)
    try:
        for last in (False, True):
            if not connection.poll(EACH):
                os.kill(pid, signal.SIGINT)
                if not connection.poll(ANSWER):
                    found.put(Found(number, damage, "HANG"))
                    return False
            text = connection.recv()
            if last:
                found.put(Found(number, damage, text))
            damage = text
    except (EOFError, ConnectionError):
        found.put(Found(number, damage, "CRASH"))
        return False
    return True


def _serve(attack: Attack, connection: Any) -> None:
    import resource
    import warnings

    warnings.simplefilter("ignore")
    attempt = attack()
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, most))
    connection.send("ready")
    while True:
        try:
            for text in attempt(connection.recv()):
                connection.send(text)
        except KeyboardInterrupt:
            connection.send("long")
