# make book    results.md and the website, from the published runs on
# make test    every test, the browser's included
# The rest:    results, serve, lint, bench, coverage, clean, lock, audit

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUN := $(BIN)/python
INSTALLED := $(VENV)/.installed
PORT ?= 8000

# One set of bytes on every machine.
export PYTHONHASHSEED := 0
export SOURCE_DATE_EPOCH := 0
export TZ := UTC
export LC_ALL := C.UTF-8
export OMP_NUM_THREADS := 1
export MPLBACKEND := agg
# Compiled once, not by each of the hundreds of processes that tests and notebooks start.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: book results site test unit check browser alone pages serve lint bench coverage lock audit clean
.DELETE_ON_ERROR:

book: results site

results: $(INSTALLED)
	$(RUN) -m steptime.book.results
	$(RUN) -m steptime.book.readme

site: $(INSTALLED)
	$(RUN) -m steptime.book.site

# In this order: what fails fast comes first, and the browser sees the site just built.
test: $(INSTALLED)
	$(MAKE) unit
	$(MAKE) check
	$(MAKE) -j 2 site alone
	$(MAKE) pages

unit: $(INSTALLED)
	$(RUN) -m pytest -n 2 --dist worksteal -q -m "not browser" --ignore tests/browser

# Runs the notebooks that have changed since they ran, by all that they can read; those of a fresh
# clone all run. --force runs all of them anew.
check: $(INSTALLED)
	$(RUN) -m steptime.book.results --check
	$(RUN) -m steptime.book.readme --check

# Three at once on two cores: each waits a good part of its time, for frames and for time to pass.
BROWSER := $(RUN) -m pytest -q -m browser
browser: $(INSTALLED)
	bash .ci/chromium
	$(BROWSER) -n 3 --dist worksteal tests/browser

# The same in two parts. The explorer needs no built site: its tests run while that is built, which
# takes one core. The rest sees the site.
alone: $(INSTALLED)
	bash .ci/chromium
	$(BROWSER) tests/browser/explorer

pages: $(INSTALLED)
	$(BROWSER) -n 3 --dist worksteal tests/browser --ignore tests/browser/explorer

serve: book
	$(RUN) -m http.server $(PORT) --bind 127.0.0.1 --directory build/site

lint: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/codespell

# Lines of the package that no test runs, commands and notebooks in processes of their own included.
coverage: $(INSTALLED)
	rm -rf build/coverage
	$(BIN)/coverage run -m pytest -n 2 --dist worksteal -q -m "not browser"
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report
	$(BIN)/coverage json --quiet -o build/coverage/report.json
	$(RUN) bench/covered.py

bench: $(INSTALLED) site
	$(RUN) bench/run.py
	$(RUN) -m pytest -q -m timed

# Hashed locks for 3.11 to 3.13 that name no package host: of all, of uv, which installs the
# rest, and of what looks for known faults in them. And the licences that the packages state.
LOCK := $(BIN)/uv pip compile --universal --generate-hashes --no-header --no-annotate \
  --python-version 3.11 --quiet
lock: $(INSTALLED)
	$(BIN)/uv pip compile --universal --generate-hashes --no-header --python-version 3.11 \
	  --fork-strategy fewest --all-extras --quiet pyproject.toml --output-file requirements.lock
	echo uv | $(LOCK) --constraint requirements.lock - --output-file requirements-uv.lock
	echo pip-audit | $(LOCK) - --output-file requirements-audit.lock
	$(RUN) -m steptime.book.licences

# Environments of other Pythons with the same packages, for bench/reproduce.py:
# make build/pythons PYTHONS="python3.11 python3.13"
PYTHONS ?= $(PYTHON)
build/pythons: $(INSTALLED)
	rm -rf $@
	for python in $(PYTHONS); do \
	  name=$@/$$($$python -c 'import platform; print(platform.python_version())') && \
	  $$python -m venv $$name && VIRTUAL_ENV=$$name $(BIN)/uv pip install --quiet \
	    --require-hashes -r requirements.lock || exit 1; \
	done

# Known faults of the packages in the lock, from a database that this asks over the network. Strict:
# a package that the database does not know fails, or an audit without it would pass.
audit: $(INSTALLED)
	$(PYTHON) -m venv build/audit
	VIRTUAL_ENV=build/audit $(BIN)/uv pip install --quiet --require-hashes -r requirements-audit.lock
	build/audit/bin/pip-audit --strict --disable-pip --require-hashes -r requirements.lock

clean:
	rm -rf build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis

$(INSTALLED): requirements.lock requirements-uv.lock pyproject.toml
	@$(PYTHON) -c 'import sys; v = sys.version_info[:2]; sys.exit(not (3, 11) <= v < (3, 14))' \
	  || { echo "steptime needs Python 3.11, 3.12 or 3.13: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	@$(PYTHON) -m venv $(VENV) \
	  || { echo "Python's venv module is missing (on Debian: apt-get install python3-venv)"; exit 1; }
	@echo "installing $$(grep -c '^[a-z0-9]' requirements.lock) packages into $(VENV), some 1.6 GB: minutes, once"
	$(RUN) -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-uv.lock
	VIRTUAL_ENV=$(VENV) $(BIN)/uv pip install --quiet --compile-bytecode --require-hashes -r requirements.lock
	VIRTUAL_ENV=$(VENV) $(BIN)/uv pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@
