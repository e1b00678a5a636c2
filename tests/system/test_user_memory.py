"""Low-level functions that work in memory of their own: one piece for each integration at a time."""

import ctypes
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy import LowLevelCallable

import bouligand as bd
from bouligand.system.user_memory import Contexts

_KIND = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_double, *[ctypes.POINTER(ctypes.c_double)] * 4, ctypes.c_void_p)


def memory():
    piece = np.zeros(4)
    return piece.ctypes.data, piece


def decay(meet):
    """x' = -x/2 by a low-level f, the addresses it was given by thread, and (if asked) a wait for the other thread."""
    seen: dict = {}

    @_KIND
    def f(t, x, b, p, dx, ctx):
        address = ctypes.cast(ctx, ctypes.POINTER(ctypes.c_int64))[3]
        place = ctypes.cast(address, ctypes.POINTER(ctypes.c_double))
        place[0] = -0.5 * x[0]
        me = threading.get_ident()
        if me not in seen and meet is not None:
            seen[me] = {address}
            meet.wait(10.0)
        seen.setdefault(me, set()).add(address)
        dx[0] = place[0]
        return 0

    return bd.System(LowLevelCallable(f), n=1, context=memory), seen


def test_each_integration_has_its_own_memory():
    system, seen = decay(threading.Barrier(2))
    system._probed = True  # (the probe would wait at the barrier alone)
    with ThreadPoolExecutor(2) as pool:
        ends = list(pool.map(lambda x0: bd.solve(system, (0.0, 2.0), [x0], rtol=1e-8).x[-1, 0], (1.0, 5.0)))
    assert ends == pytest.approx([np.exp(-1.0), 5.0 * np.exp(-1.0)], rel=1e-7)
    first, second = seen.values()
    assert len(first) == len(second) == 1
    assert first.isdisjoint(second)


def test_memory_is_used_again():
    system, seen = decay(None)
    for _ in range(20):
        sol = bd.solve(system, (0.0, 2.0), [1.0])
        sol(1.0)
        sol.bderivative()([1.0])
    assert len(next(iter(seen.values()))) <= 3


def test_it_travels_without_its_memory():
    contexts = Contexts(memory)
    contexts.give_back(contexts.borrow())
    assert pickle.loads(pickle.dumps(contexts))._spare == []
    with pytest.raises(TypeError, match="context must be a function"):
        bd.System(lambda t, x, b, p: x, n=1, context=3)
