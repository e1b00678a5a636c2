"""Files of solutions that are damaged, or forged, are refused before compiled code sees them."""

import io
import json
import zipfile

import numpy as np
import pytest

import bouligand as bd
from bouligand.models.plate import START
from bouligand.solution import sealed
from tests.attacks.damaged import solutions, workers

HOPPER = bd.models.hopper()


@pytest.fixture(scope="module")
def hop(tmp_path_factory):
    """The path of a good file, and the arrays in it."""
    path = tmp_path_factory.mktemp("hop") / "hop.npz"
    bd.solve(HOPPER, (0.0, 2.0), [2.0, 0.0], rtol=1e-8).save(path)
    with np.load(path) as file:
        return path, {name: file[name] for name in file.files}


def forged(path, arrays):
    """A file whose seal is right, whatever is in it."""
    arrays.pop(sealed.SEAL, None)
    sealed.write(path, arrays)
    return path


def with_field(name, field, value, row=0):
    def change(arrays):
        arrays[name][field][row] = value

    return change


def with_words(**words):
    def change(arrays):
        arrays["about"] = np.array(json.dumps(json.loads(str(arrays["about"])) | words))

    return change


def with_array(**changed):
    def change(arrays):
        arrays.update(changed)

    return change


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (with_field("steps", "kind", 7, 2), "a step has no known kind"),
        (with_field("steps", "kind", 30, 2), "none of its guards has a jump"),
        (with_field("steps", "t", np.nan, 2), "its times are not finite"),
        (with_field("steps", "t", 5.0, 2), "its times do not increase"),
        (with_field("steps", "length", 0.0, 2), "a step has no length"),
        (with_field("events", "guard", -1), "that of a guard that is not there"),
        (with_field("events", "record", 10**15), "belongs to a step that is not there"),
        (with_field("events", "record", 10**3, -1), "belongs to a step that is not there"),
        (with_field("events", "record", 0, -1), "not in the order of the steps"),
        (with_field("events", "t", 0.1), "outside its step"),
        (with_field("events", "sign", 2.0), "the sign of an event"),
        (with_field("events", "shown", 3), "shape"),
        (with_field("events", "jumped", 2), "belongs to one that is not there"),
        (with_array(word_end=np.array([0.5])), "word_end"),
        (with_array(states=np.zeros((3, 2))), r"'states' has the shape \(3, 2\)"),
        (with_array(p=np.zeros(3, dtype=np.float32)), "'p' has the type float32"),
        (with_array(rtol=np.array(np.nan)), "tolerances"),
        (with_array(more=np.zeros(2)), "'more' does not belong there"),
        (lambda arrays: arrays.pop("breaks"), "'breaks' is missing"),
        (with_words(guards=["foot", "foot"]), "'guards' is missing or wrong"),
        (with_words(counts={"f": 10**30}), "'counts' is missing or wrong"),
        (with_words(ended_by=1), "it ended by no guard"),
        (with_words(format=1), "it has the format 1; this version of bouligand reads 2"),
        (with_array(about=np.array("[" * 100_000)), "is not JSON"),
    ],
)
def test_what_a_forged_file_says_is_checked(hop, tmp_path, change, says):
    arrays = {name: array.copy() for name, array in hop[1].items()}
    assert bd.load(forged(tmp_path / "same.npz", arrays), HOPPER).success
    change(arrays)
    with pytest.raises(ValueError, match=rf"not a file that Solution\.save wrote, or it is damaged: .*{says}"):
        bd.load(forged(tmp_path / "forged.npz", arrays), HOPPER)


def test_a_seal_is_over_all_that_is_there(hop, tmp_path):
    path, arrays = hop
    for name in arrays:
        other = {**arrays, name: arrays[name][..., None]}
        np.savez(tmp_path / "other.npz", **other)
        with pytest.raises(ValueError, match="not those of its seal"):
            bd.load(tmp_path / "other.npz")
    np.savez(tmp_path / "other.npz", **{name: array for name, array in arrays.items() if name != sealed.SEAL})
    with pytest.raises(ValueError, match="has no seal: it was written by an earlier version"):
        bd.load(tmp_path / "other.npz")
    data = path.read_bytes()
    (tmp_path / "other.npz").write_bytes(data[: len(data) // 2])
    with pytest.raises(ValueError, match="it is damaged"):
        bd.load(tmp_path / "other.npz")


def test_files_ask_for_no_more_memory_than_they_have(hop, tmp_path):
    """And run no code: arrays of objects are refused."""
    path = tmp_path / "other.npz"
    head = io.BytesIO()
    np.lib.format.write_array_header_1_0(head, {"shape": (10**12,), "fortran_order": False, "descr": "<f8"})
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("t_eval.npy", head.getvalue() + b"\0" * 80)
    with pytest.raises(ValueError, match="which its bytes do not have"):
        bd.load(path)
    np.savez(path, **{**hop[1], "p": np.array([print], dtype=object)})
    with pytest.raises(ValueError, match="'p' has objects"):
        bd.load(path)


def test_a_record_is_not_given_to_a_system_that_cannot_take_it(tmp_path):
    plate = bd.models.plate(100)
    params = dict(zip(plate.params, plate.defaults, strict=True))
    names = {"states": plate.states, "guards": plate.guards, "params": params}
    bd.solve(plate, (0.0, 1.0), START).save(tmp_path / "plate.npz")
    no_sum = bd.System(lambda t, x, b, p: x, lambda t, x, p: np.zeros(100), compile=False, **names)
    with pytest.raises(ValueError, match="takes steps across many contacts"):
        bd.load(tmp_path / "plate.npz", no_sum)
    make = {"states": ("z", "v"), "guards": ("floor",), "compile": False}

    def fall(t, x, b, p):
        return x[1], -9.81

    def floor(t, x, p):
        return (x[0],)

    def bounce(t, x, b, p):
        return -0.5 * x

    ball = bd.System(fall, floor, **make, jumps=bounce, rest="floor")
    sol = bd.solve(ball, (0.0, 3.0), [1.0, 0.0])
    assert (sol.b == 0).any()
    sol.save(tmp_path / "ball.npz")
    for jumps, says in ((None, "its guards with jumps are floor"), (bounce, "stays on a guard")):
        other = bd.System(fall, floor, **make, jumps=jumps)
        with pytest.raises(ValueError, match=says):
            bd.load(tmp_path / "ball.npz", other)


def test_a_derivative_that_is_not_finite_ends(tmp_path):
    """A corner of which nothing is known reached beyond the last step, and the propagation of tangents with it."""
    blocks = bd.models.three_blocks()
    path = tmp_path / "blocks.npz"
    bd.solve(blocks, (0.0, 5.0), bd.models.available()["three_blocks"].start, rtol=1e-5).save(path)
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files}
    arrays["p"][4] = 1e308
    arrays["rtol"] = np.array(0.9)
    sol = bd.load(forged(path, arrays), blocks)
    with np.errstate(all="ignore"), pytest.raises(bd.DerivativeError):
        sol.sensitivity("x", np.linspace(0.0, 5.0, 7)[1:])


def test_a_trajectory_that_did_not_start_has_no_derivative():
    nan = bd.System(lambda t, x, b, p: (np.nan,), n=1, compile=False)
    sol = bd.solve(nan, (0.0, 1.0), [1.0], on_failure="return")
    assert len(sol.record) == 0
    with pytest.raises(bd.DerivativeError, match="did not start"):
        sol.bderivative(0.5)


@pytest.mark.fresh
def test_damaged_files():
    """A short part of `python -m tests.attacks.damaged`."""
    found = list(workers.run(solutions.make(1), list(range(200)), 1))
    assert [one for one in found if one.outcome not in workers.GOOD] == []
    assert {one.outcome for one in found} == {"refused", "right", "another solution"}
