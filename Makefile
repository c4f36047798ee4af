# make demo   a virtual environment, the package, the built-in example, and where its report is
# make test   everything that checks the code, as CI runs it
# Second runs are quick: the environment is rebuilt only when pyproject.toml or constraints.txt change.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
# Tests in parallel: two workers, one thread each, so that they do not fight for the cores.
WORKERS ?= 2
export OMP_NUM_THREADS ?= 1
export NUMBA_NUM_THREADS ?= 2

.PHONY: demo test test-fast lint types format bench packages clean

demo: $(VENV)/demo.stamp
	$(BIN)/nlgauge run -o demo/example.report.html

test: $(VENV)/test.stamp packages lint types
	$(BIN)/pytest -n $(WORKERS) --dist loadfile

# Without what takes long.
test-fast: $(VENV)/test.stamp
	$(BIN)/pytest -n $(WORKERS) --dist loadfile -m "not slow"

lint: $(VENV)/test.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/test.stamp
	$(BIN)/mypy

format: $(VENV)/test.stamp
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/test.stamp
	$(BIN)/python -m bench

# Debian packages that a few tests use (a browser); elsewhere, or without root, those tests say that they are skipped.
packages:
	@sh tests/packages.sh

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit("nlgauge needs Python 3.11 or newer, found " + sys.version.split()[0] + "; try make PYTHON=python3.12") if sys.version_info < (3, 11) else 0'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip

$(VENV)/demo.stamp: $(VENV)/bin/python pyproject.toml constraints.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e .
	@touch $@

# torch first and exactly as pinned: any other form may pull gigabytes of GPU libraries.
$(VENV)/test.stamp: $(VENV)/bin/python pyproject.toml constraints.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check "$$(grep '^torch==' constraints.txt)"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[dev]"
	@touch $@ $(VENV)/demo.stamp

clean:
	rm -rf $(VENV) demo .pytest_cache .mypy_cache .ruff_cache .hypothesis
