"""The models are found in their folder: what each file declares, a model that is added, and names from before."""

import re
import sys

import numpy as np
import pytest

import bouligand as bd
from bouligand.cli import main as cli

MODELS = bd.models.available()

TOY = """
import numpy as np

from bouligand.models.model import Model
from bouligand.system.system import System


def toy(speed=2.0):
    def field(t, x, b, p, dx):
        dx[0] = p[0] if b[0] < 0.0 else 0.5 * p[0]

    def guard(t, x, p, out):
        out[0] = x[0]

    return System(field, guard, states=("x",), guards=("wall",), params={"speed": speed})


MODEL = Model(about="a point that slows down at a wall", make=toy, start=np.array([-1.0]), tf=1.0, units={"t": "s", "x": "m"})
"""


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """A model in a folder of its own, as if its file were among the models."""
    folder = tmp_path / "more_models"
    folder.mkdir()
    (folder / "toy.py").write_text(TOY)
    monkeypatch.setattr(bd.models, "__path__", [*bd.models.__path__, str(folder)])
    yield "toy"
    sys.modules.pop("bouligand.models.toy", None)
    vars(bd.models).pop("toy", None)


def test_a_file_is_all_that_a_new_model_needs(toy, tmp_path, capsys):
    """Point and wall: it starts at x = -1 with speed 2, is at the wall at t = 0.5 and goes on with speed 1."""
    assert cli.main(["run", "--list"]) == 0
    assert re.search("toy +a point that slows down at a wall; no animation", capsys.readouterr().out)
    assert cli.main(["run", toy, "--tf", "0.8", "--no-animation", "--out", str(tmp_path / "out")]) == 0
    said = capsys.readouterr().out
    assert said.startswith("toy: t = 0 to 0.8")
    assert "0.500000000  wall" in said
    saved = np.load(tmp_path / "out" / toy / "trajectory.npz")
    assert abs(saved["x"][-1, 0] - 0.3) < 1e-9
    assert (tmp_path / "out" / toy / "states.png").exists()
    assert bd.models.toy(speed=3.0).defaults == [3.0]  # type: ignore[attr-defined]


def test_its_name_is_unknown_before_it_is_added(capsys):
    assert cli.main(["run", "toy"]) == 2
    assert "no model is called 'toy'" in capsys.readouterr().err


@pytest.mark.parametrize("name", MODELS)
def test_what_a_model_declares(name):
    """The function has the file's name and is what `bouligand.models` has under it; start and units fit the states."""
    model = MODELS[name]
    assert getattr(bd.models, name) is model.make
    assert model.make.__name__ == name
    assert name in bd.models.__all__
    for size in (None,) if model.size is None else (None, 2):
        system, start = model.build(size)
        assert start.shape == (system.n,)
        assert set(model.units) <= {"t", *system.states, *(state.rstrip("0123456789") for state in system.states)}
        assert all(model.unit(state) for state in system.states) or not model.units
    if model.size is None:
        with pytest.raises(ValueError, match="there is no size to choose"):
            model.build(2)


def test_the_start_is_a_copy():
    one, other = (MODELS["hopper"].build()[1] for _ in range(2))
    one[0] = 5.0
    assert other[0] == 2.0


def test_the_functions_stay_when_their_files_are_imported():
    """Importing a submodule sets the package's attribute to the module: that must not hide the function."""
    from bouligand.models.plate import START

    assert bd.models.plate(3).n == len(START)


@pytest.mark.parametrize(("old", "new"), bd.models._RENAMED.items())
def test_old_names_of_the_modules_say_the_new_one(old, new):
    with pytest.warns(DeprecationWarning, match=rf"models\.{old} is now bouligand\.models\.{new}: write 'from"):
        module = getattr(bd.models, old)
    assert module.__name__ == f"bouligand.models.{new}"


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match=r"'bouligand\.models' has no attribute 'elephant'"):
        _ = bd.models.elephant  # type: ignore[attr-defined]
