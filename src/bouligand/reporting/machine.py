"""Where a measurement was made: processor, system, versions of packages, and a hash of this library's source."""

import os
import pathlib
import platform
from importlib import metadata

from .. import __version__


def machine():
    """Processor, cores, system and Python."""
    return {
        "cpu": _processor(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
    }


def versions(packages=()):
    """Versions of the packages (None where one is not installed), of this library with a hash of its source."""
    found: dict[str, str | None] = {"bouligand": f"{__version__}+{source_hash()}"}
    for name in ("numpy", "scipy", "numba", *(other for other in packages if other != "bouligand")):
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = None
    return found


def source_hash(root=pathlib.Path(__file__).parent.parent):
    """Eight digits that change with any file under a folder: measurements of two versions must not be mixed."""
    from ..core.compiler.sources import stamp_of  # (imports Numba)

    return stamp_of(root)[:8]


def _processor():
    try:
        with open("/proc/cpuinfo") as lines:
            names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
        return names[0] if names else platform.processor() or "unknown"
    except OSError:
        return platform.processor() or "unknown"
