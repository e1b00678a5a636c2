# Two commands do everything: `make demo` and `make test`. Both set up an environment of their own in .venv.
# `make bench` compares with the peers; `make numbers` renews every number and figure in the docs.

PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
READY := $(VENV)/.ready
# The compiled code of this checkout, so that nothing is shared with another.
export NUMBA_CACHE_DIR := $(CURDIR)/.cache/numba
# Pictures by MuJoCo without a screen (elsewhere than on Linux its own default does).
ifeq ($(shell uname -s),Linux)
export MUJOCO_GL ?= egl
endif

# Tests that run as plain Python too.
COVERED := tests/core/test_schemes.py tests/core/test_without_jit.py

.PHONY: demo test lint fuzz soak coverage matrix bench numbers peers clean

$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or later is needed: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv $(VENV)
	$(PY) -m pip install --quiet --upgrade pip
	$(PY) -m pip install --quiet --editable '.[dev]'
	@touch $@

demo: $(READY)
	$(PY) examples/demo.py results/demo

test: $(READY) lint
	$(PY) -m pytest -n 2
	NUMBA_DISABLE_JIT=1 $(PY) -m pytest -n 2 -m "not fresh" $(COVERED)

lint: $(READY)
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy
	$(VENV)/bin/lint-imports

# Attacks (docs/attacks.md): a minute each; `make fuzz ATTACK='--minutes 60'`, `make soak ATTACK='--kills 100'`.
fuzz: $(READY)
	$(PY) -m tests.attacks.fuzz $(ATTACK)

soak: $(READY)
	$(PY) -m tests.attacks.soak $(ATTACK)

# Which lines the tests reach: with the JIT off, since compiled code is not seen. Some minutes.
coverage: $(READY)
	NUMBA_DISABLE_JIT=1 $(PY) -m coverage run --source=bouligand -m pytest -m "not fresh" $(COVERED)
	$(PY) -m coverage report --skip-covered --sort=cover

# The tests with the oldest and the newest Python, Numba and NumPy that are declared (see noxfile.py), some minutes each.
matrix: $(READY)
	$(VENV)/bin/nox

# The comparison with the peers; those that cannot be installed here are skipped by name.
bench: $(READY) peers
	$(PY) -m benchmarks

# The paper's experiments in their full sizes, the peers, and all of it into the docs: one command, about an hour.
numbers: $(READY) peers
	$(VENV)/bin/bouligand reproduce all
	$(PY) -m benchmarks
	$(PY) -m benchmarks page

peers: $(READY)
	-$(PY) -m pip install --quiet --editable '.[bench]'

clean:
	rm -rf $(VENV) .nox .cache results build dist
