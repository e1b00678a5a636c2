"""Solutions handed over to other packages, and kept in files."""

import html.parser
import os

import numpy as np
import pytest

import bouligand as bd
from bouligand.models.plate import START

HOPPER = bd.models.hopper()


@pytest.fixture(scope="module")
def sol():
    return bd.solve(HOPPER, (0.0, 2.0), [2.0, 0.0], rtol=1e-8)


def test_columns_by_name(sol):
    assert np.array_equal(sol["vz"], sol.x[:, 1])
    assert np.array_equal(sol["foot"], sol.b[:, 0])
    assert sol["t"] is sol.t
    with pytest.raises(KeyError, match="height; there are the states z, vz, the guards foot"):
        sol["height"]
    with pytest.raises(TypeError, match=r"sol\.x\[i\]"):
        sol[0]


def test_pandas(sol):
    pytest.importorskip("pandas")
    table = sol.to_pandas()
    assert list(table.columns) == ["z", "vz"]
    assert np.array_equal(table["z"], sol.x[:, 0])
    assert np.array_equal(table.index, sol.t)
    events = sol.events.to_pandas()
    assert events["guard"].tolist() == ["foot"] * 4
    assert np.array_equal(events["vz"], sol.events.x[:, 1])


def test_a_state_called_like_a_column_of_the_events():
    pytest.importorskip("pandas")
    clock = bd.System(lambda t, x, b, p: (1.0,), lambda t, x, p: (x[0] - 1.0,), states=("t",), guards=("noon",))
    assert list(bd.solve(clock, (0.0, 2.0), [0.0]).events.to_pandas().columns) == ["t", "guard", "direction", "t_"]


def test_xarray(sol):
    pytest.importorskip("xarray")
    data = sol.to_xarray()
    assert np.array_equal(data.x.sel(state="vz"), sol["vz"])
    assert np.array_equal(data.b.sel(guard="foot"), sol.b[:, 0])
    assert np.array_equal(data.event_t, sol.events.t)
    assert data.p.sel(parameter="g") == 9.81
    assert data.attrs["status"] == "finished"


def test_a_file_has_all_that_the_solution_has(sol, tmp_path):
    sol.save(tmp_path / "hop")
    assert os.listdir(tmp_path) == ["hop.npz"]
    again = bd.load(tmp_path / "hop.npz", HOPPER)
    for name in ("t", "x", "b", "p"):
        assert np.array_equal(getattr(again, name), getattr(sol, name)), name
    assert np.array_equal(again.events.array, sol.events.array)
    assert np.array_equal(again.events.after, sol.events.after)
    assert again.counts == sol.counts
    assert again.message == sol.message
    assert np.array_equal(again([0.3, 1.5]), sol([0.3, 1.5]))
    assert np.array_equal(again.bderivative().matrix(), sol.bderivative().matrix())


def test_a_file_without_its_system_has_the_data_and_the_text_of_the_functions(tmp_path):
    plate = bd.models.plate(100)
    sol = bd.solve(plate, (0.0, 1.0), START, t_eval=[0.1, 0.9])
    assert sol.counts.spans  # (of events inside a step, the states need f)
    sol.save(tmp_path / "plate.npz")
    again = bd.load(tmp_path / "plate.npz")
    assert np.array_equal(again.x, sol.x)
    assert np.array_equal(again.events.x, sol.events.x)
    assert repr(again.events) == repr(sol.events)
    assert "def guards" in again.source["h"]
    with pytest.raises(ValueError, match="without its system"):
        again(0.5)
    again.save(tmp_path / "second")  # (and once more, with the text that it was read with)
    assert bd.load(tmp_path / "second.npz").source == again.source


def test_jumps_failures_and_changed_parameters_are_kept(tmp_path):
    ball = bd.models.bouncing_ball()
    bounced = bd.solve(ball, (0.0, 1.0), [1.0, 0.0])
    bounced.save(tmp_path / "ball")
    for again in (bd.load(tmp_path / "ball.npz"), bd.load(tmp_path / "ball.npz", ball)):
        assert np.array_equal(again.events.x_after, bounced.events.x_after)
    relay = bd.System(lambda t, x, b, p: (-b[0],), lambda t, x, p: (x[0],), n=1, guards=("switch",))
    failed = bd.solve(relay, (0.0, 2.0), [1.0], on_failure="return")
    failed.save(tmp_path / "relay")
    error = bd.load(tmp_path / "relay.npz").error
    assert type(error) is bd.SlidingError
    assert str(error) == str(failed.error)
    stepper = bd.Stepper(HOPPER, (0.0, 1.0), [2.0, 0.0])
    stepper.advance(0.5)
    stepper.p = {"g": 1.62}
    moon = stepper.finish()
    moon.save(tmp_path / "moon")
    again = bd.load(tmp_path / "moon.npz", HOPPER)
    assert again.p[0] == 1.62
    assert np.array_equal(again([0.2, 0.9]), moon([0.2, 0.9]))


def test_wrong_files_and_systems_are_refused(sol, tmp_path):
    sol.save(tmp_path / "hop")
    with pytest.raises(ValueError, match=r"belongs to another system: its states are z, vz"):
        bd.load(tmp_path / "hop.npz", bd.models.plate(3))
    with pytest.raises(TypeError, match="must be a System"):
        bd.load(tmp_path / "hop.npz", "hopper")
    np.savez(tmp_path / "other.npz", a=1)
    with pytest.raises(ValueError, match=r"not a file that Solution\.save wrote"):
        bd.load(tmp_path / "other.npz")
    (tmp_path / "text.npz").write_text("nothing")
    with pytest.raises(ValueError, match=r"text\.npz"):
        bd.load(tmp_path / "text.npz")
    with pytest.raises(FileNotFoundError):
        bd.load(tmp_path / "none.npz")


def test_a_text_that_has_changed_since_is_noticed(sol, tmp_path):
    sol.save(tmp_path / "hop")

    def field(t, x, b, p):
        return x[1], -p[0]

    other = bd.System(
        field, lambda t, x, p: (x[0],), states=HOPPER.states, guards=("foot",), params=HOPPER.parameters()
    )
    with pytest.raises(ValueError, match="its params are"):
        bd.load(tmp_path / "hop.npz", other)
    named = dict(zip(HOPPER.params, HOPPER.defaults, strict=True))
    other = bd.System(field, lambda t, x, p: (x[0],), states=HOPPER.states, guards=("foot",), params=named)
    with pytest.warns(bd.FunctionWarning, match=r"f, h, .*changed since it was written \(line 1 of f was"):
        bd.load(tmp_path / "hop.npz", other)


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_printed_texts_fit_the_terminal(columns, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(columns))
    sol = bd.solve(bd.models.plate(12), (0.0, 1.0), START)
    for text in (repr(sol.events), "\n".join(repr(sol).splitlines()[1:])):
        assert max(map(len, text.splitlines())) <= columns
    assert "spring" in repr(sol.events)


class Cells(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open: list[str] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


def test_notebooks_show_tables(sol):
    cells = Cells()
    cells.feed(sol._repr_html_() + sol.events._repr_html_())
    assert cells.open == []
    assert "foot" in cells.texts
    assert "the end of the interval was reached, t = 2" in cells.texts


def test_dir_shows_public_names_only():
    assert [name for name in dir(bd) if name not in bd.__all__] == ["__version__"]
    assert "solve" in dir(bd)
