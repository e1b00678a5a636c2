"""MuJoCo's C functions, for compiled code: by name, so that machine code from the cache finds them in the next process.

(An address would be baked into the cache, and wrong there.) Pointers are passed as 64-bit integers.
"""

import ctypes
import pathlib

import mujoco
from llvmlite import binding
from numba import types

_POINTER, _INT = types.int64, types.int32
_ON_DATA = types.void(_POINTER, _POINTER)  # (mjModel*, mjData*)

_SIGNATURES = {
    "mj_kinematics": _ON_DATA,
    "mj_comPos": _ON_DATA,
    "mj_tendon": _ON_DATA,
    "mj_makeM": _ON_DATA,
    "mj_factorM": _ON_DATA,
    "mj_transmission": _ON_DATA,
    "mj_comVel": _ON_DATA,
    "mj_fwdVelocity": _ON_DATA,
    "mj_fwdActuation": _ON_DATA,
    "mj_fwdAcceleration": _ON_DATA,
    "mj_solveM": types.void(_POINTER, _POINTER, _POINTER, _POINTER, _INT),
    "mj_geomDistance": types.float64(_POINTER, _POINTER, _INT, _INT, types.float64, _POINTER),
}


def _library():
    """The file of MuJoCo's C library, beside its Python package."""
    folder = pathlib.Path(mujoco.__file__).parent
    for pattern in ("libmujoco*.so*", "libmujoco*.dylib", "mujoco.dll"):
        for path in sorted(folder.glob(pattern)):
            return str(path)
    raise ImportError(f"MuJoCo's C library is not in {folder}; reinstall mujoco")


OLDEST = (3, 12)  # earlier ones misplace the inertia of links that a URDF fixes to others


def _load():
    path = _library()
    library = ctypes.CDLL(path)
    missing = [name for name in _SIGNATURES if not hasattr(library, name)]
    version = tuple(int(part) for part in mujoco.__version__.split(".")[:2])
    if missing or version < OLDEST:
        raise ImportError(
            f"this MuJoCo ({mujoco.__version__}) is too old for the bridge; install a later one: pip install 'bouligand[mujoco]'"
        )
    binding.load_library_permanently(path)


_load()

kinematics = types.ExternalFunction("mj_kinematics", _ON_DATA)
com_pos = types.ExternalFunction("mj_comPos", _ON_DATA)
tendon = types.ExternalFunction("mj_tendon", _ON_DATA)
make_inertia = types.ExternalFunction("mj_makeM", _ON_DATA)
factor_inertia = types.ExternalFunction("mj_factorM", _ON_DATA)
transmission = types.ExternalFunction("mj_transmission", _ON_DATA)
com_vel = types.ExternalFunction("mj_comVel", _ON_DATA)
velocity = types.ExternalFunction("mj_fwdVelocity", _ON_DATA)
actuation = types.ExternalFunction("mj_fwdActuation", _ON_DATA)
acceleration = types.ExternalFunction("mj_fwdAcceleration", _ON_DATA)
solve_inertia = types.ExternalFunction("mj_solveM", _SIGNATURES["mj_solveM"])
geom_distance = types.ExternalFunction("mj_geomDistance", _SIGNATURES["mj_geomDistance"])
