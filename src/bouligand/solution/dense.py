"""Along the record of a solution once more: the states at any time, from steps that are taken again as they were taken."""

import numpy as np

from ..core.entries import Kernel
from ..core.state import SPAN
from ..errors import FunctionError
from ..memory.pool import pool_of
from ..memory.tables import RECORD_ARRAYS

_sample = Kernel("steps.retake", "sample", "dense output")
_sample_spans = Kernel("spans.dense_span", "sample_spans", "dense output across many contacts")


def sample(solution, ordered, out):
    """Write the states at increasing times, all within the trajectory, into ``out``."""
    record = solution.record
    if len(record) == 1:
        out[:] = record.states[0]
        return
    t = record.t
    step = np.searchsorted(t, ordered).clip(1)
    spans = (record.steps["kind"][step] == SPAN) & (t[step] > ordered) & (t[step - 1] < ordered)
    if not spans.any():
        _take_again(solution, ordered, out, spanning=False)
        return
    for which, spanning in ((spans, True), (~spans, False)):
        if which.any():
            part = np.empty((np.count_nonzero(which), solution.system.n))
            _take_again(solution, ordered[which], part, spanning)
            out[which] = part


def _take_again(solution, ordered, out, spanning):
    """The states at these times, all inside spanning steps or all not."""
    system, pool = solution.system, pool_of(solution.system)
    lease, memory = system._bind().lease(system), pool.borrow("replay", system)
    open_record(memory, solution.record, lease)
    memory.put("t_eval", ordered)
    memory.put("x_eval", out)
    if spanning:
        spans = pool.borrow("spans", system)
        spans.use(lease)
        memory.put("spans", spans)
        done = _sample_spans(memory.address)
        pool.give_back("spans", spans)
    else:
        done = _sample(memory.address)
    t_failed = memory.s.t_failed
    close_record(memory)
    pool.give_back("replay", memory)
    lease.give_back()
    if done < len(ordered):
        fail(system, t_failed)


def open_record(memory, record, lease):
    """Let the core go along a record, from its start."""
    memory.fill()
    memory.bind(lease.fn, False)
    s, v = memory.s, memory.v
    s.rtol, s.cap = 1.0, 1e300
    v.atol.fill(1.0)
    memory.g.b[:] = record.word_start
    memory.p[:] = record.parameters[0][0]
    for name, (array, place) in record.placed.items():
        memory.put(name, array, place)


def close_record(memory):
    """Forget the record: memory that is kept for others must not keep an integration's."""
    for name in (*RECORD_ARRAYS, "t_eval", "x_eval"):
        setattr(memory, name, None)


def fail(system, t):
    """Raise what a function raised when it was called again along the record."""
    raise system._bind().failures.take() or FunctionError(f"f failed at t = {t} when a step was taken again", t=t)
