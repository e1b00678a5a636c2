"""From a robot file to a System: reads it, finds its contacts, numbers its guards and parameters."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Literal, TypeGuard

import mujoco
import numpy as np

from ..._made import make
from ...system.arguments import flag, number, path, short, text
from ...system.functions import UserFunction
from ...system.schedule import Schedule
from ...system.words import listed
from .contacts import Contact, check_laws
from .control import PD, Hold
from .couplings import unusable
from .driver import Driver
from .features import name_of, refuse
from .finding import find_places
from .hostile import Caught
from .laws import FrictionLaw, JointFriction, NormalLaw, Spring, Stops
from .memory import Memory
from .mujoco_arrays import coordinates
from .numbering import Table, joint_name
from .physical import refuse_impossible
from .robot import Robot
from .robot_file import read_model

if TYPE_CHECKING:
    from ..._typing import FloatArray, Function, Number, Path

DEFAULT_LAW = Spring(stiffness=20_000.0, damping=100.0)


def load(
    model: Path | mujoco.MjSpec | mujoco.MjModel,
    contacts: str | tuple[str, str] | Contact | Iterable[str | tuple[str, str] | Contact] | None = None,
    control: Hold | Schedule | PD | Function | None = None,
    *,
    law: NormalLaw = DEFAULT_LAW,
    friction: FrictionLaw | Number | None = None,
    floor: Number | str | None = None,
    limits: Stops | Literal["ignore", "refuse"] | None = None,
    joint_friction: JointFriction | Number | Literal["exact", "ignore"] | None = None,
    free_base: bool = False,
    package_dirs: Path | Iterable[Path] = (),
    meshes: bool = False,
    edit: Callable[[mujoco.MjSpec], object] | None = None,
    params: Mapping[str, float] | None = None,
    cost: Callable[..., object] | None = None,
    name: str | None = None,
) -> Robot:
    """Load a robot file as a System: MuJoCo's C library computes its smooth motion, its contacts are guards.

    Parameters
    ----------
    model : path, XML text, mujoco.MjSpec or mujoco.MjModel
        MJCF (.xml), URDF (.urdf) or a compiled model (.mjb). In a URDF, links on fixed joints become part of the link that they
        are fixed to; their frames are kept as sites.
    contacts : str, pair of str, Contact, or a sequence of these, optional
        What may touch. A name or a pattern of geoms, sites or bodies (``"*FOOT"``) touches the floor; a pair of names of geoms
        touches each other; ``"feet"`` stands for the tips of all legs (of flat feet, the corners of boxes), ``"everything"`` for
        all shapes of moving bodies; a `Contact` specifies more. Default: nothing.
    control : Hold, Schedule, PD or callable, optional
        The inputs. A function ``control(t, x, p)`` returns them, ``control(t, x, p, u)`` writes them; it is compiled like any
        function of a `System`.

    Other Parameters
    ----------------
    law : Spring or HuntCrossley
        Normal force of contacts that have no law of their own. Default: 20 kN/m and 100 N s/m.
    friction : float, LuGre, Coulomb or ExactCoulomb, optional
        Tangential force of contacts that have none of their own. A coefficient stands for `LuGre`, whose contacts stick: it holds
        up to that, and 0.9 of it while it slips (between two geoms, for `Coulomb`). Default: no friction.
    floor : float or str, optional
        Height of the floor, or the name of a plane in the file. Default: the first plane of the file, or z = 0.
    limits : Stops, "ignore" or "refuse", optional
        Limits of joints and of tendons: elastic stops (default), no effect, or an error if there are any.
    joint_friction : JointFriction, float, "exact" or "ignore", optional
        Dry friction of joints (frictionloss): a law that sticks, with one more state for each dof (default); the speed in rad/s
        below which it is rounded off, without more states; "exact", Coulomb's law itself, for which each dof has a guard, its
        speed, and sticking is a sliding mode; or "ignore".
    free_base : bool
        Give the base of the robot a free joint, which a URDF cannot declare.
    package_dirs : path or sequence of paths
        The folders in which to look for ``package://`` names. Default: the folders above the file.
    meshes : bool
        Keep meshes of a URDF, for pictures: STL and OBJ; DAE with the extra ``meshes``. They do not touch anything.
    edit : callable, optional
        ``edit(spec)`` is called with the MjSpec of the file before it is compiled, to change it: the damping of a joint, a
        sphere at a fingertip, an object to hold.
    params : mapping from str to float, optional
        More parameters, for a control function or a cost. They come after those of the contacts and of a `PD` or `Hold`.
    cost : callable, optional
        A running cost ``cost(t, x, p, u)``, a number for each state x and inputs u. Its integral is one more state, the last,
        called ``"cost"``; it is compiled like any function of a `System`.
    name : str, optional
        Name of the system. Default: that in the file, or that of the file.

    Returns
    -------
    Robot
        A System with the state ``(qpos, qvel, act, bristles)``. The numbers of the laws are its parameters: ``stiffness``,
        ``damping``, ``mu``, ..., and ``stiffness[name]``, ... for a contact with a law of its own.

    Raises
    ------
    FileNotFoundError, ValueError, TypeError
        If the file cannot be read, or an argument is wrong.
    UnsupportedFeatureError
        If the model contains something that is not computed, such as an equality constraint.

    Warns
    -----
    RobotFileWarning
        If an inertia of the file is impossible and was replaced, or if MuJoCo warns of something; also during a solve.

    Examples
    --------
    >>> import bouligand as bd
    >>> xml = '''
    ... <mujoco><worldbody><body><freejoint name="ball"/>
    ...   <geom name="ball" type="sphere" size="0.1" mass="1"/>
    ... </body></worldbody></mujoco>'''
    >>> ball = bd.bridges.mujoco.load(xml, contacts="ball", law=bd.bridges.mujoco.Spring(10_000.0))
    >>> ball.guards, ball.params
    (('ball touches',), ('stiffness', 'damping', 'preload'))
    >>> sol = bd.solve(ball, (0.0, 0.5), ball.x(qpos=[0.0, 0.0, 0.3, 1.0, 0.0, 0.0, 0.0]))
    >>> sol.events.name[0]
    'ball touches'
    """
    if not isinstance(law, NormalLaw):
        raise TypeError(f"law must be a Spring or a HuntCrossley; got {short(law)}")
    check_laws(law, friction)
    flag("free_base", free_base)
    flag("meshes", meshes)
    if edit is not None and not callable(edit):
        raise TypeError(f"edit must be a function of the MjSpec; got {short(edit)}")
    if name is not None:
        text("name", name)
    folders, more = _folders(package_dirs), _more(params)
    stops = _limits(limits)
    rubbing = _joint_friction(joint_friction)
    height = 0.0 if floor is None or isinstance(floor, str) else number("floor, a plane's name or a height,", floor)
    with Caught(model if _is_path(model) else "the model"):
        mj = read_model(model, free_base=free_base, package_dirs=folders, meshes=meshes, edit=edit, height=height)
        refuse_impossible(mj, model if _is_path(model) else "the model")
        if mj.nv == 0:
            raise ValueError(
                "the model has no joints: nothing in it can move" + ("" if free_base else "; free_base=True?")
            )
        refuse(mj, stops, unusable)
        normal, offset = _floor(mj, floor, height)
        places = find_places(mj, contacts)
        rubs = friction if friction is None or isinstance(friction, FrictionLaw) else float(friction)
        table = Table(mj, law, rubs, normal, offset)
        for place in places:
            table.add(place)
        if isinstance(stops, Stops):
            table.add_limits(stops)
        if rubbing == "exact":
            table.add_exact_joint_friction()
        elif not isinstance(rubbing, str):
            table.add_joint_friction(rubbing)
        driver = Driver(mj, control, len(table.params))
        for others in (driver.params, more):
            taken = sorted(set(others) & set(table.params))
            if taken:
                raise ValueError(
                    f"params: {', '.join(taken)} is there already, as a parameter of a contact law or of the control; choose "
                    "another name"
                )
            table.params.update(others)
        states = [*_state_names(mj), *table.bristles, *(["cost"] if cost is not None else [])]
        rate = None if cost is None else UserFunction("cost", cost)
        sizes = len(states), len(table.params), table.loss_parameters
        memory = Memory(mj, table.rows, driver, table.losses, *sizes, rate)
        memory.try_out(memory.neutral(), np.array(list(table.params.values()), dtype=float))
        memory()  # evaluates it once through MuJoCo's binding, where errors are exceptions (compiled code would end the process)
        _, quats = coordinates(mj)
        return make(
            Robot,
            mj,
            memory,
            places,
            states=states,
            guards=table.guards,
            params=table.params,
            unit=[slice(int(q), int(q) + 4) for q, _ in quats],
            breakpoints=driver.breakpoints,
            laws=table.laws,
            sticks=table.sticks,
            active_while=table.active_while,
            name=name or _model_name(mj, model),
        )


def _limits(limits: Stops | Literal["ignore", "refuse"] | None) -> Stops | Literal["ignore", "refuse"]:
    if limits is None:
        return Stops()
    if isinstance(limits, Stops) or (isinstance(limits, str) and limits in ("ignore", "refuse")):
        return limits
    raise ValueError(f"limits must be Stops(), 'ignore' or 'refuse'; got {short(limits)}")


def _joint_friction(given: object) -> JointFriction | float | Literal["exact", "ignore"]:
    if given is None:
        return JointFriction()
    if isinstance(given, JointFriction):
        return given
    if isinstance(given, str) and given in ("exact", "ignore"):
        return given  # type: ignore[return-value]
    speed = number("joint_friction, a JointFriction, a speed, 'exact' or 'ignore',", given)
    if not speed > 0:
        raise ValueError(
            f"joint_friction must be a JointFriction, a positive speed, 'exact' or 'ignore'; got {given!r}"
        )
    return speed


def _folders(given: object) -> list[pathlib.Path]:
    if isinstance(given, str | os.PathLike):
        return [path("package_dirs", given)]
    return [path("package_dirs", one) for one in listed("package_dirs", given, "a path, or paths")]


def _more(params: object) -> dict[str, float]:
    """The parameters beside those of the laws and of the control."""
    if params is None:
        return {}
    if not isinstance(params, Mapping):
        raise TypeError(f"params must be a mapping from names to numbers; got {short(params)}")
    return {text("params: a name", name): number(f"params: {name}", value) for name, value in params.items()}


def _floor(model: mujoco.MjModel, floor: Number | str | None, height: float) -> tuple[FloatArray, float]:
    """The plane that contacts touch: its normal, and its height along that normal."""
    planes = [g for g in range(model.ngeom) if model.geom_type[g] == int(mujoco.mjtGeom.mjGEOM_PLANE)]
    if isinstance(floor, str):
        wanted = [g for g in planes if mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_GEOM, g) == floor]
        if not wanted:
            names = [name_of(model, mujoco.mjtObj.mjOBJ_GEOM, g) for g in planes]
            raise ValueError(f"floor: no plane is called {floor!r}; planes: {', '.join(names) or 'none'}")
        planes = wanted
    elif floor is not None:
        return np.array([0.0, 0.0, 1.0]), height
    still = [g for g in planes if model.body_weldid[model.geom_bodyid[g]] == 0]
    if isinstance(floor, str) and not still:
        raise ValueError(f"floor: the plane {floor!r} moves with a body; the floor must be fixed to the world")
    if not still:
        return np.array([0.0, 0.0, 1.0]), 0.0
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    normal = data.geom_xmat[still[0]].reshape(3, 3)[:, 2].copy()
    return normal, float(normal @ data.geom_xpos[still[0]])


def _state_names(model: mujoco.MjModel) -> list[str]:
    positions: list[str] = []
    velocities: list[str] = []
    for joint in range(model.njnt):
        name, kind = joint_name(model, joint), model.jnt_type[joint]
        quat, spin = [f"{name}:{q}" for q in ("qw", "qx", "qy", "qz")], [f"{name}:{w}" for w in ("wx", "wy", "wz")]
        if kind == int(mujoco.mjtJoint.mjJNT_FREE):
            positions += [f"{name}:{q}" for q in "xyz"] + quat
            velocities += [f"{name}:{v}" for v in ("vx", "vy", "vz")] + spin
        elif kind == int(mujoco.mjtJoint.mjJNT_BALL):
            positions += quat
            velocities += spin
        else:
            positions.append(name)
            velocities.append(name)
    return [
        *(f"qpos:{name}" for name in positions),
        *(f"qvel:{name}" for name in velocities),
        *(f"act:{i}" for i in range(model.na)),
    ]


def _is_path(source: object) -> TypeGuard[Path]:
    return isinstance(source, os.PathLike) or (isinstance(source, str) and not source.lstrip().startswith("<"))


def _model_name(model: mujoco.MjModel, source: Path | mujoco.MjSpec | mujoco.MjModel) -> str:
    text = model.names[: model.names.find(b"\0")].decode()
    if text not in ("", "MuJoCo Model"):  # (what MuJoCo calls a model without a name)
        return text
    return pathlib.Path(source).stem if _is_path(source) else "robot"
