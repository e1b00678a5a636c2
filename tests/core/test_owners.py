"""Each scalar of the core is written by its owners only, so that whoever adds one knows which files to read."""

import ast
import pathlib
from collections import defaultdict

import bouligand

from .owners import FIELDS, RECORDS, STRANGERS

PACKAGE = pathlib.Path(bouligand.__file__).parent
RESETS = "core/restart.py"  # groups of fields that are reset together, whoever owns them
MOST_STRANGERS = 20  # fields; of 98 that are written it was 52 before fields had owners


def writes(tree):
    """(record, field, line) of each assignment to ``w.s.record.field``, ``s.record.field`` or ``memory.s.record.field``."""
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Attribute)
            and isinstance(node.ctx, ast.Store)
            and isinstance(node.value, ast.Attribute)
        ):
            record, of = node.value.attr, node.value.value
            if "s" in (getattr(of, "attr", None), getattr(of, "id", None)) and record in RECORDS:
                yield record, node.attr, node.lineno


def strangers(package=PACKAGE):
    """Field -> the files that write it and do not own it -> a line."""
    found: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for path in sorted(package.rglob("*.py")):
        file = path.relative_to(package).as_posix()
        for record, field, line in writes(ast.parse(path.read_text())):
            name = f"{record}.{field}"
            if file != RESETS and not file.startswith((FIELDS[name],) if name in FIELDS else RECORDS[record]):
                found[name].setdefault(file, line)
    return found


def test_fields_are_written_by_their_owners():
    unknown = [
        f"{file}:{line} writes s.{name}, which belongs to {FIELDS.get(name) or RECORDS[name.split('.')[0]]}"
        for name, files in strangers().items()
        for file, line in files.items()
        if file not in STRANGERS.get(name, ())
    ]
    assert not unknown


def test_the_list_of_strangers_only_becomes_shorter():
    found = strangers()
    gone = {name: set(files) - set(found[name]) for name, files in STRANGERS.items() if set(files) - set(found[name])}
    assert not gone, "these no longer write there: take them off STRANGERS"
    assert len(STRANGERS) < MOST_STRANGERS


def test_the_check_sees_a_stranger(tmp_path):
    (tmp_path / "new.py").write_text("def f(w):\n    w.s.here.fresh = 1\n")
    assert strangers(tmp_path) == {"here.fresh": {"new.py": 2}}
