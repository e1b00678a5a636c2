"""Memory of a block of trajectories, integrated one after the other in the same workspace (see `steps.block`)."""

from .layout import Table, record

BLOCK_PLAN = record(
    *(
        f"{name}: int"
        for name in (
            "work",  # the address of the memory in which all of them are integrated
            "run",  # the addresses of the entries; 0: not compiled yet
            "judge",
            "span",
            "find_word",
            "next",  # the present trajectory, counted from the beginning of the block,
            "count",  # of so many
            "phase",  # of it: see below
            "code",  # with which it ended,
            "guard",  # and the guard concerned, -1: none
            "first",  # row of the first one in ``x0`` and ``p``,
            "x0_step",  # 1, or 0 where all have the same
            "p_step",
            "x_eval",  # the address of its states at the requested times
            "events",  # rows of ``event_t``, ``event_guard`` and ``event_sign`` written
        )
    )
)
TO_BEGIN, RUNNING, TO_KEEP = 0, 1, 2  # phases
COUNTED = ("f_calls", "h_calls", "Dh_calls", "step_count", "rejected", "hops", "spans")  # then the events
BLOCK = Table(
    "block",
    plan=BLOCK_PLAN,
    work_table="indices",  # that of the memory: the place of ``x_eval`` is written to it
    scalars="integers",  # the memory's scalars,
    scalars_start="integers",  # and what they are before the start
    guards="matrix",  # the same of the guards' rows
    guards_start="matrix",
    x0="matrix",
    p="matrix",
    # a row for each trajectory of the block
    t="vector",
    x="matrix",
    b="matrix",
    outcome="indices",  # code and guard
    counts="indices",
    event_t="vector",
    event_guard="integers",
    event_sign="vector",
)
