"""A short part of the soak: what compiles nothing from scratch (threads at first use are in `tests/core/test_compiling.py`)."""

import os
import pathlib
import random
import shutil

import pytest

from bouligand.core.compiler.kept import CORE
from bouligand.core.compiler.settings import JIT
from bouligand.core.compiler.sources import STAMP
from tests.attacks import soak

pytestmark = pytest.mark.skipif(not (JIT and CORE.keeps), reason="there is nothing to compile, or no place to keep it")


class NoBar:
    def update(self, count=1):
        pass


def test_solves_and_systems_take_no_more_memory():
    faults = soak.Faults()
    soak.solves(faults, 1.0, NoBar())
    soak.systems(faults, 100, NoBar())
    assert faults.found == []


@pytest.mark.fresh
@pytest.mark.skipif("NUMBA_CACHE_DIR" not in os.environ, reason="the cache of this checkout is not in one folder")
def test_damaged_files_are_not_used(tmp_path):
    whole, faults = tmp_path / "whole", soak.Faults()
    shutil.copytree(os.environ["NUMBA_CACHE_DIR"], whole)
    assert any(STAMP in file.name for file in pathlib.Path(whole).rglob("*.nbu"))
    soak.damage_and_load(faults, tmp_path, whole, 8, random.Random(1), NoBar())
    assert faults.found == []
