"""Robot files of other packages, with the options that `load` has by default: do they load, and run for half a second?

    python -m benchmarks files

example-robot-data's URDFs, Gymnasium's MJCFs and dm_control's suite, those that are installed. A file without joints is given a
free base. `python -m benchmarks.files FILE` writes the table as Markdown, for the docs.
"""

import importlib.metadata
import importlib.util
import pathlib
import sys
import time
import warnings

import numpy as np

import bouligand as bd
from bouligand.bridges import mujoco as mj

SECONDS, RTOL = 0.5, 1e-4


def collections():
    """{name: files} of the packages that are installed."""
    found = {}
    try:
        data = importlib.metadata.distribution("example-robot-data")
        folder = pathlib.Path(str(data.locate_file("cmeel.prefix/share/example-robot-data/robots")))
        found[f"example-robot-data {data.version}"] = sorted(folder.rglob("*.urdf"))
    except importlib.metadata.PackageNotFoundError:
        pass
    for package, inside in (("gymnasium", "envs/mujoco/assets"), ("dm_control", "suite")):
        spec = importlib.util.find_spec(package)
        if spec is not None and spec.submodule_search_locations:
            folder = pathlib.Path(next(iter(spec.submodule_search_locations))) / inside
            found[f"{package} {importlib.metadata.version(package)}"] = sorted(folder.glob("*.xml"))
    return found


def attempt(file):
    """A row of the table: whether it ran, sizes, seconds, and what is to be said of it."""
    said = []
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            try:
                robot = mj.load(file)
            except ValueError as error:
                if "no joints" not in str(error):
                    raise
                robot = mj.load(file, free_base=True)
                said.append("free_base=True: it has no joints")
            began = time.perf_counter()
            solution = bd.solve(robot, (0.0, SECONDS), robot.neutral(), rtol=RTOL)
            took = time.perf_counter() - began
            said += _remarks(robot, heard)
            good = bool(np.isfinite(solution.x[-1]).all())
            return good, robot.model.nv, robot.m, took, "; ".join(said)
        except (ValueError, bd.BouligandError) as error:
            return False, 0, 0, 0.0, _reason(error, file)


def _remarks(robot, heard):
    texts = " ".join(str(warning.message) for warning in heard)
    if len(robot.memory.couplings):
        yield f"{len(robot.memory.couplings)} joints follow others"
    bristles = int((robot.memory.losses["bristle"] >= 0).sum())
    if bristles:
        yield f"dry friction of {bristles} joints"
    for sign, remark in (
        ("without inertia", "masses without inertia"),
        ("have no mass", "links without mass"),
        ("no body can have", "impossible inertias"),
    ):
        if sign in texts:
            yield remark


def _reason(error, file):
    text = " ".join(str(error).split()).replace(str(file), file.name)
    return text.partition("does not compute: - ")[2] or text


def rows():
    """(collection, file, row), one after the other."""
    for name, files in collections().items():
        for file in files:
            yield name, file, attempt(file)


def main():
    print(f"load(FILE) with default options, then {SECONDS} s at rtol {RTOL:g}")
    counts = {}
    for name, file, (good, dofs, guards, took, said) in rows():
        ran, total = counts.get(name, (0, 0))
        counts[name] = ran + good, total + 1
        print(f"{'ran' if good else '-':4} {file.name:36} {dofs:4} {guards:4} {1e3 * took:9.1f} ms  {said}", flush=True)
    for name, (ran, total) in counts.items():
        print(f"{name}: {ran} of {total}")


def table():
    """The same as Markdown, without times, which change from run to run."""
    lines, counts, last = [], {}, None
    for name, file, (good, dofs, guards, _, said) in rows():
        ran, total = counts.get(name, (0, 0))
        counts[name] = ran + good, total + 1
        if name != last:
            lines += ["", f"## {name}", "", "| file | dofs | guards | |", "|---|---|---|---|"]
            last = name
        label = f"{file.parent.name}/{file.name}" if file.suffix == ".urdf" else file.name
        lines.append(f"| {label} | {dofs or ''} | {guards or ''} | {said if good else 'not loaded: ' + said} |")
    head = [
        "# Robot files that were tried",
        "",
        f"Each is loaded with the options that `load` has by default, and run for {SECONDS} s from its reference pose.",
        "`python -m benchmarks.files docs/robot_files.md` makes this page. "
        + "; ".join(f"{name}: {ran} of {total} ran" for name, (ran, total) in counts.items())
        + ".",
    ]
    return "\n".join([*head, *lines, ""])


if __name__ == "__main__":
    if len(sys.argv) > 1:
        pathlib.Path(sys.argv[1]).write_text(table())
    else:
        main()
