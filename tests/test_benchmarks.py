"""The comparison with the peers at a tiny size, with those that the tests' environment has; and the docs that it fills."""

import pathlib
import re
import sys

import numpy as np
import pytest
from benchmarks import (
    fits,
    gradients,
    jump_peers,
    jump_problems,
    jumps,
    page,
    peers,
    problems,
    quadruped,
    scenes,
    ties,
    work,
    zoo,
)

import bouligand as bd
from bouligand.models.oscillators import exact
from bouligand.reporting.results import load

ROOT = pathlib.Path(__file__).parent.parent
HERE = ("scipy_dop853", "mujoco_steps", "plain_rk4", "plain_dopri5", "ours")


def test_work_and_precision(tmp_path, capsys):
    work.run(tmp_path, quick=True, only=HERE, chosen=[problems.balls([2.0]), problems.plate(3)])
    document = load(tmp_path / "work")
    hopper, plate = document["cells"]["hopper"], document["cells"]["plate-3"]
    assert {row["peer"] for row in hopper} == {
        "SciPy DOP853", "MuJoCo", "RK4, guards ignored", "dopri5, guards ignored", "bouligand",
    }  # fmt: skip
    for row in hopper + plate:
        assert row["failed"] is None
        assert row["seconds"] > 0
        assert row["setup"] > 0
    for name in ("SciPy DOP853", "bouligand"):
        rows = [row for row in hopper if row["peer"] == name]
        assert [row["events"] for row in rows] == [4] * len(rows)
        assert rows[-1]["rms"] < 1e-9
        assert rows[-1]["rms"] < rows[0]["rms"] / 1e3
        # independent integrators agree on the plate, events and states
        rows = [row for row in plate if row["peer"] == name]
        assert rows[-1]["rms"] < 1e-6
    assert len({row["events"] for row in plate if row["rms"] < 1e-5 and row["events"]}) == 1
    assert document["summary"]["hopper"]["1e-06"]["ratio"] > 0
    printed = capsys.readouterr().out
    assert "best other over ours" in printed
    assert (tmp_path / "work" / "work.svg").exists()


def test_jumps(tmp_path, capsys):
    jumps.run(tmp_path, quick=True, only=("scipy_jumps", "ours"), chosen=("ball", "friction"))
    document = load(tmp_path / "jumps")
    for key, events in (("ball", 6), ("friction", 4)):
        rows = document["cells"][key]
        assert {row["peer"] for row in rows} == {"SciPy RK45", "SciPy DOP853", "bouligand"}
        for row in rows:
            assert row["failed"] is None
            assert row["events"] == events
        assert min(row["rms"] for row in rows if row["peer"] == "bouligand") < 1e-11
    assert "best other over ours" in capsys.readouterr().out


@pytest.mark.parametrize("problem", jump_problems.problems(), ids=lambda problem: problem.key)
def test_all_get_the_same_jumps(problem):
    """Our models, and the compiled functions that the peers are given, have the same events and end, to 1e-7."""
    for peer in jump_peers.load(("scipy_jumps", "ours"))[0]:
        found = peer.build(problem, 1e-11).run()
        assert np.abs(found - problem.reference()[0]).max() < 1e-7


def test_a_peer_that_misses_an_event_has_failed():
    problem = jump_problems.problems()[0]
    with pytest.raises(ValueError, match="5 events; there are 6"):
        problem.result(np.zeros(5), np.zeros(2))


def test_peers_with_an_environment_of_their_own_are_skipped_by_name(monkeypatch, capsys):
    monkeypatch.delenv("BRIAN2_PYTHON", raising=False)
    monkeypatch.delenv("ANDES_PYTHON", raising=False)
    monkeypatch.delitem(sys.modules, "benchmarks.jump_peers.brian_spikes", raising=False)
    _, skipped = jump_peers.load(("brian_spikes",))
    assert "BRIAN2_PYTHON does not name the Python of an environment with Brian2" in skipped["brian_spikes"]
    zoo.spikes()
    said = capsys.readouterr().out
    assert "skipped: Brian2: BRIAN2_PYTHON" in said
    assert said.count("bouligand") == 4


def test_ties(tmp_path):
    ties.run(tmp_path, quick=True, only=("scipy_rk45", "ours"), values=(0.0, 1e-9))
    cells = load(tmp_path / "ties")["cells"]
    ours = cells["bouligand"]
    assert [row["events"] for row in ours["gaps"]] == [8, 8]
    assert max(row["error"] for row in ours["gaps"]) < 1e-7
    assert max(row["order"] for row in ours["gaps"]) < 1e-12
    assert ours["flat"]["tilt"] < 1e-10
    # the failure that the table is about: SciPy reports one of two events, and a ball goes wrong
    assert cells["SciPy-RK45"]["gaps"][0]["error"] > 0.1


def test_a_peer_that_is_not_installed_is_skipped_by_name(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "heyoka", None)
    monkeypatch.delitem(sys.modules, "benchmarks.peers.heyoka_taylor", raising=False)
    usable, skipped = peers.load(("heyoka_taylor", "ours"))
    assert [peer.NAME for peer in usable] == ["bouligand"]
    peers.say_skipped(skipped)
    assert "skipped: heyoka_taylor: not installed" in capsys.readouterr().err


def test_cells_measured_by_other_code_are_not_gone_on_with(tmp_path, monkeypatch):
    hopper = [problems.balls([2.0])]
    run = work.Run(tmp_path, "x", {"source": peers.source()})
    run.cell("a", lambda: 1)
    monkeypatch.setattr(peers, "source_hash", lambda folder: "another")
    assert not work.Run(tmp_path, "x", {"source": peers.source()}).has("a")
    work.run(tmp_path, quick=True, only=("ours",), chosen=hopper)
    assert load(tmp_path / "work")["settings"]["source"] == "another"


def test_the_reference_of_the_oscillators_is_the_closed_form():
    problem = problems.oscillators(3)
    end = problem.reference()[-1]
    for i in range(3):
        q, v, _ = exact(problem.tf, problem.x0[i], problem.x0[3 + i], *problem.p)
        assert np.allclose([end[i], end[3 + i]], [q, v], atol=1e-14)


def test_listing_guards_backwards_is_the_same_problem():
    problem = problems.balls([2.0, 2.5])
    other, back = problem.reordered()
    assert np.array_equal(other.reference()[:, back], problem.reference())


def test_the_quadruped_next_to_mujoco(tmp_path, monkeypatch):
    """Small, but whole: both laws stand equally deep, and each error falls with its setting."""
    monkeypatch.setattr(quadruped, "TIGHT", {True: 5e-5})
    monkeypatch.setattr(quadruped, "STEPS", {"Euler": (2e-3, 1e-3)})
    monkeypatch.setattr(quadruped, "TOLERANCES", ((1e-3, None), (1e-4, None), (1e-6, None)))
    monkeypatch.setattr(quadruped, "PROBLEMS", {"slippery": ("Drop", False)})
    cell = quadruped.run(tmp_path, quick=True)["cells"]["slippery"]
    assert cell["depth"]["MuJoCo"] == pytest.approx(cell["depth"]["bouligand"], rel=0.02)
    assert cell["laws"] < 0.05
    loosest, loose, tight, *theirs = cell["rows"]
    assert not any(row["failed"] for row in cell["rows"])
    assert loosest["error"] > loose["error"] > tight["error"]
    assert loose["error"] < 1e-3
    assert theirs[0]["error"] > 10.0 * theirs[1]["error"]
    assert (tmp_path / "quadruped" / "quadruped.svg").exists()


@pytest.mark.parametrize(("name", "apart"), [("Trot", 1e-2), ("Ant", 1e-2), ("Hand", 1e-3)])
def test_other_robots_next_to_mujoco(name, apart):
    """Both sides get the same controller and the same contacts: without friction the motions agree."""
    scene = getattr(scenes, name)(False)
    times = np.linspace(0.0, 0.2, 11)[1:]
    robot, x0 = scene.ours()
    ours = bd.solve(robot, (0.0, 0.2), x0, t_eval=times, rtol=1e-8)
    theirs = scenes.MuJoCo(scene, "RK4", 5e-5).sample(times)
    assert len(ours.events) > 0
    assert np.sqrt(np.mean((ours.x - theirs) ** 2)) < apart


@pytest.mark.parametrize("path", page.PAGES, ids=lambda path: path.name)
def test_every_block_of_numbers_is_filled(path):
    text = path.read_text()
    blocks = re.findall(r"^<!-- ([\w-]+) -->\n(.*?)<!-- /\1 -->$", text, flags=re.M | re.S)
    assert len(blocks) == len(re.findall(r"^<!-- [\w-]+ -->$", text, flags=re.M)) > 0
    assert [block for block, body in blocks if not body.strip()] == []


def test_the_numbers_of_the_readme_are_rows_of_the_table():
    table = (ROOT / "docs" / "benchmarks.md").read_text()
    three = re.search(r"<!-- three -->\n(.*?)\n<!-- /three -->", (ROOT / "README.md").read_text(), flags=re.S)
    assert three
    rows = three[1].splitlines()[2:]
    assert [row in table for row in rows] == [True] * len(page.THREE)
    assert all(row.startswith(f"| {begin}") for row, begin in zip(rows, page.THREE, strict=True))


def test_filling_a_page(tmp_path):
    target = tmp_path / "page.md"
    target.write_text("before\n<!-- one -->\nold\n<!-- /one -->\n<!-- two -->\nkept\n<!-- /two -->\nafter\n")
    assert page.fill(target, {"one": "new \\1"}) == ["two"]
    want = "before\n<!-- one -->\nnew \\1\n<!-- /one -->\n<!-- two -->\nkept\n<!-- /two -->\nafter\n"
    assert target.read_text() == want


def test_a_search_by_gradients_through_contacts():
    """Ours is right and arrives; a product of mjd_transitionFD has the wrong sign."""
    ours, theirs = gradients.OurBall(), gradients.TheirBall()
    assert ours(1.0)[1] == pytest.approx(ours.true_slope(1.0), rel=1e-7)
    left, calls = gradients.search(ours, 1.0)
    assert left < gradients.ARRIVED
    assert calls < 20
    assert theirs(1.0)[1] < 0.0 < theirs.true_slope(1.0)


def test_fits(capsys):
    case = fits.cases()["hopper, 2 unknowns"]
    fits.main(samples=(7,), chosen={"hopper": case})
    table, whole = capsys.readouterr().out.split("whole fits")
    *_, name, samples, jacobian, gradient, ratio, ours, differences = table.split()
    assert (name, samples) == ("hopper", "7")
    *_, name, samples, _, _, higher, _, _, _, _ = whole.split()
    assert (name, samples) == ("hopper", "7")
    assert abs(float(higher)) < 1e-3  # (chi2 of differences and ours)
    assert float(ours) < 1e-4
    assert min(map(float, (jacobian, gradient, ratio, differences))) > 0.0
