# Two commands for a new user: `make lab` and `make test`. `make help` lists the rest.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.SUFFIXES:

PYTHON ?= python3
VENV := .venv
LAB_ARGS ?=
PYTEST_ARGS ?=
KERNELS ?= 6.31 7.3 7.4
PY := $(VENV)/bin/python
NBVAL := -p no:randomly --nbval --nbval-sanitize-with notebooks/sanitize.cfg --nbval-cell-timeout 60

# What a caller's shell may carry and an environment of our own must not inherit.
unexport VIRTUAL_ENV PYTHONHOME PYTHONPATH CONDA_PREFIX PIP_USER PIP_TARGET PIP_PREFIX PIP_REQUIRE_VIRTUALENV
unexport LIONAGI_REPLAY LIONAGI_NB_STATIC PYTEST_ADDOPTS
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export JUPYTER_PREFER_ENV_PATH := 1
export PYRIGHT_PYTHON_IGNORE_WARNINGS := 1

comma := ,
LAB_ENV := $(VENV)/.with-nb-local
TEST_ENV := $(VENV)/.with-nb-dev
LIVE_ENV := $(VENV)/.with-nb-local-dev
DOCS_ENV := $(VENV)/.with-docs

.PHONY: help lab test notebook-tests lint architecture live browser kernels lowest full proof \
	conformance promises notebooks api docs screenshots clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' Makefile

# environments: one directory, one stamp for each set of extras; installing adds to what is there

$(VENV)/.made:
	@command -v "$(PYTHON)" >/dev/null || { echo "make: no $(PYTHON) here; install Python 3.11 or later, or say make PYTHON=/path/to/python" >&2; exit 1; }
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "make: $$("$(PYTHON)" --version) is too old; Python 3.11 or later is needed, say make PYTHON=/path/to/python" >&2; exit 1; }
	@echo "making $(VENV)"
	@"$(PYTHON)" -m venv "$(VENV)" || { echo "make: cannot make $(VENV); on Debian and Ubuntu: apt-get install python3-venv" >&2; exit 1; }
	@touch "$@"

$(VENV)/.with-%: pyproject.toml | $(VENV)/.made
	@echo "installing this clone with the extras $* into $(VENV) (once; a few minutes)"
	@"$(PY)" -m pip install -q -e ".[$(subst -,$(comma),$*)]"
	@touch "$@"

# for users

lab: $(LAB_ENV) ## open JupyterLab on notebooks/ (LAB_ARGS is passed through)
	@root=""; if [ "$$(id -u)" = 0 ]; then root="--allow-root"; fi; \
	exec "$(PY)" -m jupyterlab $$root --ServerApp.root_dir=notebooks $(LAB_ARGS)

test: $(TEST_ENV) ## run every test that needs neither network nor browser, notebooks included
	@mkdir -p artifacts && rm -f artifacts/unit.xml artifacts/notebooks.xml
	@status=0; \
	"$(PY)" -m pytest -q --junitxml=artifacts/unit.xml $(PYTEST_ARGS) || status=$$?; \
	if compgen -G 'notebooks/*.ipynb' >/dev/null; then \
		"$(PY)" -m pytest -q $(NBVAL) --junitxml=artifacts/notebooks.xml notebooks || status=$$?; \
	fi; \
	"$(PY)" scripts/ran.py artifacts/unit.xml artifacts/notebooks.xml; \
	exit $$status

# for builders

notebook-tests: $(TEST_ENV) ## run the notebooks from their recordings, all sockets refused
	@"$(PY)" -m pytest -q $(NBVAL) notebooks $(PYTEST_ARGS)

lint: $(TEST_ENV) ## ruff check, ruff format --check, pyright
	@status=0; \
	"$(PY)" -m ruff check . || status=1; \
	"$(PY)" -m ruff format --check . || status=1; \
	"$(PY)" -m pyright --pythonpath "$(PY)" || status=1; \
	exit $$status

architecture: $(TEST_ENV) ## the house rules
	@"$(PY)" -m pytest -q tests/architecture $(PYTEST_ARGS)

live: $(LIVE_ENV) ## every test on the real local model
	@"$(PY)" -m pytest -q -m live $(PYTEST_ARGS)

browser: $(TEST_ENV) ## every test in a real JupyterLab and Debian's chromium
	@"$(PY)" -m pytest -q -m browser $(PYTEST_ARGS)

kernels: $(KERNELS:%=kernel-%) ## Run All on each ipykernel version, each in an environment of its own

.PHONY: $(KERNELS:%=kernel-%)
$(KERNELS:%=kernel-%): kernel-%: .venv-kernel-%/.ready
	@echo "ipykernel $*"
	@.venv-kernel-$*/bin/python -m pytest -q -m kernel tests/kernels $(PYTEST_ARGS)

.venv-kernel-%/.ready: pyproject.toml
	@echo "making .venv-kernel-$*"
	@"$(PYTHON)" -m venv ".venv-kernel-$*"
	@".venv-kernel-$*/bin/python" -m pip install -q -e ".[nb,dev]" "ipykernel==$*.*"
	@touch "$@"

lowest: $(TEST_ENV) ## the tests with the lowest dependencies that pyproject.toml allows
	@"$(PYTHON)" -m venv --clear .venv-lowest
	@"$(PY)" -m uv pip install -q --python .venv-lowest/bin/python --resolution lowest-direct -e ".[nb,dev]"
	@.venv-lowest/bin/python -m pytest -q --ignore tests/architecture $(PYTEST_ARGS)

full: lint test live browser kernels lowest ## everything short of make proof

proof: $(LIVE_ENV) ## the full figure of every promise, hours; updates docs/promises.md
	@mkdir -p artifacts
	@status=0; "$(PY)" -m pytest -q -m proof --timeout 0 --junitxml=artifacts/proof.xml $(PYTEST_ARGS) || status=$$?; \
	"$(PY)" scripts/promises.py --results artifacts/proof.xml; exit $$status

# what is generated

conformance: $(TEST_ENV) ## write docs/conformance.md from the record markers
	@"$(PY)" scripts/conformance.py

promises: $(TEST_ENV) ## write docs/promises.md from the names of the tests
	@"$(PY)" scripts/promises.py

api: $(TEST_ENV) ## write the snapshot of the public surface
	@"$(PY)" scripts/api.py

notebooks: $(TEST_ENV) ## execute the notebooks anew from their recordings
	@"$(PY)" scripts/notebooks.py

docs: $(DOCS_ENV) conformance promises ## build the site into site/
	@NO_MKDOCS_2_WARNING=1 "$(PY)" -m mkdocs build --strict

screenshots: $(TEST_ENV) ## take the pictures of docs/images anew
	@"$(PY)" -m pytest -q -m browser tests/browser $(PYTEST_ARGS)
	@mkdir -p docs/images
	@cp -v artifacts/first_answer_picture.png docs/images/first_answer.png

clean: ## remove the environments and everything that was made
	@rm -rf .venv-kernel-* .venv-lowest "$(VENV)" artifacts site .pytest_cache .ruff_cache
