"""The workspace: the table of all memory of an integration or a derivative, ``w`` in the core."""

from .derivative import CORNER, TANGENTS
from .functions import FUNCTIONS
from .integration import GUARD_ROWS, SCALARS, STATE_ROWS
from .layout import Table
from .special_steps import SPANS, STIFF
from .trajectory import EVENT, STEP

WORK = Table(
    "work",
    kept=("s", "v", "g", "fn", "p"),
    s=SCALARS,
    v=STATE_ROWS,
    g=GUARD_ROWS,
    p="vector",
    fn=FUNCTIONS,
    units="indices",  # where each unit part of the state begins and stops
    # the record (these stand together: see `memory.tables.Placed`)
    steps=[STEP],
    states="matrix",
    events=[EVENT],
    breaks="vector",
    leg_p="matrix",
    legs="integers",  # records from which on the rows of ``leg_p`` are the parameters
    t_eval="vector",
    x_eval="matrix",
    reset="matrix",
    jumps="integers",  # the address of each guard's jump; 0: none
    event_times="vector",  # of a finished integration: the times of the events alone; as long as ``events``
    jump_order="integers",  # guards, in the order in which their jumps are applied
    Dh="matrix",
    spans=SPANS,
    stiff=STIFF,
    tangents=TANGENTS,
    corner=CORNER,
)
