"""Kill ensembles at random moments: the driver, a worker of a Dask cluster, its scheduler. Resumed, the store must have the same
bytes as one that was never disturbed.

    python -m tests.attacks.stores                # 30 kills, a few minutes
    python -m tests.attacks.stores --kills 100 --seed 3

The exit status is 1 if a store differs.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

from tqdm import tqdm

COUNT, BLOCK = 2000, 40
DRIVER = """
import sys, numpy as np, bouligand as bd
from contextlib import nullcontext
store, address = sys.argv[1:]
if address:
    from distributed import Client
x0 = np.column_stack([1.5 + np.random.default_rng(6).random({count}), np.zeros({count})])
with Client(address, timeout="20s") if address else nullcontext() as client:
    bd.solve_many(bd.models.hopper(), (0.0, 2.0), x0, store=store, block={block}, threads=1, executor=client, max_step=1e-3)
print("done", flush=True)
"""


def contents(folder: pathlib.Path) -> dict[str, str]:
    """A hash of every file, by its name."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def drive(store: pathlib.Path, address: str = "") -> subprocess.Popen[str]:
    text = DRIVER.format(count=COUNT, block=BLOCK)
    return subprocess.Popen(
        [sys.executable, "-c", text, str(store), address], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


class Cluster:
    """A Dask scheduler and two workers, each a process of its own that may be killed."""

    def __init__(self, folder: pathlib.Path) -> None:
        folder.mkdir()
        self._folder, self._file = folder, folder / "scheduler.json"
        command = ["-m", "distributed.cli.dask_scheduler", "--port", "0", "--no-dashboard", "--scheduler-file"]
        self.scheduler = self._start([*command, str(self._file)])
        begun = time.monotonic()
        while not self._file.exists():
            if time.monotonic() - begun > 60.0:
                raise RuntimeError("the scheduler does not start")
            time.sleep(0.05)
        time.sleep(0.2)
        self.workers = [self._worker() for _ in range(2)]

    def _start(self, arguments: list[str]) -> subprocess.Popen[bytes]:
        quiet = subprocess.DEVNULL
        return subprocess.Popen([sys.executable, *arguments], stdout=quiet, stderr=quiet, cwd=self._folder)

    def _worker(self) -> subprocess.Popen[bytes]:
        options = ["--nthreads", "1", "--no-nanny", "--no-dashboard", "--death-timeout", "30"]
        return self._start(["-m", "distributed.cli.dask_worker", *options, "--scheduler-file", str(self._file)])

    @property
    def address(self) -> str:
        import json

        return str(json.loads(self._file.read_text())["address"])

    def replace_worker(self) -> None:
        """Another one for the first, which was killed."""
        self.workers[0] = self._worker()

    def close(self) -> None:
        for process in (*self.workers, self.scheduler):
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            process.wait()


def attack(folder: pathlib.Path, whole: dict[str, str], whom: str, moment: float, number: int) -> str:
    """Kill one process after a while; a text if the store, resumed, is not the undisturbed one."""
    store = folder / f"{number}.zarr"
    cluster = Cluster(folder / f"cluster{number}") if whom != "driver" else None
    try:
        driver = drive(store, cluster.address if cluster else "")
        begun = time.monotonic()
        while not (store / "blocks" / "00000000").exists() and driver.poll() is None:
            if time.monotonic() - begun > 120.0:
                return "nothing is written within two minutes"
            time.sleep(0.002)
        time.sleep(moment)
        victim = driver if cluster is None else cluster.workers[0] if whom == "worker" else cluster.scheduler
        victim.send_signal(signal.SIGKILL)
        if whom == "worker" and cluster is not None:
            cluster.replace_worker()
            if driver.communicate(timeout=300)[0] != "done\n":
                return "a killed worker ended the run"
        elif whom == "scheduler":
            driver.kill()  # (it waits for a scheduler that is gone)
            driver.communicate()
        else:
            driver.communicate()
    finally:
        if cluster is not None:
            cluster.close()
    out, err = drive(store).communicate(timeout=300)
    if out != "done\n":
        return f"not resumed: {err.strip().splitlines()[-1:]}"
    found = contents(store)
    different = sorted(name for name in {**whole, **found} if whole.get(name) != found.get(name))
    return f"different: {different[:5]}" if different else ""


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Kill ensembles, and compare their stores with undisturbed ones.")
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=("driver", "worker", "scheduler"))
    chosen = parser.parse_args(arguments)
    rng, wrong = random.Random(chosen.seed), []
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        begun = time.monotonic()
        assert drive(folder / "whole.zarr").communicate()[0] == "done\n"
        lasts = time.monotonic() - begun
        whole = contents(folder / "whole.zarr")
        for number in tqdm(range(chosen.kills), desc="kills"):
            whom = chosen.only or ("driver", "worker", "driver", "scheduler")[number % 4]
            moment = rng.random() * 0.5 * lasts
            text = attack(folder, whole, whom, moment, number)
            if text:
                wrong.append(f"kill {number} ({whom}, after {moment:.3f} s): {text}")
    print("\n".join(wrong) or f"{chosen.kills} kills (seed {chosen.seed}): every store has the same {len(whole)} files")
    return 1 if wrong else 0


if __name__ == "__main__":
    os.environ.setdefault("PYTHONWARNINGS", "ignore")
    sys.exit(main())
