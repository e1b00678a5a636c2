"""The memory of an integration is reused only when no object refers to it any more."""

import dataclasses
import gc
import pickle
import threading

import numpy as np

import bouligand as bd
from bouligand.memory import tables
from bouligand.solution import record as of_record


def solve(system, z=2.0, **options):
    return bd.solve(system, (0.0, 2.0), [z, 0.0], rtol=1e-8, **options)


def test_memory_is_used_again_and_never_under_a_living_solution():
    system = bd.models.hopper()
    wanted = {
        z: (s.t.copy(), s.x.copy(), s.events.t.copy()) for z in (1.5, 2.0, 2.5) for s in [solve(bd.models.hopper(), z)]
    }
    used: set[int] = set()
    kept: list[tuple] = []
    for z in (1.5, 2.0, 2.5, 2.0, 1.5, 2.5) * 5:
        sol = solve(system, z)
        used.add(id(sol._stepper._memory))
        kept.append((z, sol) if len(kept) % 2 == 0 else (z, sol.t, sol.x, sol.events))  # some live on as arrays only
        for key, *rest in kept:
            t, x, events = wanted[key]
            values = (rest[0].t, rest[0].x, rest[0].events.t) if len(rest) == 1 else (rest[0], rest[1], rest[2].t)
            for value, right in zip(values, (t, x, events), strict=True):
                np.testing.assert_array_equal(value, right)
        if len(kept) > 6:
            kept.clear()
            gc.collect()
    assert len(used) < 30


def test_a_loop_that_drops_its_solutions_uses_two():
    system = bd.models.hopper()
    used = set()
    for _ in range(20):
        sol = solve(system)
        used.add(id(sol._stepper._memory))
    assert len(used) == 2


def test_a_solution_whose_parts_were_read_is_freed_at_once():
    # without the garbage collector: what a solution hands out does not hold the solution
    system = bd.models.hopper()

    def address():
        sol = solve(system)
        assert len(sol.events.x) == len(sol.events.before) == 4
        assert sol([0.5, 1.0]).shape == (2, 2)
        sol.bderivative().vjp([1.0, 0.0])
        return sol._stepper._memory.address

    address()  # (what it compiles leaves garbage)
    gc.collect()
    gc.disable()
    try:
        used = {address() for _ in range(10)}
    finally:
        gc.enable()
    assert len(used) <= 2


def test_options_of_one_integration_do_not_leak_into_the_next():
    system = bd.models.hopper()
    plain = solve(system).x[-1]
    for options in (
        {"terminal": 0},
        {"eps": 1e-3},
        {"eps": 1e-3, "projection": 5},
        {"b0": [-1]},
        {"atol": [1e-3, 1e-3]},
        {"p": {"g": 1.6}},
        {"t_eval": [0.5, 1.0]},
        {"breakpoints": [0.3]},
        {"max_step": 0.005},  # more steps than there is room for at first
    ):
        solve(system, **options)
        np.testing.assert_array_equal(solve(system).x[-1], plain)


def test_after_a_long_integration_there_is_more_room_at_first():
    system = bd.models.hopper()
    short, long = solve(system), solve(system, max_step=0.01)  # (both live on)
    x, t = short.x.copy(), long.t.copy()
    assert 64 < len(long.t) < 256
    grown = []
    for _ in range(6):
        sol = solve(system, max_step=0.01)
        grown.append(sol._stepper._memory.has_grown)
        np.testing.assert_array_equal(sol.t, t)
        np.testing.assert_array_equal(solve(system).x, x)
    assert grown[0]
    assert not any(grown[-2:])
    np.testing.assert_array_equal(short.x, x)
    np.testing.assert_array_equal(long.t, t)
    # a stepper travels to a process that knows nothing of this
    stepper = bd.Stepper(system, (0.0, 2.0), [2.0, 0.0], rtol=1e-8)
    assert stepper._memory.room > 64
    stepper.step()
    travelled = pickle.loads(pickle.dumps(stepper))
    assert travelled._memory.room == 64
    np.testing.assert_array_equal(travelled.finish().x, x)


def test_parameters_are_those_of_the_moment():
    system = bd.models.hopper()
    earth = solve(system)
    system.defaults[0] = 1.6
    moon = solve(system)
    np.testing.assert_allclose(moon.events.t[0], np.sqrt(2.0 / 1.6), rtol=1e-8)
    np.testing.assert_allclose(earth.events.t[0], np.sqrt(2.0 / 9.81), rtol=1e-8)


def test_threads_and_pickles():
    system = bd.models.hopper()
    right = solve(system).x[-1]
    wrong = []

    def work():
        for _ in range(300):
            if not np.array_equal(solve(system).x[-1], right):
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    np.testing.assert_array_equal(solve(pickle.loads(pickle.dumps(system))).x[-1], right)


def test_starts_of_all_kinds():
    system = bd.models.hopper()
    right = solve(system).x[-1]
    for x0 in (
        [2, 0],
        (2.0, 0),
        np.array([2.0, 0.0]),
        np.array([2, 0]),
        [np.float64(2), np.int64(0)],
        range(2, -1, -2),
    ):
        np.testing.assert_array_equal(bd.solve(system, (0, 2), x0, rtol=1e-8).x[-1], right)


def test_solutions_that_are_kept_share_three_workspaces():
    """The older ones have copied what they need, and all that is read of them is what a solve on its own gives."""
    system = bd.models.hopper()
    kept, used = [], set()
    for i in range(20):
        p = {"g": 9.0 + 0.1 * i}  # (written into the workspace)
        options: dict = {} if i % 3 else {"t_eval": [0.5, 1.0], "terminal": {"foot": 3}, "breakpoints": [0.25]}
        sol = solve(system, p=p, **options)
        used.add(id(sol._stepper._memory) if sol._stepper is not None else None)
        if i % 4 == 0:
            sol.events, sol.record, sol.counts  # noqa: B018  (read before it moves out)
        if i % 5 == 0:
            pickle.dumps(sol)
        kept.append((sol, p, options))
    assert len(used) <= 4
    for sol, p, options in kept:
        alone = solve(bd.models.hopper(), p=p, **options)
        assert (sol.status, sol.message, sol.counts, sol.ended_by) == (
            alone.status, alone.message, alone.counts, alone.ended_by,
        )  # fmt: skip
        for name in ("t", "x", "b", "p", "margins"):
            np.testing.assert_array_equal(getattr(sol, name), getattr(alone, name))
        np.testing.assert_array_equal(sol.events.array, alone.events.array)
        np.testing.assert_array_equal(sol(0.8), alone(0.8))
        np.testing.assert_array_equal(sol.bderivative().matrix(), alone.bderivative().matrix())


def test_what_somebody_reads_from_a_workspace_is_never_overwritten():
    """Eight threads keep solutions and read them while the others make them move out."""
    system = bd.models.hopper()
    right = {z: solve(system, z).x.copy() for z in (1.5, 2.0, 2.5)}
    wrong = []

    def work(seed):
        rng, kept = np.random.default_rng(seed), []
        for _ in range(150):
            z = float(rng.choice(list(right)))
            kept.append((z, solve(system, z)))
            z, sol = kept[rng.integers(len(kept))]
            record = sol.record
            if not (np.array_equal(sol.x, right[z]) and np.array_equal(record.states, right[z])):
                wrong.append(z)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_tables_that_are_selected_and_copied_some_rows_at_a_time(monkeypatch):
    table = np.arange(1000, dtype=float).reshape(-1, 2)[:, 0].copy()
    which = table % 3.0 != 0.0
    whole, small = tables.selected(table, which), table[:7]
    monkeypatch.setattr(tables, "AT_ONCE", 100)
    assert (tables.selected(table, which) == table[which]).all()
    assert (whole == table[which]).all()
    assert tables.selected(table, table < -1.0).size == 0
    bigger = tables.enlarged(table, 450)
    assert bigger.shape == (4 * len(table),)
    assert (bigger[:450] == table[:450]).all()
    assert (tables.enlarged(small, 7)[:7] == small).all()
    assert len(tables.enlarged(small[:0], 0)) == tables.LEAST


def test_the_mode_at_the_start_of_many_events(monkeypatch):
    sol = solve(bd.models.hopper(), 2.5)
    record = dataclasses.replace(sol.record)
    monkeypatch.setattr(of_record, "SORTED", 3)
    assert len(record.flips) > 3
    assert (record.word_start == sol.word(0.0, side="left")).all()
