"""Between the state of a robot and MuJoCo's data: from names, arrays and keyframes to x, and from x to an MjData."""

from __future__ import annotations

from typing import TYPE_CHECKING

import mujoco

from ...system.arguments import finite_numbers, index, instance, number

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from ..._typing import FloatArray
    from .memory import Memory


class RobotStates:
    """What a `Robot` does with its states."""

    n: int
    model: mujoco.MjModel
    memory: Memory
    states: tuple[str, ...]

    def neutral(self, key: str | int | None = None) -> FloatArray:
        """The state at rest in the reference pose of the file (``qpos0``), or that of one of its keyframes.

        Parameters
        ----------
        key : str or int, optional
            Name or number of a keyframe.

        Returns
        -------
        array (n,)
        """
        x, model = self.memory.neutral(), self.model
        if key is None:
            return x
        try:
            frame = model.key(key if isinstance(key, str) else index("key, a name or a number,", key))
        except (KeyError, IndexError):
            names = [model.key(i).name or f"number {i}" for i in range(model.nkey)]
            raise ValueError(f"key: no keyframe is {key!r}; there are: {', '.join(names) or 'none'}") from None
        x[: model.nq], x[model.nq : model.nq + model.nv] = frame.qpos, frame.qvel
        x[model.nq + model.nv : model.nq + model.nv + model.na] = frame.act
        self.memory.put_in_place(x)
        return x

    def x(
        self,
        data: mujoco.MjData | None = None,
        *,
        qpos: ArrayLike | None = None,
        qvel: ArrayLike | None = None,
        act: ArrayLike | None = None,
        **joints: float,
    ) -> FloatArray:
        """A state: that of an MjData, or the neutral one with some values changed.

        Parameters
        ----------
        data : mujoco.MjData, optional
            Its qpos, qvel and act are taken.
        qpos, qvel, act : array, optional
            Values in MuJoCo's coordinates.
        **joints : float
            Positions of hinges and slides by name.

        Returns
        -------
        array (n,)
        """
        x = self.neutral()
        nq, nv, na = self.model.nq, self.model.nv, self.model.na
        if data is not None:
            data = instance("data", data, mujoco.MjData, "mujoco")
            qpos, qvel, act = data.qpos, data.qvel, data.act
        for what, values, where in (
            ("qpos", qpos, slice(0, nq)),
            ("qvel", qvel, slice(nq, nq + nv)),
            ("act", act, slice(nq + nv, nq + nv + na)),
        ):
            if values is not None:
                values = finite_numbers(what, values)
                if values.shape != x[where].shape:
                    raise ValueError(f"{what} must have {x[where].size} values; got shape {values.shape}")
                x[where] = values
        for joint, value in joints.items():
            name = f"qpos:{joint}"
            if name not in self.states:
                known = [state[5:] for state in self.states if state.startswith("qpos:") and state.count(":") == 1]
                some = ", ".join(known[:12]) + (f" and {len(known) - 12} more" if len(known) > 12 else "")
                raise ValueError(f"no hinge or slide is called {joint!r}; there are {some or 'none'}")
            x[self.states.index(name)] = number(joint, value)
        self.memory.put_in_place(x)
        return x

    def data(self, x: ArrayLike) -> mujoco.MjData:
        """MuJoCo's data at a state, with positions and velocities computed (``mj_kinematics``, ``mj_comPos``, ``mj_comVel``)."""
        x = self._state(x)
        self.memory.put_in_place(x)
        data = mujoco.MjData(self.model)
        nq, nv, na = self.model.nq, self.model.nv, self.model.na
        data.qpos[:], data.qvel[:] = x[:nq], x[nq : nq + nv]
        data.act[:] = x[nq + nv : nq + nv + na]
        mujoco.mj_normalizeQuat(self.model, data.qpos)
        mujoco.mj_kinematics(self.model, data)
        mujoco.mj_comPos(self.model, data)
        mujoco.mj_camlight(self.model, data)
        mujoco.mj_tendon(self.model, data)
        mujoco.mj_comVel(self.model, data)
        return data

    def _state(self, x: ArrayLike, what: str = "x") -> FloatArray:
        """A state that a user gives as the argument ``what``: a new array."""
        x = finite_numbers(what, x)
        if x.shape != (self.n,):
            raise ValueError(f"{what} must have {self.n} values; got shape {x.shape}")
        return x
