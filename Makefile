# `make run` judges the bundled portal and writes reports/; `make test` passes the tests.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/ready
# Tests wait now and then, the slow ones for much: more workers than cores, though each imports all tests.
CORES := $(shell $(PYTHON) -c "import os; print(os.cpu_count() or 2)")

# How many of the slowest tests are listed; 0 would be all.
DURATIONS := 5

# Hundreds of tests start a command of their own: it finds its modules compiled.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: run test slow-tests types check further generate generated docs serve selftest bench format clean mutants

$(READY): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[replay,scale,mcp,describe,docs,dev]'
	touch $(READY)

run: $(READY)
	$(BIN)/portal-conformance run --out reports

# Units, checks, and a whole run over a socket, in few minutes.
test: $(READY)
	$(BIN)/python -m pytest -q -n $$(($(CORES) + 1)) --dist worksteal --durations $(DURATIONS) -m "not slow"

# The other tests: those that start processes, browsers, clusters and fresh environments.
slow-tests: $(READY)
	$(BIN)/python -m pytest -q -n $$((2 * $(CORES))) --dist worksteal --durations $(DURATIONS) -m slow

serve: $(READY)
	$(BIN)/portal-conformance serve

# Beside the tests, with what they leave of the machine: they wait for much, and it waits for nothing.
selftest: $(READY)
	nice -n 19 $(BIN)/portal-conformance selftest

bench: $(READY)
	$(BIN)/python benchmarks/peers.py
	$(BIN)/python benchmarks/judge_traffic.py
	$(BIN)/python benchmarks/million.py
	$(BIN)/python benchmarks/replay_peers.py

mutants: $(READY)
	$(BIN)/python benchmarks/mutants.py

format: $(READY)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# Every generated file; `make check` fails where this would change one.
generate: $(READY)
	$(BIN)/python .ci/generate.py

generated: $(READY)
	$(BIN)/python .ci/generate.py --check

# The documentation site, in site/. A link or an anchor that leads nowhere is an error.
docs: $(READY)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

types: $(READY)
	$(BIN)/mypy

check: test further

# What `check` has beyond `test`. The slow tests build the documentation site as `make docs` does, and run
# beside what else takes long.
further: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports
	$(MAKE) --jobs 3 --output-sync=target slow-tests selftest generated types

clean:
	rm -rf $(VENV) .venv-peers site reports/* .mypy_cache .ruff_cache .pytest_cache
