"""Robots from MJCF and URDF files, as Systems: motion by MuJoCo's C library, contacts by laws of your own.

    robot = bd.bridges.mujoco.load("solo12.urdf", contacts="*_FOOT", free_base=True)
    sol = bd.solve(robot, (0.0, 1.0), robot.x(...))

Needs the extra ``mujoco``: ``pip install 'bouligand[mujoco]'``.
"""

try:
    import mujoco as _  # noqa: F401  (the library itself)
except ImportError as error:
    raise ImportError("bouligand.bridges.mujoco needs MuJoCo: pip install 'bouligand[mujoco]'") from error

from . import laws, pictures
from .contacts import Contact
from .control import PD, Hold, PiecewiseConstant, Sinusoid
from .features import UnsupportedFeatureError
from .hostile import RobotFileWarning
from .laws import *  # noqa: F403  (laws.__all__: a new law is named there alone)
from .load import load
from .robot import Robot

__all__ = [
    "PD",
    "Contact",
    "Hold",
    "PiecewiseConstant",
    "Robot",
    "RobotFileWarning",
    "Sinusoid",
    "UnsupportedFeatureError",
    "load",
    "pictures",
]
__all__ += laws.__all__


def __dir__() -> list[str]:
    return sorted(__all__)
