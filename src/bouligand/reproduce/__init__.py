"""The paper's experiments, which ``bouligand reproduce`` runs: one a file, each with ``run(out, quick)``.

`order` (section 4), `hopper` (section 5.1) and `plate` (section 5.2). Nothing else in the library uses them.
"""

from importlib import import_module

NAMES = ("order", "hopper", "plate")


def experiment(name):
    """The module of an experiment, imported at first use."""
    if name not in NAMES:
        raise ValueError(f"no experiment is called {name!r}; choose from {', '.join(NAMES)}, all")
    return import_module(f"{__name__}.{name}")
