# make demo   a virtual environment, the package, the built-in example, and where its report is
# make test   everything that checks the code, as CI runs it
# make docs   the docs site, in site/
# make fuzz, audit, sbom, dist, benchmarks   what a release is looked at with
# Second runs are quick: the environment is rebuilt only when pyproject.toml or constraints.txt change.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
# Tests in parallel: two workers, one thread each, so that they do not fight for the cores.
WORKERS ?= 2
export OMP_NUM_THREADS ?= 1
export NUMBA_NUM_THREADS ?= 2

# Tools that look at the package from outside, in an environment of their own.
TOOLS  := $(VENV)/tools

.PHONY: demo test test-fast lint types format bench benchmarks fuzz audit sbom dist docs packages clean

demo: $(VENV)/demo.stamp
	$(BIN)/nlgauge run -o demo/example.report.html

test: $(VENV)/test.stamp packages lint types
	$(BIN)/pytest -n $(WORKERS) --dist loadfile --durations=25 --durations-min=5

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

# Everything side by side, and the page about it; takes long and wants a quiet machine.
benchmarks: $(VENV)/test.stamp
	$(BIN)/python -m pip install --quiet --disable-pip-version-check torchmetrics
	$(BIN)/python -m bench --write docs/benchmarks.md

# A long run; make fuzz RUNS=20000 for a short one. What breaks is kept in out/fuzz.
RUNS ?= 1000000
fuzz: $(VENV)/test.stamp
	$(BIN)/python -m fuzz --runs $(RUNS)

# Known weaknesses of the pinned packages. Without the network, or behind a mirror without PyPI's JSON pages, it says so.
audit: $(VENV)/tools.stamp
	@$(TOOLS)/bin/pip-audit -r constraints.txt --no-deps --disable-pip --strict \
	  || { echo "audit: see above; a package that was 'not found on PyPI' was not looked up, because PyPI itself was not reached." >&2; exit 1; }

# What is installed, as CycloneDX.
sbom: $(VENV)/test.stamp $(VENV)/tools.stamp
	@mkdir -p dist
	$(TOOLS)/bin/cyclonedx-py environment --pyproject pyproject.toml --output-reproducible --of JSON -o dist/nlgauge.cdx.json $(BIN)/python

# Wheel and source archive, and whether the wheel installs and runs by itself.
dist: $(VENV)/tools.stamp
	rm -rf dist/nlgauge-*
	$(TOOLS)/bin/pyproject-build --outdir dist .
	rm -rf $(VENV)/clean && $(PYTHON) -m venv $(VENV)/clean
	$(VENV)/clean/bin/pip install --quiet --disable-pip-version-check dist/nlgauge-*.whl
	cd / && $(CURDIR)/$(VENV)/clean/bin/nlgauge doctor

$(VENV)/tools.stamp: $(VENV)/bin/python
	$(BIN)/python -m venv $(TOOLS)
	$(TOOLS)/bin/pip install --quiet --disable-pip-version-check pip-audit cyclonedx-bom build
	@touch $@

# The docs site, in site/; a link that leads nowhere is an error.
docs: $(VENV)/docs.stamp
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	@echo "open site/index.html"

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

$(VENV)/docs.stamp: $(VENV)/demo.stamp
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[docs]"
	@touch $@

clean:
	rm -rf $(VENV) demo site .pytest_cache .mypy_cache .ruff_cache .hypothesis
