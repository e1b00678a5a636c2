"""Systems from SymPy: what their docstrings say, copies, threads, and the code that is kept on disk."""

import concurrent.futures
import os
import pathlib
import pickle
import subprocess
import sys

import numpy as np
import pytest

import bouligand as bd

sympy = pytest.importorskip("sympy")


from bouligand.bridges.sympy import storing  # noqa: E402

from ..helpers.kept import kept_at  # noqa: E402
from ..helpers.symbolic import DEFAULTS, FOOT, JIT, PUSH, g, hopper, k, rest, s, system, v, z  # noqa: E402

# ------------------------------------------------------------------------------------- documentation, copies, threads


def test_the_docstring_tells_the_order():
    text = hopper(name="my hopper").__doc__
    assert text.startswith("my hopper")
    for line in ("x[0]  z", "x[1]  v", "p[0]  g", "p[2]  rest", "b[0]  foot"):
        assert line in text


def test_options_of_a_system_are_passed_on():
    made = system([z, v], [v, -g], {"apex": v, "floor": z}, {g: 9.81}, observers=["apex"], direction={"apex": -1})
    sol = bd.solve(made, (0.0, 1.0), [1.0, 3.0], rtol=1e-10)
    assert abs(sol.t_events[0][0] - 3.0 / 9.81) < 1e-9


def test_pickled_and_in_threads():
    made = hopper()
    copy = pickle.loads(pickle.dumps(made))
    assert copy.__doc__ == made.__doc__

    def end(which):
        q = hopper() if which % 2 else copy
        return bd.solve(q, (0.0, 2.0), [2.0, 0.0], rtol=1e-9).x[-1]

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        ends = list(pool.map(end, range(8)))
    assert all(np.array_equal(ends[0], other) for other in ends)


# ---------------------------------------------------------------------------------------------------- on disk


def test_a_damaged_file_is_written_anew(monkeypatch, tmp_path):
    monkeypatch.setattr(storing, "MODULES", kept_at(tmp_path))
    made = hopper(name="damaged")
    (path,) = tmp_path.glob("*.py")
    whole = path.read_text()
    assert whole == made.source
    path.write_text(whole.replace("dx[0] = x1", "dx[0] = x0"))
    monkeypatch.delitem(sys.modules, f"bouligand_sympy_{made.key}")
    assert hopper(name="damaged").source == whole
    assert path.read_text() == whole
    assert not list(tmp_path.glob("*.tmp"))


def test_other_defaults_are_the_same_module_other_equations_are_not():
    made = hopper()
    assert system([z, v], [v, -g + (1 + s) / 2 * PUSH], FOOT, {g: 1.0, k: 2.0, rest: 3.0}, sides=[s]).key == made.key
    assert hopper((v, -g + (1 + s) / 3 * PUSH)).key != made.key
    assert hopper(name="another").key != made.key
    dummy = sympy.Dummy("z")  # the same equations in another symbol of the same name
    rates = [e.subs(z, dummy) for e in (v, -g + (1 + s) / 2 * PUSH)]
    assert system([dummy, v], rates, {"foot": rest - dummy}, DEFAULTS, sides=[s]).key == made.key


def test_a_state_may_be_called_t_and_time_otherwise():
    real, tau = sympy.Symbol("t", real=True), sympy.Symbol("tau")
    made = system([real], [real + tau], params={}, t=tau, compile=False)
    assert made.function("f")(2.0, np.array([3.0]), np.empty(0), made.defaults) == [5.0]
    assert system([real], [-real], compile=False).states == ("t",)


def test_without_a_place_to_write_nothing_is_kept_and_all_works(monkeypatch):
    monkeypatch.setattr(storing, "MODULES", kept_at(None))
    made = hopper(name="homeless")
    assert abs(bd.solve(made, (0.0, 0.2), [2.0, 0.0]).x[-1, 1] + 0.2 * 9.81) < 1e-6
    assert pickle.loads(pickle.dumps(made)).key == made.key


CODE = """
import sympy, sys, pathlib
import bouligand as bd
from bouligand.bridges.sympy import building, storing, writing
from bouligand.models.plate import START
work = []
for module, name in ((building, "equations"), (building, "module_text")):
    def counted(*arguments, name=name, true=getattr(module, name)):
        work.append(name)
        return true(*arguments)
    setattr(module, name, counted)
from tests.helpers import derived
made = derived.plate(2, name=sys.argv[1])
sol = bd.solve(made, (0.0, 1.0), START, rtol=1e-8)
B = sol.bderivative().matrix()
stats = [made._functions[name].function.stats for name in ("f", "h", "Df", "Dh_row")]
print(len(work), sum(sum(s.cache_hits.values()) for s in stats), sum(sum(s.cache_misses.values()) for s in stats))
print(repr(sol.x[-1].tolist()))
print(made.key)
"""

UNPICKLE = """
import pickle, sys
sys.modules["sympy"] = None  # as if it were not installed
import bouligand as bd
made = pickle.load(open(sys.argv[1], "rb"))
print(repr(bd.solve(made, (0.0, 2.0), [2.0, 0.0], rtol=1e-9).x[-1].tolist()))
"""


def python(code, *arguments, cache):
    root = pathlib.Path(__file__).parents[2]
    path = os.pathsep.join([str(pathlib.Path(bd.__file__).parent.parent), str(root)])
    env = {**os.environ, "PYTHONPATH": path, "NUMBA_CACHE_DIR": str(cache)}
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, env=env, cwd=root)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.fresh
@pytest.mark.skipif(not JIT, reason="there is nothing to cache without the JIT")
def test_a_second_process_derives_and_compiles_nothing(tmp_path):
    cache = pathlib.Path(os.environ.get("NUMBA_CACHE_DIR", tmp_path))  # where the core is compiled already, mostly
    name = f"of {tmp_path}"  # a system that is new
    first = python(CODE, name, cache=cache)
    assert first[0] == "2 0 4"  # derived, written, four functions compiled
    (module,) = cache.rglob(f"*{first[2]}*")
    written = module.stat().st_mtime_ns
    second = python(CODE, name, cache=cache)
    assert second[0] == "0 4 0"  # found, and read from the cache
    assert second[1:] == first[1:]
    assert module.stat().st_mtime_ns == written
    module.unlink()


@pytest.mark.fresh
def test_a_pickled_system_needs_no_sympy(tmp_path):
    made = hopper()
    (tmp_path / "system").write_bytes(pickle.dumps(made))
    end = python(UNPICKLE, str(tmp_path / "system"), cache=os.environ.get("NUMBA_CACHE_DIR", tmp_path / "cache"))
    assert eval(end[0]) == bd.solve(made, (0.0, 2.0), [2.0, 0.0], rtol=1e-9).x[-1].tolist()
