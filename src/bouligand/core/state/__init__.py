"""The core's memory, by name: records of scalars, rows of vectors, tables of arrays.

All memory belongs to Python and lives as long as an integration does, so that the core can stop anywhere and continue later. It
is passed to the core as the address of a table (`Table`), which holds the addresses of all arrays. Inside the core it is ``w``,
the workspace, and an array is an attribute of it:

    w.s    scalars and counters, a record:                w.s.now.t, w.s.next.dt, w.s.run.status
    w.v    vectors of the state's size, by row:           w.v.x[i], w.v.stages[2, i]
    w.g    a value for each guard, by row:                w.g.b[k], w.g.hdot[k], w.g.held[k]
    w.fn   addresses of the user's functions, a record:   w.fn.f, w.fn.h

To add a scalar, a row or an array, add its line in this folder: no other file contains an offset.
"""

# (all names of these files are names of the folder)
from .block import *  # noqa: F403
from .derivative import *  # noqa: F403
from .functions import *  # noqa: F403
from .integration import *  # noqa: F403
from .layout import *  # noqa: F403
from .special_steps import *  # noqa: F403
from .trajectory import *  # noqa: F403
from .work import *  # noqa: F403
