"""What is said while something compiles: what, why, and only if it takes long."""

import json
import os
import pathlib
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import bouligand as bd
from bouligand.core.compiler import kept, notices, shipped, why
from bouligand.core.compiler.settings import JIT
from bouligand.core.compiler.surroundings import surroundings
from tests.helpers.kept import kept_at

SOURCE = pathlib.Path(bd.__file__).parents[1]


@pytest.fixture
def quick(monkeypatch):
    """What takes a twentieth of a second takes long."""
    monkeypatch.setattr(notices, "SECONDS", 0.05)
    monkeypatch.setattr(notices, "_said", set())


def compile_for(seconds, what="a part", begun=True):
    with notices.said_if_slow(what, lambda: ", because", begun=begun):
        time.sleep(seconds)


def test_what_takes_long_is_said_once(quick, capsys):
    compile_for(0.3)
    compile_for(0.3)
    assert capsys.readouterr().err == "bouligand: compiling a part, because ...\n"


def test_what_is_quick_is_not_said(quick, capsys):
    compile_for(0.0)
    time.sleep(0.2)
    assert capsys.readouterr().err == ""


def test_nor_what_is_read_from_the_disk_however_long_that_takes(quick, capsys):
    compile_for(0.2, begun=False)
    assert capsys.readouterr().err == ""
    with notices.said_if_slow("a part", lambda: ""):
        time.sleep(0.2)
        notices.compilation_begins()
    assert capsys.readouterr().err == ""


def test_nor_what_a_progress_bar_says(quick, capsys):
    with notices.silence():
        compile_for(0.2)
    assert capsys.readouterr().err == ""


def test_no_thread_is_left_and_none_is_started_for_what_is_there(quick, monkeypatch):
    started = []

    class Thread(threading.Thread):
        def start(self):
            started.append(self)
            super().start()

    monkeypatch.setattr(notices.threading, "Thread", Thread)
    compile_for(0.0, begun=False)
    assert started == []
    with pytest.raises(KeyboardInterrupt), notices.said_if_slow("a part", lambda: "", begun=True):
        raise KeyboardInterrupt
    (one,) = started
    one.join(5.0)
    assert not one.is_alive()


def test_where_nothing_can_be_kept_the_line_says_so(monkeypatch):
    monkeypatch.setattr(why, "CORE", kept_at(None))
    monkeypatch.setattr(why, "FUNCTIONS", kept_at(None))
    for text in (why.of_the_core(), why.of_a_function([])):
        assert "in this process and in every other" in text
        assert "(nowhere)" in text
        assert "NUMBA_CACHE_DIR" in text
        assert "once" not in text


def test_another_version_is_named(monkeypatch, tmp_path):
    monkeypatch.setattr(shipped, "FOLDER", tmp_path / "machine_code")
    monkeypatch.setattr(why, "CORE", kept_at(tmp_path))
    monkeypatch.setattr(why, "_hints", [])
    shipped.why_not.cache_clear()
    assert why.of_the_core() == " for this machine, once; this takes some seconds"
    (tmp_path / "for-0123").mkdir()
    (tmp_path / "for-0123" / kept.MADE_FOR).write_text(json.dumps({**surroundings(), "Numba": "0.61.0"}))
    assert "(what is kept there is for another Numba)" in why.of_the_core()
    (tmp_path / "machine_code").mkdir()
    made_for = {"compiler": {**shipped.compiler(), "Python": "3.9"}, "triple": "", "features": []}
    (tmp_path / "machine_code" / shipped.MADE_FOR).write_text(json.dumps(made_for))
    shipped.why_not.cache_clear()
    assert "(the machine code that came with it is for another Python)" in why.of_the_core()
    shipped.why_not.cache_clear()


@pytest.mark.skipif(not JIT, reason="nothing is compiled without the JIT")
def test_functions_say_why_they_are_compiled(quick, capsys, monkeypatch, tmp_path):
    monkeypatch.setattr(notices, "SECONDS", 0.0)
    monkeypatch.setattr(kept, "FUNCTIONS", kept_at(tmp_path))

    def waiting(t, x, b, p):
        return (-1.25 * x[0],)

    bd.System(waiting, n=1)._bind()
    said = capsys.readouterr().err
    assert "compiling f (" in said
    assert "waiting), once, until it or something that it reads is changed" in said


@pytest.mark.skipif(not JIT, reason="nothing is compiled without the JIT")
def test_what_is_not_kept_is_not_said_to_be(quick, capsys, monkeypatch):
    """Machine code has the address of a large array in it, which is another in the next process."""
    monkeypatch.setattr(notices, "SECONDS", 0.0)
    table = np.ones(200_000)

    def looks_up(t, x, b, p):
        return (-table[3] * x[0],)

    bd.System(looks_up, n=1)._bind()
    said = capsys.readouterr().err
    assert "looks_up) has to be compiled in every process: its machine code contains addresses" in said


@pytest.mark.fresh
@pytest.mark.skipif(not JIT, reason="nothing is compiled without the JIT")
def test_without_docstrings_the_same_machine_code_is_read():
    """python -OO: two minutes, when the code that asserts and docstrings are stripped from counted as another."""
    env = {**os.environ, "PYTHONPATH": str(SOURCE)}
    code = "import bouligand as bd; print(bd.solve(bd.models.hopper(), (0.0, 2.0), [2.0, 0.0]).x[-1].tobytes().hex())"
    ends = []
    for options in ((), ("-OO",)):
        done = subprocess.run([sys.executable, *options, "-c", code], capture_output=True, text=True, env=env)
        assert done.returncode == 0, done.stderr
        ends.append(done.stdout)
    assert ends[0] == ends[1]
    assert "integrator" not in done.stderr


@pytest.mark.fresh
@pytest.mark.skipif(not JIT, reason="nothing is compiled without the JIT")
def test_a_renamed_file_is_no_damaged_machine_code(tmp_path):
    """Machine code of a function of a module that has another name since, while another one has its name."""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(SOURCE), str(tmp_path)]), "NUMBA_CACHE_DIR": str(tmp_path)}
    text = (
        "class Wrong(Exception): pass\n"
        "def f(t, x, b, p):\n"
        "    if x[0] < 0.0:\n        raise Wrong('negative')\n"
        "    return (-x[0],)\n"
    )

    def said(module):
        code = f"import bouligand as bd, {module}; bd.System({module}.f, n=1)._bind()"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env)
        assert done.returncode == 0, done.stderr
        return done.stdout + done.stderr

    (tmp_path / "first.py").write_text(text)
    assert said("first") == ""
    assert list((tmp_path / "functions").glob("*.nbu"))
    (tmp_path / "second.py").write_text(text)
    (tmp_path / "first.py").unlink()
    assert said("second") == ""
    (tmp_path / "first.py").write_text("print('first runs')")
    assert said("second") == ""


@pytest.mark.fresh
@pytest.mark.skipif(not JIT, reason="nothing is compiled without the JIT")
def test_nor_is_a_function_of_a_module_that_cannot_be_imported(tmp_path):
    env = {**os.environ, "PYTHONPATH": str(SOURCE), "NUMBA_CACHE_DIR": str(tmp_path)}
    code = (
        "import types, bouligand as bd\n"
        "made = types.ModuleType('in_no_file')\n"
        "exec('def f(t, x, b, p):\\n    if x[0] < 0.0: raise ValueError(7)\\n    return (-x[0],)', vars(made))\n"
        "bd.System(made.f, n=1)._bind()\n"
        "print(made.f.__module__)"
    )
    files = []
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env)
        assert (done.returncode, done.stdout, done.stderr) == (0, "in_no_file\n", "")
        files.append({file: file.stat().st_mtime_ns for file in (tmp_path / "functions").iterdir()})
    assert files[0]
    assert files[0] == files[1]
