"""Joints that follow others: mimic joints of a URDF, joint equality constraints, couplings by fixed tendons.

All of these that are linear are solved for one joint each, ``q_d = offset + sum_j a_j q_j``, so that every joint that follows is
given by joints that do not (also where it follows one that follows another). `coupled` has what is compiled.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import mujoco
import numpy as np

from .features import name_of

if TYPE_CHECKING:
    from ..._typing import FloatArray, IntArray

_JOINT, _EQUALITY = mujoco.mjtObj.mjOBJ_JOINT, mujoco.mjtObj.mjOBJ_EQUALITY
_SINGLE = (int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE))
_OF_JOINTS, _OF_TENDONS = int(mujoco.mjtEq.mjEQ_JOINT), int(mujoco.mjtEq.mjEQ_TENDON)
TINY = 1e-12  # coefficients below are zero


def unusable(model: mujoco.MjModel, i: int) -> str | None:
    """Why equality constraint i is not such a coupling, and what to do; None if it is one."""
    kind, first, second = int(model.eq_type[i]), int(model.eq_obj1id[i]), int(model.eq_obj2id[i])
    if kind not in (_OF_JOINTS, _OF_TENDONS):
        what = mujoco.mjtEq(kind).name.removeprefix("mjEQ_").lower()
        return (
            f"{what}: loops of bodies are not closed; a stiff contact or spring may stand for it, or edit= removes it"
        )
    if np.any(model.eq_data[i, 2:5] != 0.0):
        return "its polynomial is not linear; edit= may replace it by its tangent, or remove it"
    if kind == _OF_JOINTS:
        joints = [j for j in (first, second) if j >= 0]
        others = [j for j in joints if int(model.jnt_type[j]) not in _SINGLE]
        return f"{name_of(model, _JOINT, others[0])!r} is neither a hinge nor a slide" if others else None
    for tendon in (first, second):
        if tendon >= 0 and np.any(wraps(model, tendon) != int(mujoco.mjtWrap.mjWRAP_JOINT)):
            return "tendon: only fixed tendons, sums of joint angles, are coupled; edit= removes it"
    return None


class Couplings:
    """The joints that follow: their dofs, and rows ``(coefficients over all dofs, offset)``."""

    def __init__(self, model: mujoco.MjModel) -> None:
        self.columns = model.jnt_qposadr[model.dof_jntid] + np.arange(model.nv) - model.jnt_dofadr[model.dof_jntid]
        dofs: list[int] = []
        rows: list[FloatArray] = []  # of q_d - sum_j a_j q_j = offset: coefficients, then the offset
        for i, row, wanted in _equations(model):
            for dof, known in zip(dofs, rows, strict=True):
                row = row - row[dof] * known
            name = name_of(model, _EQUALITY, i)
            if np.abs(row[:-1]).max(initial=0.0) < TINY:
                if abs(row[-1]) > 1e-9:
                    raise ValueError(f"the equality constraint {name!r} contradicts others, or a joint follows itself")
                continue  # (it says the same as others)
            dof = wanted if abs(row[wanted]) > TINY else int(np.argmax(np.abs(row[:-1])))
            row = row / row[dof]
            rows = [known - known[dof] * row for known in rows]
            dofs.append(dof)
            rows.append(row)
        table = np.array(rows, dtype=float).reshape(-1, model.nv + 1)
        self.dofs: IntArray = np.array(dofs, dtype=np.int64)
        self.rows: FloatArray = np.ascontiguousarray(table[:, :-1])  # J, of J q = offsets
        self.offsets: FloatArray = np.ascontiguousarray(table[:, -1])

    def __len__(self) -> int:
        return len(self.dofs)

    def substitute(self, qpos: FloatArray, qvel: FloatArray) -> None:
        """Put the joints that follow to where they belong, in place."""
        for dof, row, offset in zip(self.dofs, self.rows, self.offsets, strict=True):
            follows = -row
            follows[dof] = 0.0
            used = np.flatnonzero(follows)
            qpos[self.columns[dof]] = offset + follows[used] @ qpos[self.columns[used]]
            qvel[dof] = follows[used] @ qvel[used]


def wraps(model: mujoco.MjModel, tendon: int) -> IntArray:
    """What a tendon goes along, piece by piece: joints, if it is a fixed one."""
    first = int(model.tendon_adr[tendon])
    return np.asarray(model.wrap_type[first : first + int(model.tendon_num[tendon])])


def _equations(model: mujoco.MjModel) -> Iterator[tuple[int, FloatArray, int]]:
    """Of each coupling: its number, its row, and the dof to solve it for."""
    for i in range(model.neq):
        if not model.eq_active0[i] or unusable(model, i) is not None:
            continue
        of = _joint if int(model.eq_type[i]) == _OF_JOINTS else _tendon
        offset, slope = model.eq_data[i, 0], model.eq_data[i, 1]
        row, at_reference, dof = of(model, int(model.eq_obj1id[i]))
        second = int(model.eq_obj2id[i])
        if second >= 0:
            other, other_reference, _ = of(model, second)
            row, at_reference = row - slope * other, at_reference - slope * other_reference
        yield i, np.append(row, offset + at_reference), dof


def _joint(model: mujoco.MjModel, joint: int) -> tuple[FloatArray, float, int]:
    """Of a joint's angle: its row, its value in the reference pose, its dof."""
    dof, row = int(model.jnt_dofadr[joint]), np.zeros(model.nv)
    row[dof] = 1.0
    return row, float(model.qpos0[model.jnt_qposadr[joint]]), dof


def _tendon(model: mujoco.MjModel, tendon: int) -> tuple[FloatArray, float, int]:
    """The same of a fixed tendon's length; the dof is the last of its joints."""
    first, row = int(model.tendon_adr[tendon]), np.zeros(model.nv)
    for place in range(first, first + int(model.tendon_num[tendon])):
        row[model.jnt_dofadr[model.wrap_objid[place]]] += model.wrap_prm[place]
    return row, float(model.tendon_length0[tendon]), int(model.jnt_dofadr[model.wrap_objid[place]])
