"""``make wheel``: a wheel with the machine code of the core in it, so that whoever installs it waits for no compiler.

The core is compiled for a kind of processor that nearly all machines have (see PROCESSORS), with the Python and the Numba that
run this. The wheel can be installed where that Numba's own wheel can, and serves this version of Numba; with another one
(and on older processors) it works like the wheel without machine code that ``python -m build`` makes.
"""

import importlib.metadata
import json
import os
import pathlib
import platform
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).parents[1]
BUILD = ROOT / "build" / "machine_code"

V3 = "avx avx2 bmi bmi2 cx16 f16c fma lzcnt movbe popcnt sahf sse3 sse4.1 sse4.2 ssse3"  # (Intel since 2013, AMD since 2015)
# By architecture: LLVM's name of a processor, and what it has that older ones have not.
PROCESSORS = {
    "x86_64": ("x86-64-v3", V3.split()),
    "AMD64": ("x86-64-v3", V3.split()),
    "aarch64": ("generic", []),
    "arm64": ("generic", []),
}


def compile_core(cache, processor, features):
    """Compile all parts of the core into an empty cache, in processes that take this processor for theirs."""
    shutil.rmtree(cache, ignore_errors=True)
    flags = ",".join(f"+{feature}" for feature in features)
    env = {**os.environ, "NUMBA_CACHE_DIR": str(cache), "NUMBA_CPU_NAME": processor, "NUMBA_CPU_FEATURES": flags}
    subprocess.run([sys.executable, "-m", "bouligand", "warm"], env=env, check=True)


def collect(cache, folder, features):
    """Put what is in a cache into a folder, as `bouligand.core.compiler.shipped` reads it."""
    from llvmlite import binding

    from bouligand.core.compiler.shipped import MADE_FOR, compiler
    from bouligand.core.compiler.sources import STAMP

    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for file in sorted(cache.rglob("bouligand-core/*/*.nbu")):
        if (folder / file.name).exists():
            raise SystemExit(f"two functions would have the file {file.name}")
        shutil.copyfile(file, folder / file.name)
    if not any(f"_{STAMP}-" in file.name for file in folder.iterdir()):
        raise SystemExit("the sources were edited while they were compiled")
    made_for = {"compiler": compiler(), "triple": binding.get_process_triple(), "features": features}
    (folder / MADE_FOR).write_text(json.dumps(made_for, indent=1))


def tag():
    """Of the wheel: the first of Numba's own, which serves most machines."""
    described = importlib.metadata.distribution("numba").read_text("WHEEL") or ""
    tags = [line.partition(": ")[2] for line in described.splitlines() if line.startswith("Tag: ")]
    return tags[0]


def main():
    if platform.machine() not in PROCESSORS:
        raise SystemExit(
            f"no kind of processor is known that all of the architecture {platform.machine()} are: see PROCESSORS"
        )
    processor, features = PROCESSORS[platform.machine()]
    cache, folder = BUILD / "cache", BUILD / "files"
    print(f"== compiling the core for {processor}", flush=True)
    compile_core(cache, processor, features)
    collect(cache, folder, features)
    size = sum(file.stat().st_size for file in folder.iterdir())
    print(f"== a wheel with {len(list(folder.iterdir())) - 1} files of machine code, {size / 1e6:.1f} MB", flush=True)
    env = {**os.environ, "BOULIGAND_MACHINE_CODE": str(folder), "BOULIGAND_WHEEL_TAG": tag()}
    subprocess.run([sys.executable, "-m", "build", "--wheel", str(ROOT)], env=env, check=True)


if __name__ == "__main__":
    main()
