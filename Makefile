# Two commands do everything: `make demo` and `make test`. Each sets up what it needs in an environment in .venv: the demo little,
# the tests all. `make docs` builds the site; `make bench` compares with the peers; `make numbers` renews every number in the docs.

PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
READY := $(VENV)/.ready
READY_DEMO := $(VENV)/.ready-demo
READY_DOCS := $(VENV)/.ready-docs
# The compiled code of this checkout, so that nothing is shared with another.
export NUMBA_CACHE_DIR := $(CURDIR)/.cache/numba
# Byte code is kept: where the environment forbids it, each of the many processes that tests start would compile Numba's modules anew.
unexport PYTHONDONTWRITEBYTECODE
# Pictures by MuJoCo without a screen (elsewhere than on Linux its own default does).
ifeq ($(shell uname -s),Linux)
export MUJOCO_GL ?= egl
endif

# Tests that run as plain Python too.
COVERED := tests/core/test_schemes.py tests/core/test_without_jit.py

# Tests of what is kept on disk, and of what is known by its content: they must also pass with the caches that the last run left.
KEPT := tests/core/test_compiled_cache.py tests/core/test_shipped_code.py tests/system/test_fingerprint.py \
	tests/system/test_kept_code.py tests/system/test_shared_code.py tests/system/test_wrong_functions.py \
	tests/ensembles/test_store.py tests/bridges/test_sympy_kept.py

.PHONY: demo test test-kept docs wheel warm lint fuzz soak coverage matrix bench numbers peers clean

$(PY):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or later is needed: make PYTHON=python3.12 ...")'
	@echo "== an environment in $(VENV)"
	$(PYTHON) -m venv $(VENV)

# (modules become byte code when they are first imported: most of these never are)
PIP := $(PY) -m pip install --disable-pip-version-check --no-compile

$(READY): pyproject.toml | $(PY)
	@echo "== installing what the tests need (1.8 GB: some minutes)"
	$(PIP) --upgrade pip
	$(PIP) --editable '.[dev]'
	@touch $@ $(READY_DEMO)

$(READY_DEMO): pyproject.toml | $(PY)
	@echo "== installing what the demo needs: NumPy, SciPy, Numba, Matplotlib (about a minute)"
	$(PIP) --editable '.[demo]'
	@touch $@

$(READY_DOCS): pyproject.toml | $(PY)
	@echo "== installing what the site needs: Sphinx and its extensions"
	$(PIP) --editable '.[docs]'
	@touch $@

demo: $(READY_DEMO)
	@echo "== compiling what the demo needs, once on this machine"
	@$(VENV)/bin/bouligand warm solve
	@echo "== the demo"
	@$(PY) examples/demo.py results/demo

# (the machine code of the core first: otherwise each of the workers would compile it, without a word; mypy works beside that)
test: $(READY)
	@$(MAKE) --no-print-directory -j2 lint warm
	$(PY) -m pytest -n 2
	NUMBA_DISABLE_JIT=1 $(PY) -m pytest -m "not fresh" $(COVERED)

test-kept: $(READY)
	$(PY) -m pytest -n 2 $(KEPT)

# The site, in build/site/html; any warning is an error.
docs: $(READY_DOCS)
	$(PY) -m sphinx -W --keep-going -n -q -b html -d build/site/doctrees docs build/site/html
	@echo "built: build/site/html/index.html"

# A wheel with the machine code of the core, in dist: its users wait for no compiler. Some minutes.
wheel: $(READY)
	$(PY) tools/wheel.py

warm: $(READY)
	$(VENV)/bin/bouligand warm

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
