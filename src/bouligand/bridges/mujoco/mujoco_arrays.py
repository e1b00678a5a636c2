"""Arrays of MuJoCo's model and data under their names in the table of a robot (see `table`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import mujoco
import numpy as np

if TYPE_CHECKING:
    from ..._typing import FloatArray, IntArray

# integers of MuJoCo's model, under their names in the table
INTEGERS = {
    "body_root": "body_rootid",
    "body_parent": "body_parentid",
    "dof_parent": "dof_parentid",
    "dof_body": "dof_bodyid",
    "dof_joint": "dof_jntid",
    "joint_kind": "jnt_type",
    "joint_dof": "jnt_dofadr",
    "tendon_first": "ten_J_rowadr",
    "tendon_number": "ten_J_rownnz",
    "tendon_dofs": "ten_J_colind",
}


def integers_of(model: mujoco.MjModel, scalars: IntArray, quats: IntArray) -> dict[str, IntArray]:
    """The integers of a model that the compiled functions need, with 64 bits; of its `coordinates`."""
    first_of, columns = np.arange(model.nv, dtype=np.int64), np.zeros(model.nv, dtype=np.int64)
    columns[scalars[:, 1]] = scalars[:, 0]
    for q, dof in quats:
        first_of[dof : dof + 3] = dof
        columns[dof : dof + 3] = range(q, q + 3)  # (its fourth column is after those of its three dofs)
    return {
        **{name: np.array(getattr(model, theirs), dtype=np.int64) for name, theirs in INTEGERS.items()},
        "body_last_dof": _last_dofs(model),
        "dof_first": first_of,
        "dof_column": columns,
        "scalars": scalars,
        "quats": quats,
    }


def arrays_of(model: mujoco.MjModel, data: mujoco.MjData) -> dict[str, FloatArray]:
    """The floats that compiled functions read in MuJoCo's model and data, and write in the data."""
    return {
        "qpos": data.qpos,
        "qvel": data.qvel,
        "qacc": data.qacc_smooth,
        "act": data.act,
        "act_dot": data.act_dot,
        "applied": data.qfrc_applied,
        "xpos": data.xpos,
        "xmat": data.xmat,
        "com": data.subtree_com,
        "cvel": data.cvel,
        "cdof": data.cdof,
        "cdof_dot": data.cdof_dot,
        "cinert": data.cinert,
        "crb": data.crb,
        "body_centre": data.xipos,
        "geom_pos": data.geom_xpos,
        "geom_mat": data.geom_xmat,
        "geom_reach": model.geom_rbound,
        "joint_axis": data.xaxis,
        "joint_anchor": data.xanchor,
        "tendon_length": data.ten_length,
        "tendon_slopes": data.ten_J,
    }


def coordinates(model: mujoco.MjModel) -> tuple[IntArray, IntArray]:
    """Pairs (index in qpos, dof) of the coordinates that are numbers, and of the quaternions (with their first dof)."""
    scalars, quats = [], []
    for kind, q, v in zip(model.jnt_type, model.jnt_qposadr, model.jnt_dofadr, strict=True):
        if kind == int(mujoco.mjtJoint.mjJNT_FREE):
            scalars += [(q + i, v + i) for i in range(3)]
            quats.append((q + 3, v + 3))
        elif kind == int(mujoco.mjtJoint.mjJNT_BALL):
            quats.append((q, v))
        else:
            scalars.append((q, v))
    return tuple(np.array(pairs, dtype=np.int64).reshape(-1, 2) for pairs in (scalars, quats))  # type: ignore[return-value]


def _last_dofs(model: mujoco.MjModel) -> IntArray:
    """For each body the last of the dofs that move it, -1 where there is none."""
    last = np.full(model.nbody, -1, dtype=np.int64)
    for body in range(1, model.nbody):
        if model.body_dofnum[body]:
            last[body] = model.body_dofadr[body] + model.body_dofnum[body] - 1
        else:
            last[body] = last[model.body_parentid[body]]
    return last
