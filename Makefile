# Each target does the set-up that it needs, once. On a machine with several Pythons: make test PYTHON=python3.12
PYTHON ?= python3
VENV ?= .venv
# Two processes, each with whole files, because many tests of a file share one worker.
PYTEST_ARGS ?= -q -n 2 --dist loadfile -m "not nightly"
SPEED_ARGS ?=
INSTALLED_ARGS ?=
RELEASE_ARGS ?=
DOCS_ARGS ?= -q -j auto
# A folder with one folder for each version of the documentation: make docs VERSIONED=versions
VERSIONED ?=
BIN := $(VENV)/bin
# What an editable install is made of; the probes in C are built by it.
BUILT := pyproject.toml setup.py $(wildcard fitgym/instrument/_*.[ch])
# pip compiles nothing: Python writes the byte code of a module when it first imports it, and imports few of those installed.
# Many commands and tests start a new interpreter. Without byte code they would spend most of their time compiling.
unexport PYTHONDONTWRITEBYTECODE
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet --no-compile

# The checkers of Stable-Baselines3 are part of the tests, and torch comes with them. Only the build without CUDA will
# do (a fifth of the size), and where pip finds none the tests that need it are skipped and say so. TORCH_SOURCE holds
# further options for pip, such as an index that has that build.
TORCH ?= torch==2.13.0+cpu
TORCH_SOURCE ?=

.PHONY: help demo test nightly lint types format docs paper bench hostile speed notebooks wheels installed release clean

help:
	@echo "make demo    tests for a module of the standard library, what they are worth, and a page that plays the search"
	@echo "make test    the tests of fitgym itself       make nightly  the slow tests too"
	@echo "make lint    ruff: rules and format        make format   apply both"
	@echo "make types   mypy, strict, on every file   make clean    remove what can be made again"
	@echo "make docs    the documentation, strictly, into site/, and the checks of what was built"
	@echo "make paper   docs/paper.md of the built site as a PDF: build/paper.pdf"
	@echo "make bench   the 25 core subjects (20 min) make hostile  the 18 that do harm (10 min)"
	@echo "make notebooks  run the lessons in fast mode and write their .ipynb files with outputs"
	@echo "make wheels  the sdist and the wheels, into dist/"
	@echo "make installed  install them with each Python where there is no compiler, and use them (5 min)"
	@echo "make release  check everything, build everything and tag; uploads nothing (see CONTRIBUTING.md)"
	@echo "make speed   what everything costs, beside other tools (an hour; SPEED_ARGS=--quick: 2 min)"

demo: $(VENV)/.installed
	$(BIN)/python examples/demo.py

test: $(VENV)/.installed-test
	$(BIN)/python -m pytest $(PYTEST_ARGS)

nightly:
	$(MAKE) test PYTEST_ARGS="-q -n 2 --dist loadfile"

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: $(VENV)/.installed-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# A type checker that looks at half of the files reports success too, so the number of files is compared.
types: $(VENV)/.installed-dev
	@expected=$$(find -L fitgym -name '*.py' -o -name '*.pyi' | wc -l); \
	output=$$($(BIN)/mypy); status=$$?; echo "$$output"; \
	if [ $$status -ne 0 ]; then exit $$status; fi; \
	if ! echo "$$output" | grep -q "in $$expected source files"; then \
	    echo "mypy did not check the $$expected files under fitgym" >&2; exit 1; fi

# Warnings are errors: a link that leads nowhere, a docstring that cannot be read. No network is needed.
docs: $(VENV)/.installed-docs
	rm -rf site build/doctrees
	$(BIN)/sphinx-build -W --keep-going $(DOCS_ARGS) $(if $(VERSIONED),-t versioned) -d build/doctrees docs site
	$(BIN)/python -m pytest -q docs/tests
	$(if $(VERSIONED),$(BIN)/python tools/versions.py site $(VERSIONED) $$($(BIN)/python -c 'import fitgym; print(fitgym.__version__)'))

# Chromium prints the page of the built site.
paper: $(VENV)/.installed-docs
	$(BIN)/python tools/paper_pdf.py site build/paper.pdf

bench: $(VENV)/.installed
	$(BIN)/python benchmarks/core_subjects.py --install results/subjects

hostile: $(VENV)/.installed
	$(BIN)/python benchmarks/hostile_subjects.py --install results/subjects

speed: $(VENV)/.installed
	$(BIN)/python benchmarks/speed.py $(SPEED_ARGS)

# The .ipynb files are made from the .py files, with the outputs of fast mode; GitHub shows them.
notebooks: $(VENV)/.installed-notebooks
	$(BIN)/python notebooks/pages.py

# One wheel with the probes in C serves every Python from 3.11 on; the one without them serves every other machine.
# Both are built from the sdist, in a folder of their own, so nothing else of this folder can get in.
# The time of the last commit in place of the clock makes wheels of the same commit equal, byte for byte.
wheels: export SOURCE_DATE_EPOCH := $(shell git log -1 --format=%ct 2>/dev/null)
wheels: $(VENV)/.installed-dev
	rm -rf dist
	$(BIN)/python -m build --sdist
	for probes in c python; do FITGYM_SITES=$$probes $(BIN)/python -m pip --disable-pip-version-check \
	    wheel --quiet --no-cache-dir --no-deps --wheel-dir dist dist/*.tar.gz || exit; done
	@ls -l dist

installed: | $(BIN)/python
	$(BIN)/python tools/installed.py $(INSTALLED_ARGS)

release: $(VENV)/.installed-dev
	$(BIN)/python tools/release.py $(RELEASE_ARGS)

clean:
	rm -rf build dist site demo_output .coverage .mypy_cache .ruff_cache .pytest_cache .hypothesis *.egg-info
	rm -rf $(addprefix docs/,agents commands environments features fitness goals notebooks papers reference results search secondary)
	find . -name __pycache__ -not -path './$(VENV)/*' -prune -exec rm -rf {} +

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	    { echo "fitgym needs Python 3.11 or newer, $(PYTHON) is older: make $(MAKECMDGOALS) PYTHON=python3.12" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: $(BUILT) | $(BIN)/python
	$(PIP) --editable .
	@touch $@

# Each editable install builds the project again, so continuous integration installs all that its steps need at once.
$(VENV)/.installed-test: EXTRAS := test
$(VENV)/.installed-all: EXTRAS := dev,docs
$(VENV)/.installed-test $(VENV)/.installed-all: $(BUILT) | $(BIN)/python
	@if $(PIP) '$(TORCH)' $(TORCH_SOURCE) 2>/dev/null; then \
	    echo "$(PIP) --editable '.[$(EXTRAS),deep]'"; $(PIP) --editable '.[$(EXTRAS),deep]'; \
	else \
	    echo "pip finds no $(TORCH): the tests that need Stable-Baselines3 will be skipped"; \
	    $(PIP) --editable '.[$(EXTRAS)]'; \
	fi
	@touch $(if $(filter %-all,$@),$(addprefix $(VENV)/.installed-,dev docs test)) $@ $(VENV)/.installed

$(VENV)/.installed-notebooks: $(VENV)/.installed-test
	$(PIP) --editable '.[notebooks]'
	@touch $@

$(VENV)/.installed-dev: $(BUILT) | $(BIN)/python
	$(PIP) --editable '.[dev]'
	@touch $@ $(VENV)/.installed

$(VENV)/.installed-docs: $(BUILT) | $(BIN)/python
	$(PIP) --editable '.[docs]'
	@touch $@ $(VENV)/.installed
