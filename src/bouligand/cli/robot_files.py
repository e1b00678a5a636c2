"""Robot files for ``bouligand run``, through the MuJoCo bridge."""

import pathlib

import numpy as np

from .._optional import need
from .assignments import assignments
from .errors import CommandError

SUFFIXES = (".xml", ".mjcf", ".urdf", ".mjb")


def is_file(text):
    """Whether what was typed means a file."""
    return pathlib.PurePath(text).suffix.lower() in SUFFIXES or "/" in text


def add_arguments(group):
    group.add_argument("--free-base", action="store_true", help="give the robot's base a free joint (a URDF has none)")
    group.add_argument(
        "--hold",
        nargs=2,
        type=float,
        metavar=("KP", "KD"),
        help="motors hold the joints where they start (N m/rad, N m s/rad)",
    )
    group.add_argument("--height", type=float, metavar="H", help="drop it from so far above touching (0.1)")
    group.add_argument("--key", metavar="NAME", help="start from this keyframe of the file")
    group.add_argument(
        "--camera", metavar="NAME", help="camera of the animation: one of the file (default: one that follows)"
    )


def refuse_options(chosen):
    """Options that only robot files have."""
    for name in ("free_base", "hold", "height", "key", "camera"):
        if getattr(chosen, name) is not None and getattr(chosen, name) is not False:
            raise CommandError(f"--{name.replace('_', '-')} is for robot files; {chosen.model!r} is not one")


def subject(chosen):
    """The robot of a file, ready to run."""
    path = pathlib.Path(chosen.model)
    if not path.is_file():
        raise CommandError(f"there is no robot file {chosen.model!r}")
    if chosen.size is not None:
        raise CommandError("--size is for ready models; a robot file has its own")
    need("mujoco", "mujoco")
    from ..bridges import mujoco as bridge

    try:
        hold = _hold(bridge, chosen, path) if chosen.hold else None
        robot = bridge.load(path, contacts=chosen.contacts or ["feet"], control=hold, free_base=chosen.free_base)
        return _Robot(robot, chosen, path.stem)
    except (ValueError, TypeError, OSError) as error:  # the bridge names what it cannot do
        raise CommandError(str(error)) from error


def _hold(bridge, chosen, path):
    """A PD towards the joints' angles at the start: the file's own, or what --x0 says (qpos:JOINT=ANGLE)."""
    plain = bridge.load(path, free_base=chosen.free_base)
    start, joints, driven = plain.neutral(chosen.key), {}, bridge.control.driven(plain.model)
    for name, value in zip(plain.states, start, strict=True):
        kind, _, joint = name.partition(":")
        if kind == "qpos" and joint in driven:
            joints[joint] = float(value)
    if not joints:
        raise CommandError("--hold: the robot has no hinges or slides to hold")
    for name, value in assignments("--x0", chosen.x0, plain.states, "state").items():
        if name.startswith("qpos:") and name.removeprefix("qpos:") in joints:
            joints[name.removeprefix("qpos:")] = value
    return bridge.PD(joints, *chosen.hold)


class _Robot:
    """A robot, as the command wants it: system, start, end, and how to film it."""

    drawing = "mujoco"

    def __init__(self, robot, chosen, name):
        self.system, self.name = robot, name
        self.tf = 2.0 if chosen.tf is None else chosen.tf
        self.speed = chosen.speed or 0.5
        self.camera = chosen.camera
        self.gait = None
        touches = any(name.endswith(" touches") for name in robot.guards)
        self.start = robot.neutral(chosen.key)
        self.free = robot.model.njnt > 0 and robot.model.jnt_type[0] == 0
        self.height = 0.1 if chosen.height is None else chosen.height
        self.lifted = self.free and touches and chosen.key is None  # (a keyframe says where the robot is)
        if not 0.0 <= self.height < np.inf:
            raise CommandError(f"--height must not be negative; got {chosen.height:g}")
        if chosen.height is not None and not self.lifted:
            raise CommandError("--height is for a robot with a free base and contacts, and without --key")

    def place(self, x0, given):
        """The start, lifted (unless --x0 has the height) until the lowest contact is that high above touching."""
        if self.lifted and self.system.states[2] not in given:
            x0[2] += self.height + np.max(self._depths(x0))
        elif not self.free and np.max(self._depths(x0), initial=-np.inf) > 0.0:
            depths = self._depths(x0)
            name = self.system.contacts[int(np.argmax(depths))]
            raise CommandError(
                f"the robot is fixed to the world, and {name} begins {depths.max():.3g} m under the floor: --free-base lets it "
                "fall; or choose other --contacts"
            )
        return x0

    def _depths(self, x0):
        """How deep each contact is pressed."""
        touches = [k for k, name in enumerate(self.system.guards) if name.endswith(" touches")]
        return self.system.function("h")(0.0, x0, self.system.parameters())[touches]

    def film(self, solution, path, **options):
        from ..bridges.mujoco import pictures

        try:
            pictures.film(self.system, solution, path, camera=self.camera, **options)
        except pictures.RenderingError as error:
            raise CommandError(f"{error}\n(--no-animation does without)", 1) from error
        except ValueError as error:
            raise CommandError(str(error)) from error
