"""Robot files for ``bouligand run``, through the MuJoCo bridge."""

import pathlib
import sys
import warnings
from contextlib import contextmanager

import numpy as np

from .._optional import MissingExtraError, need
from . import robot_units
from .assignments import assignments
from .errors import CommandError
from .simulation import Simulation

SUFFIXES = (".xml", ".mjcf", ".urdf", ".mjb")


def is_robot_file(text):
    """Whether the command's MODEL is a file, and not the name of a ready model."""
    return pathlib.PurePath(text).suffix.lower() in SUFFIXES or "/" in text


def add_arguments(group):
    """The options that only robot files have."""
    group.add_argument("--free-base", action="store_true", help="give the robot's base a free joint (a URDF has none)")
    group.add_argument(
        "--hold",
        nargs=2,
        type=float,
        metavar=("KP", "KD"),
        help="motors hold the joints at their initial angles (N m/rad, N m s/rad)",
    )
    group.add_argument(
        "--height", type=float, metavar="H", help="drop the robot from this height above the floor (0.1)"
    )
    group.add_argument("--key", metavar="NAME", help="start from this keyframe of the file")
    group.add_argument(
        "--pose", nargs="+", action="extend", metavar="JOINT=ANGLE", help="joint angles of the start (rad, or m)"
    )
    group.add_argument(
        "--law", nargs=2, type=float, metavar=("K", "C"), help="spring and damper of contacts (N/m, N s/m: 20000 100)"
    )
    group.add_argument(
        "--friction", metavar="MU", help="of contacts: a coefficient (LuGre's law, 0.8), coulomb:MU, exact:MU, or none"
    )
    group.add_argument("--meshes", action="store_true", help="keep meshes of a URDF, for the animation (STL, OBJ, DAE)")
    group.add_argument("--no-forces", action="store_true", help="draw no arrows for contact forces")
    group.add_argument(
        "--view", nargs="?", const="auto", choices=("auto", "window", "web"),
        help="show the motion afterwards: in MuJoCo's viewer (window), in a browser (web), or in the first of these that is "
        "possible (auto)",
    )  # fmt: skip
    group.add_argument(
        "--camera",
        metavar="NAME",
        help="camera of the animation: one of the file (default: one that follows the robot)",
    )


def refuse_robot_options(arguments):
    """An error if a ready model is given an option that only robot files have."""
    for name in (
        "free_base",
        "hold",
        "height",
        "key",
        "camera",
        "pose",
        "law",
        "friction",
        "meshes",
        "no_forces",
        "view",
    ):
        given = getattr(arguments, name, None)
        if given is not None and given is not False:  # (a height of 0 is one)
            raise CommandError(f"--{name.replace('_', '-')} is for robot files; {arguments.model!r} is not one")


def load(arguments):
    """The robot of a file, with the arguments of the command."""
    path = pathlib.Path(arguments.model)
    if not path.is_file():
        raise CommandError(f"there is no robot file {arguments.model!r}")
    if arguments.size is not None:
        raise CommandError("--size is for ready models; a robot file has its own")
    need("mujoco", "mujoco")
    from ..bridges import mujoco as bridge

    try:
        with _remarks_once():
            return _robot(bridge, arguments, path)
    except (ValueError, TypeError, OSError) as error:  # the bridge names what it cannot do
        raise CommandError(str(error)) from error


@contextmanager
def _remarks_once():
    """What is said of a file is printed once, without lines of code, though it may be loaded twice."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        yield
    for text in dict.fromkeys(str(warning.message) for warning in heard):
        print(f"bouligand: {text}", file=sys.stderr)


def _robot(bridge, arguments, path):
    _pose(arguments)
    control = _hold(bridge, arguments, path) if arguments.hold else None
    contacts = arguments.contacts or ["feet"]
    options = {"friction": _friction(bridge, arguments.friction), "meshes": arguments.meshes}
    if arguments.law:
        options["law"] = bridge.Spring(*arguments.law)
    robot = bridge.load(path, contacts=contacts, control=control, free_base=arguments.free_base, **options)
    return RobotFile(robot, arguments, path.stem)


def _pose(arguments):
    """--pose JOINT=ANGLE is --x0 qpos:JOINT=ANGLE."""
    for text in arguments.pose or ():
        arguments.x0.append(text if text.startswith("qpos:") else f"qpos:{text}")


def _friction(bridge, text):
    """The law that --friction asks for."""
    if text == "none":
        return None
    kind, _, mu = (text or "0.8").rpartition(":")
    try:
        value = float(mu)
    except ValueError:
        value = np.nan
    if kind not in ("", "lugre", "coulomb", "exact") or not value > 0.0:
        raise CommandError(f"--friction is a positive coefficient, coulomb:MU, exact:MU or none; got {text!r}")
    if kind == "coulomb":
        return bridge.Coulomb(value, 0.05)
    return bridge.ExactCoulomb(value) if kind == "exact" else value


def _hold(bridge, arguments, path):
    """A PD controller towards the initial joint angles: those of the file, or of --x0 (qpos:JOINT=ANGLE)."""
    plain = bridge.load(path, free_base=arguments.free_base)
    start, joints, driven = plain.neutral(arguments.key), {}, bridge.driver.driven(plain.model)
    for name, value in zip(plain.states, start, strict=True):
        kind, _, joint = name.partition(":")
        if kind == "qpos" and joint in driven:
            joints[joint] = float(value)
    if not joints:
        raise CommandError("--hold: the robot has no hinges or slides to hold")
    for name, value in assignments("--x0", arguments.x0, plain.states, "state").items():
        if name.startswith("qpos:") and name.removeprefix("qpos:") in joints:
            joints[name.removeprefix("qpos:")] = value
    return bridge.PD(joints, *arguments.hold)


class RobotFile(Simulation):
    """A robot that the bridge has loaded, with the arguments of the command."""

    def __init__(self, robot, arguments, name):
        super().__init__(robot, robot.neutral(arguments.key))
        self.name = name
        self.tf = 2.0 if arguments.tf is None else arguments.tf
        self.speed = arguments.speed or 0.5
        self._camera, self._forces = arguments.camera, not arguments.no_forces
        self._free = robot.model.njnt > 0 and robot.model.jnt_type[0] == 0
        self._height = 0.1 if arguments.height is None else arguments.height
        self._touches = [k for k, guard in enumerate(robot.guards) if guard.endswith(" touches")]
        # (a keyframe says where the robot is)
        self._lifted = self._free and bool(self._touches) and arguments.key is None
        if not 0.0 <= self._height < np.inf:
            raise CommandError(f"--height must not be negative; got {arguments.height:g}")
        if arguments.height is not None and not self._lifted:
            raise CommandError("--height is for a robot with a free base and contacts, and without --key")

    def unit(self, name):
        return robot_units.unit(self.system, name)

    def panels(self, solution, times):
        return robot_units.panels(self.system, solution, times)

    def initial_state(self, changes):
        """The start, lifted (unless --x0 gives the height) so that the lowest contact is --height above the floor."""
        x0 = super().initial_state(changes)
        if self._lifted and self.system.states[2] not in changes:
            x0[2] += self._height + np.max(self._depths(x0))
        elif not self._free and np.max(self._depths(x0), initial=-np.inf) > 0.0:
            depths = self._depths(x0)
            name = self.system.contacts[int(np.argmax(depths))]
            raise CommandError(
                f"the robot is fixed to the world, and {name} begins {depths.max():.3g} m under the floor: --free-base lets it "
                "fall; or choose other --contacts"
            )
        return x0

    def _depths(self, x0):
        """Depth of each contact below the floor."""
        return self.system.function("h")(0.0, x0, self.system.parameters())[self._touches]

    def view(self, solution, viewer):
        """Show the motion until the window is closed, or the page by Ctrl-C."""
        from ..bridges.mujoco import pictures

        try:
            pictures.view(self.system, solution, self.speed, viewer=viewer)
        except (pictures.RenderingError, MissingExtraError) as error:
            raise CommandError(str(error), 1) from error

    def animate(self, solution, path, **options):
        from ..bridges.mujoco import pictures

        try:
            pictures.film(self.system, solution, path, camera=self._camera, forces=self._forces, **options)
        except pictures.RenderingError as error:
            raise CommandError(f"{error}\n(--no-animation does without)", 1) from error
        except ValueError as error:
            raise CommandError(str(error)) from error
