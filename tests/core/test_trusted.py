"""What is kept on disk is run: nobody else than this user (and root) may have written it."""

import os
import pathlib
import pickle
import stat
import subprocess
import sys
import types

import numba
import pytest

import bouligand as bd
from bouligand.core.compiler import checked, notices, places, shipped, trusted
from bouligand.core.compiler.settings import JIT

pytestmark = pytest.mark.skipif(os.name != "posix", reason="modes say nothing here")

SOURCE = pathlib.Path(bd.__file__).parents[1]


@pytest.fixture
def lines(monkeypatch, capsys):
    """The lines that were said so far."""
    monkeypatch.setattr(notices, "_said", set())
    return lambda: capsys.readouterr().err.splitlines()


@pytest.fixture
def kept(monkeypatch, tmp_path):
    """Makes what is kept in a folder of NUMBA_CACHE_DIR, as a new process would."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "cache"))
    return lambda: places.Kept("functions", "*.nbu*")


@pytest.fixture
def give_away(monkeypatch):
    """Makes a file or folder another user's."""

    def give(path):
        if os.geteuid() == 0:
            os.chown(path, 4242, 4242, follow_symlinks=False)
        else:  # (then this process is the other user's)
            monkeypatch.setattr(trusted.os, "geteuid", lambda: 4242)

    return give


def status(mode, owner):
    return types.SimpleNamespace(st_mode=stat.S_IFREG | mode, st_uid=owner)


def test_who_is_trusted():
    me = os.geteuid()
    assert trusted.flaw(status(0o600, me)) == ""
    assert trusted.flaw(status(0o444, 0)) == ""  # (of root, which could do anything anyway)
    assert trusted.flaw(status(0o755, 0)) == ""
    assert "another user (uid 4242)" in trusted.flaw(status(0o600, 4242))
    for mode in (0o664, 0o602, 0o777):
        assert f"mode {mode:o}" in trusted.flaw(status(mode, me))


def test_whatever_the_umask_only_this_user_can_read(kept, tmp_path):
    before = os.umask(0)
    try:
        folder = kept()
        path = folder.write("one.nbu", b"1")
    finally:
        os.umask(before)
    assert folder.read("one.nbu") == b"1"
    for made, mode in ((path, 0o600), (path.parent, 0o700), (tmp_path / "cache", 0o700)):
        assert stat.S_IMODE(made.stat().st_mode) == mode


def test_a_shared_folder_with_a_sticky_bit_may_contain_it(kept, tmp_path, lines):
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache").chmod(0o1777)
    assert kept().write("one.nbu", b"1")
    assert kept().read("one.nbu") == b"1"
    assert lines() == []


@pytest.mark.parametrize("mode", [0o777, 0o775])
def test_a_folder_that_others_can_write_to_is_refused(kept, lines, mode):
    path = kept().write("one.nbu", b"1")
    path.parent.chmod(mode)
    for _ in range(2):
        folder = kept()
        assert folder.read("one.nbu") is None
        assert folder.write("two.nbu", b"2") is None
        assert not folder.keeps
        assert "others than its owner" in folder.why
    (line,) = lines()
    assert "NUMBA_CACHE_DIR" in line
    assert sorted(path.parent.iterdir()) == [path]


def test_a_folder_of_somebody_else_is_refused(kept, lines, give_away):
    path = kept().write("one.nbu", b"1")
    give_away(path.parent)
    assert kept().read("one.nbu") is None
    (line,) = lines()
    assert "belongs to another user" in line


def test_a_link_of_somebody_else_is_refused(kept, lines, give_away, tmp_path):
    """It could lead to any folder of this user's."""
    path = kept().write("one.nbu", b"1")
    folder = path.parent.rename(tmp_path / "elsewhere")
    path.parent.symlink_to(folder)
    assert kept().read("one.nbu") == b"1"
    give_away(path.parent)
    if os.geteuid() == 0:
        assert kept().read("one.nbu") is None
        assert len(lines()) == 1


def test_a_file_of_somebody_else_is_refused_and_made_anew(kept, lines, give_away):
    folder = kept()
    path = folder.write("one.nbu", b"planted")
    path.chmod(0o666)
    assert folder.read("one.nbu") is None
    assert not path.exists()
    give_away(folder.write("two.nbu", b"planted"))
    assert folder.read("two.nbu") is None
    (line,) = lines()  # (once in a process)
    assert "mode 666" in line


def test_what_can_only_be_read_is_read(kept, monkeypatch):
    """Such as a folder that root has filled."""
    kept().write("one.nbu", b"1")
    monkeypatch.setattr(places.os, "access", lambda path, mode: False)
    folder = kept()
    assert folder.read("one.nbu") == b"1"
    assert folder.write("two.nbu", b"2") is None
    assert "cannot be written to" in folder.why


def test_without_a_home_nothing_is_in_a_shared_folder(monkeypatch):
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(places.os.path, "expanduser", lambda path: path)
    assert list(places._candidates("sympy")) == [SOURCE / "bouligand" / "__pycache__" / "bouligand" / "sympy"]


def test_machine_code_of_the_package_is_trusted_as_its_source(monkeypatch, tmp_path, lines):
    source = tmp_path / "trusted.py"
    source.write_text("")
    monkeypatch.setattr(trusted, "__file__", str(source))
    folder = shipped.Package(tmp_path)
    code = tmp_path / "one.nbu"
    code.write_bytes(b"1")
    for mode_of_source, mode, content in (
        (0o644, 0o644, b"1"),
        (0o664, 0o664, b"1"),  # (installed by somebody whose umask lets a group write)
        (0o644, 0o664, None),
        (0o664, 0o666, None),
    ):
        source.chmod(mode_of_source)
        code.chmod(mode)
        assert folder.read("one.nbu") == content
    assert lines() != []
    assert code.exists()  # (nothing is removed from the package)


PLANTED = "PLANTED CODE RUNS"


class Planted:
    def __reduce__(self):
        return print, (PLANTED,)


@pytest.mark.fresh
@pytest.mark.skipif(not JIT, reason="nothing is kept without the JIT")
@pytest.mark.parametrize("where", ["folder", "files"])
def test_planted_machine_code_does_not_run(tmp_path, where):
    """In the folder of NUMBA_CACHE_DIR: everything there is replaced by pickles that print, and others can write to it."""
    script = tmp_path / "script.py"
    script.write_text(
        "import bouligand as bd\n"
        "from bouligand.core.compiler import kept\n"
        "def f(t, x, b, p): return (-x[0],)\n"
        "from bouligand.system.addresses import Keyed\n"
        "Keyed(f).kept.load_overload((), kept.cpu_target.target_context)\n"
        "system = bd.System(f, n=1)\n"
        "system._bind()\n"
    )
    env = {**os.environ, "PYTHONPATH": str(SOURCE), "NUMBA_CACHE_DIR": str(tmp_path / "cache")}

    def said():
        done = subprocess.run([sys.executable, script], capture_output=True, text=True, env=env)
        assert done.returncode == 0, done.stderr
        return done.stdout + done.stderr

    assert said() == ""
    files = list((tmp_path / "cache" / "functions").glob("*.nbu"))
    assert files
    for file in files:
        file.write_bytes(checked.sealed(pickle.dumps(Planted())))
    assert PLANTED in said()  # (what is there is run: this user could have written it)
    for file in files:
        file.write_bytes(checked.sealed(pickle.dumps(Planted())))
        file.chmod(0o666 if where == "files" else 0o600)
    if where == "folder":
        files[0].parent.chmod(0o777)
    text = said()
    assert PLANTED not in text
    assert "others than its owner can write to it" in text
