# Everything runs in .venv, which the first target makes. PYTHON may name another interpreter of version 3.11 or later.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# The demo needs the library and matplotlib only; development adds its tools to the same environment. What the demo does
# not import need not be compiled before it runs.
DEMO_STAMP := $(VENV)/.demo
STAMP := $(VENV)/.installed
DOCS_STAMP := $(VENV)/.docs-installed
MPI_VENV := .venv-mpi
MPI_STAMP := $(MPI_VENV)/.installed
SECONDS ?= 1200
SEED ?= 0
THEORY := tests/paper tests/contract/test_preconditioners.py

.PHONY: help install demo docs test test-slow lint bench bench-quick calibrate goldens fuzz hostile mpi test-mpi package clean

help:
	@echo "make install      a virtual environment with all that development needs"
	@echo "make demo         solve a built-in pair with every method: a table and a picture (out/demo.png)"
	@echo "make docs         the documentation: out/docs/html/index.html"
	@echo "make test         lint, types and tests"
	@echo "make test-slow    the exhaustive checks"
	@echo "make lint         ruff and mypy only"
	@echo "make bench-quick  one table of ratios to other solvers, losses first, in minutes (ROWS=pattern, THREADS=1)"
	@echo "make bench        all benchmarks; takes hours"
	@echo "make calibrate    rates of this machine beside the constants of the cost model"
	@echo "make goldens      do the results differ from those of a commit? (BASE=commit, otherwise HEAD)"
	@echo "make fuzz         search for wrong answers, crashes and hangs (SECONDS=1200, SEED=0)"
	@echo "make hostile      do 2,000 damaged files all end in an answer or in one sentence? (SEED=number, otherwise 0)"
	@echo "make mpi          PETSc, petsc4py and mpi4py in .venv-mpi (Debian 12 or 13, as root; 5 to 15 minutes on 12)"
	@echo "make test-mpi     the tests on 1, 2 and 3 processes"
	@echo "make package      wheel and sdist in dist/, installed into an empty environment where README is executed"
	@echo "make clean        remove the virtual environment and the output"

$(DEMO_STAMP): pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "splitmerge needs Python 3.11 or later")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --editable '.[plot]'
	@touch $(DEMO_STAMP)

$(STAMP): $(DEMO_STAMP)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --editable . --group dev
	@touch $(STAMP)

install: $(STAMP)

demo: $(DEMO_STAMP)
	OPENBLAS_NUM_THREADS=1 $(BIN)/python examples/demo.py --out out/demo.png

$(DOCS_STAMP): $(STAMP)
	$(BIN)/python -m pip install --quiet --group docs
	@touch $(DOCS_STAMP)

# a warning is an error, and so is a reference to nothing
docs: $(DOCS_STAMP)
	rm -rf out/docs/html docs/api/generated docs/_generated
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m sphinx -q -n -W --keep-going -b html -d out/docs/doctrees docs out/docs/html
	@echo "wrote out/docs/html/index.html"

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

test: lint
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n 2

test-slow: install
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 -m slow
	OPENBLAS_NUM_THREADS=1 SPLITMERGE_EXAMPLES=300 $(BIN)/python -m pytest -n 2 $(THEORY)

bench: install
	$(BIN)/python -m pip install --quiet --group bench
	$(BIN)/python -m benchmarks
	$(BIN)/python -m benchmarks.quick --long

bench-quick: install
	$(BIN)/python -m benchmarks.quick --rows "$(ROWS)" --threads $(or $(THREADS),1)

calibrate: install
	$(BIN)/python -m tools.calibrate

goldens: install
	$(BIN)/python -m tools.goldens --base $(or $(BASE),HEAD)

fuzz: install
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m tools.fuzz --seconds $(SECONDS) --seed $(SEED) --jobs 2
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m tools.fuzz.known --seconds $$(( $(SECONDS) / 4 )) --seed $(SEED)

hostile: install
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m tools.hostile --count 2000 --seed $(SEED) --commands 100

package: install
	$(BIN)/python -m tools.package

$(MPI_STAMP): tools/mpi/install.sh pyproject.toml
	PYTHON=$(PYTHON) tools/mpi/install.sh $(MPI_VENV)
	@touch $(MPI_STAMP)

mpi: $(MPI_STAMP)

test-mpi: mpi
	tools/mpi/run.sh $(MPI_VENV) -m pytest -p no:cacheprovider tests/mpi

clean:
	rm -rf $(VENV) $(MPI_VENV) out dist build docs/_generated docs/api/generated docs/gallery
	rm -rf .mypy_cache .ruff_cache .pytest_cache .hypothesis
