"""Pictures: which bars a gait diagram has, and that films have the frames and the time they should."""

import pickle

import matplotlib
import numpy as np
import pytest

import bouligand as bd
from bouligand.models.hopper import START as HOPPER_START
from bouligand.models.hopper import crossings as hopper_crossings
from bouligand.models.plate import START as PLATE_START
from bouligand.models.three_legs import START as THREE_LEGS_START
from bouligand.models.three_legs import TILTED, three_legs
from bouligand.models.three_legs import exact as three_legs_exact
from bouligand.plot import film
from bouligand.plot.gait import select

from ..helpers.systems import close

matplotlib.use("agg")
import matplotlib.pyplot as plt
from matplotlib.colors import to_hex


@pytest.fixture
def ax():
    figure, axes = plt.subplots()
    yield axes
    plt.close(figure)


def bars(ax):
    """{row: [(left, right), ...]} as drawn."""
    out: dict = {}
    for path in ax.collections[0].get_paths():
        low, high = path.vertices.min(axis=0), path.vertices.max(axis=0)
        out.setdefault(round(0.5 * (low[1] + high[1])), []).append((low[0], high[0]))
    return out


def test_bars_are_the_stances_of_the_closed_form(ax):
    sol = bd.solve(bd.models.hopper(), (0.0, 2.0), HOPPER_START, rtol=1e-10)
    bd.plot.contacts(sol, ax=ax)
    close(np.ravel(bars(ax)[0]), hopper_crossings(2.0), 1e-9)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["foot"]


def test_a_bar_that_is_open_at_the_start_and_one_at_the_end():
    hopper = bd.models.hopper()
    touch, leave, again, _ = hopper_crossings(2.0)
    whole = bd.solve(hopper, (0.0, 1.5), HOPPER_START, rtol=1e-10)
    rest = bd.solve(hopper, (0.5, 1.5), whole(0.5), rtol=1e-10)
    close(bd.plot.stretches(rest)[0], [(0.5, leave), (again, 1.5)], 1e-7)
    close(bd.plot.stretches(whole, sign=-1)[0], [(0.0, touch), (leave, again)], 1e-7)
    with pytest.raises(ValueError, match="sign must be -1, 0 or"):
        bd.plot.stretches(whole, sign=2)


def test_ties_are_joined_and_counted(ax):
    sol = bd.solve(three_legs(), (0.0, 0.5), THREE_LEGS_START, rtol=1e-9)
    bd.plot.contacts(sol, ax=ax)
    assert [text.get_text() for text in ax.texts] == ["3", "3"]  # landing, leaving
    close(sorted(text.xy[0] for text in ax.texts), three_legs_exact([0.5])[1], 1e-8)


def test_near_ties_as_one_likes_it(ax):
    sol = bd.solve(three_legs(), (0.0, 0.3), TILTED)
    bd.plot.contacts(sol, ax=ax)
    assert not ax.texts  # 4 ms apart is not the same instant
    bd.plot.contacts(sol, ax=ax, ties=5e-3)
    assert [text.get_text() for text in ax.texts] == ["3"]


def test_guards_by_pattern():
    hand = bd.models.hand(3)
    assert select(hand) == [0, 1, 2]  # not those that say whether a touching finger pushes
    assert select(hand, "*") == [0, 1, 2, 3, 4, 5]
    assert select(hand, "finger1*") == [1, 4]
    assert select(hand, ["!* pushes", "!finger0*"]) == [1, 2]
    assert select(hand, [2, "finger0 touches"]) == [0, 2]
    with pytest.raises(ValueError, match=r"guards: none is called 'toe\*'.*finger0 touches"):
        select(hand, "toe*")
    with pytest.raises(ValueError, match="guards: none is left"):
        select(hand, ["finger1*", "!finger*"])


def test_many_contacts_have_some_names(ax):
    sol = bd.solve(bd.models.plate(100), (0.0, 0.6), PLATE_START)
    bd.plot.contacts(sol, ax=ax)
    assert len(ax.get_yticklabels()) < 12
    assert len(bars(ax)) == len(np.unique(sol.events.guard))


def test_the_picture_of_other_fields(tmp_path):
    from examples import other_fields

    assert len(other_fields.PANELS) == 15
    figure, axes = plt.subplots(1, 3)
    for ax, panel in zip(axes, (other_fields.cycle, other_fields.network, other_fields.transformer), strict=True):
        panel(ax)
        assert ax.get_title()
        assert ax.lines
    plt.close(figure)


def test_the_gallery(tmp_path):
    from examples import gallery

    gallery.three_legs(tmp_path)
    gallery.hand(tmp_path)
    assert all((tmp_path / f"{name}.png").stat().st_size > 50_000 for name in ("three_legs", "hand"))


# ------------------------------------------------------------------------------------------------------------- films


def test_an_animation_as_gif(tmp_path):
    from PIL import Image

    sol = bd.solve(three_legs(), (0.0, 0.5), TILTED)
    path = bd.plot.animate(sol, bd.plot.mechanisms.three_legs, tmp_path / "a.gif", fps=30, speed=0.5, gait=True, dpi=40)
    with Image.open(path) as picture:
        durations, seen = [], []
        for i in range(getattr(picture, "n_frames", 1)):
            picture.seek(i)
            durations.append(picture.info["duration"])
            seen.append(np.asarray(picture.convert("RGB")).astype(int))
    assert len(seen) == 31  # 0.5 s, half as fast, at 30 frames a second
    assert abs(sum(durations) - 1000 * 31 / 30) <= 10  # hundredths of a second, right on average
    touches = sol.events.t[0]
    red = [
        np.count_nonzero((f[: f.shape[0] // 2 + 30, :, 0] > 150) & (f[: f.shape[0] // 2 + 30, :, 1] < 90)) for f in seen
    ]
    moments = film.moments(0.0, 0.5, 30, 0.5)
    assert max(np.array(red)[moments < touches]) == 0  # nothing is red in flight
    assert min(np.array(red)[(moments > touches) & (moments < sol.events.t[3])]) > 0
    assert [p.name for p in tmp_path.iterdir()] == ["a.gif"]


MODELS = bd.models.available()


def test_jumps_are_marks_and_sliding_modes_are_red(ax):
    ball = bd.solve(bd.models.bouncing_ball(), (0.0, 1.0), [1.0, 0.0])
    close(bd.plot.stretches(ball)[0], [(0.0, 1.0)], 0.0)  # it is above the floor all the time
    bd.plot.contacts(ball, ax=ax)
    bars, marks = ax.collections
    assert len(bars.get_paths()) == 0
    close([path.vertices[0, 0] for path in marks.get_paths()], ball.events.t, 0.0)
    belt = bd.solve(bd.models.stick_slip(), (0.0, 8.0), [0.0, 0.0])
    sticks, tears, again = belt.events.t
    close(bd.plot.stretches(belt, 0)[0], [(sticks, tears), (again, 8.0)], 0.0)
    close(bd.plot.stretches(belt, -1)[0], [(0.0, sticks), (tears, again)], 0.0)
    assert bd.plot.stretches(belt)[0] == []
    ax.clear()
    bd.plot.contacts(belt, ax=ax)
    assert [len(bars.get_paths()) for bars in ax.collections] == [0, 2]
    assert to_hex(ax.collections[1].get_facecolor()[0]) == bd.plot.mechanisms.TOUCHING


DRAWN = [name for name, model in MODELS.items() if model.draw]
SWITCHING = [name for name in DRAWN if not MODELS[name].build()[0].jumps and not MODELS[name].build()[0].sliding]


def inside_its_frame(ax):
    (left, right), (low, high) = ax.get_xlim(), ax.get_ylim()
    for line in ax.lines:
        x, y = line.get_data()
        if len(x) > 2:
            assert left <= np.min(x) <= np.max(x) <= right
            assert low <= np.min(y) <= np.max(y) <= high


def colours(ax):
    return [line.get_color() for line in ax.lines] + [to_hex(p.get_facecolor()) for p in ax.patches]


@pytest.mark.parametrize("name", SWITCHING)
def test_drawings_are_inside_their_frame(name, ax):
    """In flight and in contact; and what touches is red."""
    system, start = MODELS[name].build()
    sol = bd.solve(system, (0.0, 0.6), start)
    draw = MODELS[name].draw
    assert draw is not None
    touchdown = sol.events.t[np.isin(sol.events.guard, select(system))][0]
    for t, touches in ((0.0, False), (touchdown + 1e-4, True)):
        ax.clear()
        draw(ax, t, sol(t), sol.word(t), sol.p)
        assert (bd.plot.mechanisms.TOUCHING in colours(ax)) == touches
        inside_its_frame(ax)


@pytest.mark.parametrize("name", sorted(set(DRAWN) - set(SWITCHING)))
def test_drawings_of_jumps_and_sliding_modes(name, ax):
    """Inside their frame all the time; and what sticks is red."""
    model = MODELS[name]
    system, start = model.build()
    sol = bd.solve(system, (0.0, model.tf), start)
    assert model.draw is not None
    for t in np.linspace(0.0, model.tf, 20):
        ax.clear()
        model.draw(ax, t, sol(t), sol.word(t), sol.p)
        inside_its_frame(ax)
        if system.sliding:
            assert (bd.plot.mechanisms.TOUCHING in colours(ax)) == (0 in sol.word(t))


def test_drawings_by_the_names_of_the_models():
    assert bd.plot.mechanisms.hopper.__wrapped__ is MODELS["hopper"].draw
    assert pickle.loads(pickle.dumps(bd.plot.mechanisms.hopper)) is bd.plot.mechanisms.hopper
    assert "hexapod" in dir(bd.plot.mechanisms)
    with pytest.raises(AttributeError, match=r"no drawing of 'circle'; there are .*hand, hexapod, hopper"):
        _ = bd.plot.mechanisms.circle


def test_an_mp4_has_its_frames(tmp_path):
    imageio_ffmpeg = pytest.importorskip("imageio_ffmpeg")
    frames = [np.full((61, 81, 3), shade, dtype=np.uint8) for shade in range(0, 250, 10)]
    path = film.save(frames, tmp_path / "a.mp4", fps=25)
    count, seconds = imageio_ffmpeg.count_frames_and_secs(str(path))
    assert count == 25
    assert abs(seconds - 1.0) < 0.05
    assert [p.name for p in tmp_path.iterdir()] == ["a.mp4"]


def test_bad_films_are_named(tmp_path):
    sol = bd.solve(bd.models.hopper(), (0.0, 0.1), HOPPER_START)
    draw = bd.plot.mechanisms.hopper
    with pytest.raises(ValueError, match=r"\.gif or \.mp4; got 'a.avi'"):
        bd.plot.animate(sol, draw, tmp_path / "a.avi")
    with pytest.raises(ValueError, match="fps must be between"):
        bd.plot.animate(sol, draw, tmp_path / "a.gif", fps=0)
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        bd.plot.animate(sol, draw, tmp_path / "not" / "a.gif")
    with pytest.raises(ValueError, match="speed must be positive"):
        bd.plot.animate(sol, draw, tmp_path / "a.gif", speed=0.0)
    with pytest.raises(ValueError, match="at least one frame"):
        film.save([], tmp_path / "a.gif")
    assert list(tmp_path.iterdir()) == []


def test_a_drawing_that_fails_leaves_no_film(tmp_path):
    sol = bd.solve(bd.models.hopper(), (0.0, 0.2), HOPPER_START)

    def draw(ax, t, x, b, p):
        if t > 0.1:
            raise RuntimeError("cannot draw this")

    with pytest.raises(RuntimeError, match="cannot draw this"):
        bd.plot.animate(sol, draw, tmp_path / "a.gif")
    assert list(tmp_path.iterdir()) == []


def test_a_gait_diagram_without_contacts_is_empty(ax):
    apex = bd.System(lambda t, x, b, p: (x[1], -1.0), lambda t, x, p: (x[1],), n=2, guards=("apex",), observers="apex")
    bd.plot.contacts(bd.solve(apex, (0.0, 2.0), [0.0, 1.0]), ax=ax)
    assert not ax.collections[0].get_paths()
    assert list(ax.get_yticks()) == []
