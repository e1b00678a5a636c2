"""Send Ctrl-C at random moments of a first use, and where ten million events have been kept; fork while other threads compile.

    python -m tests.attacks.interrupts                # 100 Ctrl-C, 20 forks, 20 Ctrl-C at ten million events: half an hour
    python -m tests.attacks.interrupts --count 20 --forks 6 --events 100000
    python -m tests.attacks.interrupts --only events

After each Ctrl-C of a first use the same session tries again, as in a notebook, and must get the right answer. The exit status
is 1 if one does not, if a child of a fork hangs, or if a Ctrl-C waits for more than half a second at ten million events.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time

from tqdm import tqdm

SOON = 0.5  # seconds
PATIENCE = 1200.0  # seconds for one session

# One session: it says when it begins, and tries until nothing disturbs it. With a number, a Ctrl-C comes with that import.
SESSION = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
imports, at = [0], int(sys.argv[1])

def count(event, arguments):
    if event == "import":
        imports[0] += 1
        if imports[0] == at:
            signal.raise_signal(signal.SIGINT)

def use():
    import bouligand as bd
    sol = bd.solve(bd.models.hopper(), (0.0, 2.0), [2.0, 0.0])
    rate = 3.0
    own = bd.System(lambda t, x, b, p: (-rate * x[0] - b[0],), lambda t, x, p: (x[0] - 0.5,), n=1, m=1)
    other = bd.solve(own, (0.0, 1.0), [1.0])
    many = bd.solve_many(bd.models.hopper(), (0.0, 2.0), [[2.0, 0.0], [1.5, 0.0]])
    return [*sol.x[-1], *sol(0.5), *sol.bderivative().matrix().ravel(), *other.x[-1], *many.x.ravel(), len(many.events)]

sys.addaudithook(count)
print("ready", flush=True)
for attempt in range(5):
    try:
        values = use()
        print(*(float(value).hex() for value in values), flush=True)
        break
    except KeyboardInterrupt:
        print("interrupted", flush=True)
    except BaseException as error:
        print(f"broken: {type(error).__name__}: {error}"[:300], flush=True)
print(imports[0], flush=True)
"""


def start(cache: pathlib.Path | None, at: int = 0) -> subprocess.Popen[str]:
    """A session whose compiled code is kept in a folder, or where it is kept in this process."""
    folders = {} if cache is None else {"NUMBA_CACHE_DIR": str(cache), "XDG_CACHE_HOME": str(cache)}
    return subprocess.Popen(
        [sys.executable, "-c", SESSION, str(at)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, **folders},
    )


def undisturbed(cache: pathlib.Path | None) -> tuple[str, float, int]:
    """What a session prints, how long it takes, and how many modules it imports."""
    process = start(cache)
    assert process.stdout is not None
    process.stdout.readline()
    begun = time.monotonic()
    values, imports = process.communicate(timeout=PATIENCE)[0].splitlines()
    return values, time.monotonic() - begun, int(imports)


def session(cache: pathlib.Path | None, right: str, after: float = -1.0, at: int = 0) -> tuple[bool, str]:
    """One Ctrl-C: after so many seconds, or at that import. Whether it came in time, and what is wrong."""
    process = start(cache, at)
    assert process.stdout is not None
    process.stdout.readline()
    if after >= 0.0:
        time.sleep(after)
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(signal.SIGINT)
    try:
        lines = process.communicate(timeout=PATIENCE)[0].splitlines()
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        return True, "hangs"
    wrong = [line for line in lines if line.startswith("broken")]
    if wrong:
        return True, wrong[0]
    return "interrupted" in lines, "" if right in lines else f"answers {lines[-2:]}"


def first_uses(count: int, cold: int, rng: random.Random, given: pathlib.Path | None = None) -> list[str]:
    """Ctrl-C spread over a cold first use (so many of them), a warm one, and its imports. ``given``: where compiled code is."""
    wrong, came = [], 0
    with tempfile.TemporaryDirectory() as place:
        warm = given or pathlib.Path(place) / "warm"
        right, cold_time, _ = undisturbed(warm)
        again, warm_time, imports = undisturbed(warm)
        assert again == right
        for number in tqdm(range(count), desc="first uses"):
            share = rng.random()
            cache = warm
            if number < cold:
                cache = pathlib.Path(place) / f"cold{number}"
                moment = f"cold, after {share * cold_time:.2f} of {cold_time:.1f} s"
                interrupted, text = session(cache, right, after=share * cold_time)
            elif number % 2 == 0:
                moment = f"warm, after {share * warm_time:.2f} of {warm_time:.1f} s"
                interrupted, text = session(cache, right, after=share * warm_time)
            else:
                at = 1 + int(share * imports)
                moment = f"warm, at import {at} of {imports}"
                interrupted, text = session(cache, right, at=at)
            came += interrupted
            if text:
                wrong.append(f"Ctrl-C {number} ({moment}): {text}")
                tqdm.write(wrong[-1])
    print(f"{count} Ctrl-C in first uses ({cold} cold), {came} while it ran: {len(wrong)} broken sessions")
    return wrong


FORKS = """
import faulthandler, os, sys, threading, time
import bouligand as bd
count, late = int(sys.argv[1]), float(sys.argv[2])
stop, made = [], [0]
hopper = bd.models.hopper()

def compile_on_and_on():
    while not stop:
        made[0] += 1
        rate = 1.0 + made[0]
        bd.solve(bd.System(lambda t, x, b, p: (-rate * x[0],), n=1), (0.0, 1.0), [1.0])

threads = [threading.Thread(target=compile_on_and_on) for _ in range(2)]
for thread in threads:
    thread.start()
results = []
for number in range(count):
    time.sleep(late)
    child = os.fork()
    if child == 0:
        faulthandler.dump_traceback_later(60.0, exit=True)
        rate = -7.5 - number
        good = bd.solve(hopper, (0.0, 2.0), [2.0, 0.0]).success
        good = good and bd.solve(bd.System(lambda t, x, b, p: (-rate * x[0],), n=1), (0.0, 1.0), [1.0]).success
        os._exit(0 if good else 2)
    results.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
stop.append(True)
for thread in threads:
    thread.join()
print(*results)
"""


def forks(count: int, late: float) -> list[str]:
    """Fork, from the first use on, while two other threads compile: the child must solve and compile. (1: it hung.)"""
    run = subprocess.run(
        [sys.executable, "-c", FORKS, str(count), str(late)],
        capture_output=True,
        text=True,
        timeout=120.0 + 65.0 * count,
    )
    results = run.stdout.split()
    failed = count - results.count("0")
    print(f"{count} forks while two threads compile: {failed} children failed")
    return [f"forks: {results} {run.stderr[-500:]}"] if failed else []


def at_many_events(events: int, times: int, rng: random.Random) -> list[str]:
    """Ctrl-C, again and again, while a system with an event in each step is integrated, from so many events on: how long each
    waits, also for the tables that grow, and for the solution so far."""
    import numpy as np

    import bouligand as bd

    def turning(t, x, b, p, dx):
        dx[0], dx[1] = x[1], -x[0]

    def angles(t, x, p, out):
        for k in range(8):
            out[k] = p[2 * k] * x[0] + p[2 * k + 1] * x[1]

    angle = np.pi * (np.arange(8) + 0.5) / 8.0
    normals = np.column_stack([np.cos(angle), np.sin(angle)]).ravel()
    system = bd.System(turning, angles, n=2, m=8, params={f"p{q}": float(value) for q, value in enumerate(normals)})
    bd.solve(system, (0.0, 10.0), [1.0, 0.0])
    stepper = bd.Stepper(system, (0.0, 1e9), [1.0, 0.0], rtol=1e-2, max_steps=10**10)
    stepper.advance(events * np.pi / 8.0)
    waited: list[float] = []
    worked: list[float] = []  # seconds of the processor, of which a busy machine gives less
    usual = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        while len(waited) < times:
            sent: list[float] = []

            def send(sent: list[float] = sent) -> None:
                sent.extend((time.perf_counter(), time.process_time()))
                os.kill(os.getpid(), signal.SIGINT)

            timer = threading.Timer(rng.uniform(0.05, 2.0), send)
            try:
                timer.start()
                stepper.finish()
            except KeyboardInterrupt as interrupt:
                waited.append(time.perf_counter() - sent[0])
                worked.append(time.process_time() - sent[1])
                counts = interrupt.solution.counts  # type: ignore[attr-defined]
    finally:
        signal.signal(signal.SIGINT, usual)
    print(
        f"{times} Ctrl-C at {events} to {counts.events} events ({counts.steps} steps): answered after {max(waited):.3f} s at "
        f"most, {sorted(waited)[times // 2]:.3f} s in the middle, {max(worked):.3f} s of the processor at most"
    )
    return [f"a Ctrl-C waited for {max(waited):.2f} s"] if max(waited) > SOON else []


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Ctrl-C at any moment, and forks while threads compile.")
    parser.add_argument("--count", type=int, default=100, help="Ctrl-C in first uses")
    parser.add_argument("--cold", type=int, default=20, help="of these, with nothing compiled before")
    parser.add_argument("--cache", type=pathlib.Path, help="a folder of compiled code for the others")
    parser.add_argument("--forks", type=int, default=20)
    parser.add_argument("--events", type=int, default=10_000_000)
    parser.add_argument("--times", type=int, default=20, help="Ctrl-C at many events")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=("uses", "forks", "events"))
    chosen = parser.parse_args(arguments)
    rng, wrong = random.Random(chosen.seed), []
    if chosen.only in (None, "events"):
        wrong += at_many_events(chosen.events, chosen.times, rng)
    if chosen.only in (None, "forks"):
        wrong += forks(chosen.forks, 0.15)
    if chosen.only in (None, "uses"):
        wrong += first_uses(chosen.count, chosen.cold, rng, chosen.cache)
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
