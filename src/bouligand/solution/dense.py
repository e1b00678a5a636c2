"""Dense output: states at any time, by replaying the recorded steps exactly as they were taken."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

import numpy as np

from ..core import codes
from ..core.entries import Kernel
from ..core.state import SPAN
from ..errors import FunctionError
from ..memory.pool import pool_of
from ..system.interrupts import answered

if TYPE_CHECKING:
    from .._typing import FloatArray
    from ..memory.working import Working
    from ..system.binding import Bound
    from ..system.system import System
    from ..system.user_memory import Lease
    from .record import Record

_sample = Kernel("steps.retake", "sample", "dense output", direct=True)
_sample_spans = Kernel("spans.dense_span", "sample_spans", "dense output across many contacts", direct=True)


def sample(system: System, record: Record, ordered: FloatArray, out: FloatArray) -> None:
    """Write the states at increasing times, all within the trajectory, into ``out``."""
    if len(record) == 1:
        out[:] = record.states[0]
        return
    if not record.spans:
        _replay(system, record, ordered, out, False)
        return
    t = record.t
    step = np.searchsorted(t, ordered).clip(1)
    spans = (record.steps["kind"][step] == SPAN) & (t[step] > ordered) & (t[step - 1] < ordered)
    if spans.all() or not spans.any():
        sample_parts(system, record, ordered, out, len(ordered) if spans.all() else 0)
        return
    order = np.argsort(~spans, kind="stable")
    part = np.empty_like(out)
    sample_parts(system, record, ordered[order], part, int(np.count_nonzero(spans)))
    out[order] = part


def sample_parts(
    system: System,
    record: Record,
    times: FloatArray,
    out: FloatArray,
    inside_spans: int,
    opened: tuple[Working, Bound | Lease] | None = None,
) -> None:
    """The same, of times that are in two parts, each increasing: first so many that are inside spanning steps, then the others.
    ``opened``: a workspace in which the record is open, with these functions, if there is one (not for stiff steps)."""
    if inside_spans:
        _replay(system, record, times[:inside_spans], out[:inside_spans], True, opened)
    if inside_spans < len(times):
        _replay(system, record, times[inside_spans:], out[inside_spans:], False, opened)


def _replay(
    system: System,
    record: Record,
    ordered: FloatArray,
    out: FloatArray,
    spanning: bool,
    opened: tuple[Working, Bound | Lease] | None = None,
) -> None:
    """The states at these times, which are either all inside spanning steps or all inside other steps."""
    pool, borrowed = pool_of(system), opened is None
    memory, lease = opened or (pool.borrow("replay", system), system._bind().lease(system))
    if borrowed:
        open_record(memory, record, lease)
    spans = pool.borrow("spans", system) if spanning else None
    if spans is not None:
        spans.use(lease)
        memory.put("spans", spans)
    stiff = pool.borrow("stiff", system) if record.stiff else None
    if stiff is not None:
        stiff.join(memory)
    entry, done = _sample_spans if spanning else _sample, 0
    memory.s.run.status = codes.GO_ON
    try:
        with answered(system._bind()):
            while done < len(ordered):  # (the core returns now and then, for Ctrl-C)
                memory.g.b[:] = record.word_start
                memory.put("t_eval", ordered[done:])
                memory.put("x_eval", out[done:])
                done += entry(memory.address)
                if memory.s.run.status != codes.GO_ON:
                    fail(system, memory.s.run.t_failed)
    finally:
        if spans is not None:
            pool.give_back("spans", spans)
        if stiff is not None:
            pool.give_back("stiff", stiff)
        if borrowed:
            memory.release()
            pool.give_back("replay", memory)
            lease.give_back()


def open_record(memory: Working, record: Record, lease: Bound | Lease) -> None:
    """Prepare the replay of a record, from its start."""
    memory.fill()
    memory.bind(lease.fn, False)
    s, v = memory.s, memory.v
    s.options.rtol, s.run.cap = 1.0, 1e300
    v.atol.fill(1.0)
    memory.g.b[:] = record.word_start
    memory.p[:] = record.parameters[0][0]
    memory.put_record(record.placed)


def fail(system: System, t: float) -> NoReturn:
    """Raise what a user's function raised during a replay."""
    error = system._bind().failures.take()
    raise error or FunctionError(f"f failed at t = {t} when a recorded step was replayed", t=t)
