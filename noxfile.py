"""The tests on the ends of the declared ranges of Python, Numba and NumPy: ``make matrix``, or ``nox -s NAME``.

An interpreter that is not installed is skipped by name. Each session has a cache of compiled code of its own.
"""

import pathlib

import nox

nox.options.error_on_missing_interpreters = False
nox.options.default_venv_backend = "venv"

ENDS = {
    "oldest": ("3.11", "numba==0.61.*", "numpy==1.26.*", "scipy==1.12.*"),
    "middle": ("3.12", "numba==0.64.*", "numpy==2.1.*", "scipy"),
    "newest": ("3.13", "numba", "numpy", "scipy"),
}


def session_of(name, python, *versions):
    @nox.session(python=python, name=name)
    def tests(session):
        session.install("--quiet", "--editable", ".[dev]", *versions)
        session.run(
            "python", "-c", "import numba, numpy, sys; print(sys.version, numba.__version__, numpy.__version__)"
        )
        cache = pathlib.Path(session.create_tmp()) / "numba"
        env = {"NUMBA_CACHE_DIR": str(cache), "MUJOCO_GL": session.env.get("MUJOCO_GL") or "egl"}
        session.run("pytest", "-n", "2", "-m", "rare or not rare", *session.posargs, env=env)

    return tests


for _name, _versions in ENDS.items():
    session_of(_name, *_versions)
