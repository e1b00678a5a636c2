"""Shortcuts through Numba's internals: taken under its lock, undone at once, and only with versions that are known."""

import os
import subprocess
import sys
import threading
import time
from typing import Any

import numba
import numpy as np
import pytest
from numba.core import base, event, ir, ssa
from numba.core.base import BaseContext
from numba.core.codegen import JITCodeLibrary
from numba.core.cpu import CPUContext
from numba.core.lowering import Lower
from numba.core.typing.context import BaseContext as TypingContext

import bouligand as bd
from bouligand.core.compiler import compiling, pipeline
from bouligand.core.compiler.intrinsics import compact
from bouligand.core.compiler.jit import core
from bouligand.core.compiler.whole import Part

pytestmark = pytest.mark.skipif(not compiling.JIT, reason="nothing is compiled without the JIT")


def patched():
    """What the shortcuts change."""
    return (
        CPUContext.get_executable,
        JITCodeLibrary._optimize_functions,
        JITCodeLibrary.finalize,
        Lower.lower_getitem,
        Lower.lower_setitem,
        numba.types.Function.get_call_type,
        TypingContext.resolve_getattr,
        BaseContext.get_abi_sizeof,
        BaseContext.refresh,
        TypingContext.refresh,
        base._has_loc,
        ir.Stmt.list_vars,
        ir.Expr.list_vars,
        ssa._run_ssa,
        ssa._run_block_rewrite,
        ssa._run_ssa_block_pass,
        numba.core.event.broadcast,
        numba.core.event.start_event,
        numba.core.event.end_event,
        str(pipeline._short),
    )


def test_this_version_of_numba_is_known():
    assert frozenset(compiling.SHORTCUTS) == compiling.ALLOWED


def test_another_thread_compiles_without_them():
    usual, seen, inside, done = patched(), [], threading.Event(), threading.Event()

    def other():
        inside.wait(10.0)
        dispatcher = numba.njit(lambda x: x + 1.0)
        dispatcher.compile((numba.float64,))  # waits for the lock
        seen.append((done.is_set(), patched()))

    thread = threading.Thread(target=other)
    thread.start()
    with compiling.compiling(), compiling.shortcuts():
        assert all(a is not b for a, b in zip(patched(), usual, strict=True))
        inside.set()
        thread.join(0.5)
        assert thread.is_alive()
        done.set()
    thread.join(30.0)
    assert seen == [(True, usual)]
    assert patched() == usual


def test_they_are_undone_when_compiling_fails():
    usual = patched()

    class Broken:
        overloads = ()

        def compile(self, kinds):
            assert patched() != usual
            raise RuntimeError("broken")

    with pytest.raises(RuntimeError, match="broken"):
        compiling.compile_for(Broken(), (1.0,))
    assert patched() == usual


@pytest.mark.parametrize("version", ["0.60.3", "0.69.0", "1.0.0rc1", "0.68.1"])
def test_an_unknown_numba_does_without(monkeypatch, version):
    monkeypatch.setattr(numba, "__version__", version)
    assert bool(compiling._allowed()) == (version == "0.68.1")


@pytest.mark.fresh
@pytest.mark.rare
def test_without_any_of_them(tmp_path):
    code = """
import threading, warnings
warnings.simplefilter("error")
import bouligand as bd
from bouligand.core.compiler import compiling
from bouligand.core.compiler.intrinsics import compact
from bouligand.core.compiler.jit import core
from bouligand.core.compiler.whole import Part
assert not compiling.ALLOWED
sol = bd.solve(bd.models.hopper(), (0.0, 2.0), [2.0, 0.0], rtol=1e-8)
print(sol.counts.steps)
"""
    env = {**os.environ, "BOULIGAND_SHORTCUTS": "none", "NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 10


def test_types_are_the_same_with_shortcuts():
    def mixed(i, x, c):
        return i + x, i * 2, x < c, i // 3 + True, min(i, 2.0), x**2 - i

    def returned():
        dispatcher = numba.njit(mixed)
        dispatcher.compile((numba.int32, numba.float32, numba.float64))
        return dispatcher.nopython_signatures[0].return_type

    usual = returned()
    with compiling.compiling(), compiling.shortcuts():
        assert returned() == usual


def part_of_the_core(function):
    """A function that is compiled as those of the core are."""
    function.__module__ = "bouligand.core.guards"
    return core(function)


def test_parts_of_an_entry_can_be_called_from_elsewhere():
    @part_of_the_core
    def inner(x):
        compact()  # type: ignore[call-arg]
        return 2.0 * x

    @part_of_the_core
    def outer(x):
        compact()  # type: ignore[call-arg]
        return inner(x) + 1.0

    with compiling.compiling(), compiling.shortcuts():
        outer.compile((numba.float64,))
    (compiled,) = outer.overloads.values()
    assert isinstance(compiled.library, Part)
    assert numba.njit(lambda x: outer(x) - inner(x))(3.0) == 1.0
    # and again, in an entry-like function of its own
    with compiling.compiling(), compiling.shortcuts():
        other = numba.njit(lambda x: outer(x))
        assert other(3.0) == 7.0


def test_items_and_rows_are_the_same_with_shortcuts():
    records = np.zeros(3, dtype=[("a", "f8"), ("k", "i8")])
    records["k"] = [1, 2, 3]
    vector, matrix = np.arange(5.0), np.arange(12, dtype=np.int64).reshape(3, 4)
    cube = np.arange(24.0).reshape(2, 3, 4)

    def look(vector, matrix, cube, records, i, u):
        row, plane = matrix[i], cube[i]
        vector[i] = 10.0
        matrix[1, i] = vector[u] + 0.5  # (an integer is stored)
        cube[0, i, 1] = matrix[u, -2]
        row[i] += 1
        short = np.int32(i)
        vector[short] += row.shape[0] + 10 * plane.shape[1] + 100 * plane.size
        return (
            vector[-1],
            matrix[i, u],
            cube[i][u, i],
            cube[-1, -1, -1],
            plane[i].sum(),
            records[i]["k"],
            cube[1, i][-1],
        )

    compiled: Any = numba.njit(look, **{"_nrt": False})  # type: ignore[call-overload]
    plain: Any = look
    arrays = [vector, matrix, cube, records]
    for i, u in ((-1, np.uint64(1)), (1, np.uint64(0)), (-2, np.uint64(2))):
        copies = [array.copy() for array in arrays]
        expected = plain(*copies, i, u)
        given = [array.copy() for array in arrays]
        with compiling.compiling(), compiling.shortcuts():
            assert compiled(*given, i, u) == expected
        for one, other in zip(given, copies, strict=True):
            assert (one == other).all()


def test_an_index_out_of_bounds_is_still_an_exception_where_it_was():
    checked = numba.njit(lambda x, i: x[i], boundscheck=True)
    with compiling.compiling(), compiling.shortcuts(), pytest.raises(IndexError):
        checked(np.zeros(3), 3)


def loops_and_branches(x, n):
    """Variables that are assigned in some branches, used before and after, swapped, and left as they were."""
    a, b, count = 0.0, 1.0, 0
    for i in range(n):
        if x[i] < 0.0:
            continue
        a, b = b, a + x[i]
        last = x[i]
        while b > 10.0:
            b *= 0.5
            count += 1
            if count > 5:
                break
        else:
            last -= 1.0
        a += last
    return a, b, count, n * 2 - count, -a if a > b else b, (a < b) + (count == n)


def test_results_are_the_same_with_fewer_passes():
    x = np.array([3.0, -1.0, 7.5, 40.0, 0.25, -2.0, 90.0])
    plain: Any = loops_and_branches
    with compiling.compiling(), compiling.shortcuts():
        compiled: Any = part_of_the_core(loops_and_branches)
        compiled.compile((numba.float64[::1], numba.int64))
    assert isinstance(next(iter(compiled.overloads.values())).library, Part)
    through = numba.njit(lambda x, n: compiled(x, n))
    for n in range(len(x) + 1):
        assert through(x, n) == plain(x.tolist(), n)


def test_a_function_with_a_closure_goes_through_all_passes():
    @part_of_the_core
    def outer(x):
        def inner(y):
            return y + x

        return inner(2.0) * 3.0

    with compiling.compiling(), compiling.shortcuts():
        outer.compile((numba.float64,))
    assert numba.njit(lambda x: outer(x))(1.0) == 9.0


def test_nor_do_exceptions_get_lost():
    @part_of_the_core
    def caught(x):
        try:
            if x > 1.0:
                raise ValueError("too large")
            return x
        except Exception:
            return -1.0

    with compiling.compiling(), compiling.shortcuts():
        caught.compile((numba.float64,))
    through = numba.njit(lambda x: caught(x))
    assert (through(0.5), through(2.0)) == (0.5, -1.0)


def test_the_passes_that_are_needed_exist():
    seen = {name.partition("_")[2] for name in passes_of(numba.njit(lambda x: x + 1.0))}
    assert set(pipeline._NEEDED) <= seen


def passes_of(dispatcher):
    dispatcher.compile((numba.float64,))
    (times,) = dispatcher.get_metadata(dispatcher.signatures[0])["pipeline_times"].values()
    return times


def test_variables_are_found_in_the_same_order_with_shortcuts():
    from numba.core.compiler import run_frontend

    statements = [one for block in run_frontend(loops_and_branches).blocks.values() for one in block.body]
    expressions = [one.value for one in statements if isinstance(one, ir.Assign) and isinstance(one.value, ir.Expr)]
    usual = [[variable.name for variable in one.list_vars()] for one in statements + expressions]
    with compiling.compiling(), compiling.shortcuts():
        assert [[variable.name for variable in one.list_vars()] for one in statements + expressions] == usual
    assert len(usual) > 50


def test_a_rule_that_is_added_between_two_functions_is_seen():
    def twice(x):
        return 2.0 * x

    with compiling.compiling(), compiling.shortcuts():
        numba.njit(lambda x: x + 1.0).compile((numba.float64,))

        def plain(x):
            raise AssertionError("not compiled")

        numba.extending.overload(plain)(lambda x: twice)
        assert numba.njit(lambda x: plain(x))(4.0) == 8.0


def halves(t, x, b, p):
    out = np.empty(4)
    out[:2] = x[2:]
    out[2:] = x[: int(p[0])]
    return out


def test_slices_of_users_functions_compile_nothing_of_texts():
    new = time.time()  # (so that it is not on disk)

    def f(t, x, b, p):
        out = np.empty(4)
        out[:2], out[2:] = x[2:], x[:2] + 0.0 * new
        return out

    listener = event.RecordingListener()
    with event.install_listener("numba:compile", listener):
        sol = bd.solve(bd.System(f, n=4, m=0), (0.0, 1.0), np.ones(4))
    compiled = {one.data["dispatcher"].py_func.__module__ for _, one in listener.buffer}
    assert __name__ in compiled
    assert not {name for name in compiled if name.startswith("numba.cpython.unicode")}
    np.testing.assert_allclose(sol.x[-1], np.exp(1.0), rtol=1e-5)


def test_slices_of_another_shape_are_the_functions_own_exception():
    system = bd.System(halves, n=4, m=0, params={"count": 2.0})
    with pytest.raises(ValueError, match=r"could not broadcast .* \(3,\)"):
        bd.solve(system, (0.0, 1.0), np.ones(4), {"count": 3.0})
