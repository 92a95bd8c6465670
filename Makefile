PYTHON ?= python3
BIN := .venv/bin
# Uncompiled: most of the SDKs is never imported, and compiling all of it is half of the work.
PIP := $(BIN)/pip install --disable-pip-version-check --no-compile
# Whoever has this set would compile all that a command imports at each of its starts.
export PYTHONDONTWRITEBYTECODE :=
# The tests of a file share what they start, so they stay together, in the order of tests/conftest.py.
# The slowest are listed, so that no file delays the whole run unnoticed.
PARALLEL := --numprocesses auto --dist loadfile --no-loadscope-reorder --durations 15 --durations-min 5

.PHONY: help rehearse rehearse-down article test test-long test-browser contract mutants azure-proof azure-clean azure-compare lint docs bench policy-pack lock pins

help: ## Lists the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

TOO_OLD := aks-gpu needs Python 3.11 or newer. Name one, for example PYTHON=python3.12
IS_NEW := import sys; sys.exit(sys.version_info < (3, 11))

# The environment is complete when its stamp is newer than what it was made from. An environment
# of an older Python would stay one.
.venv/ready: tools/requirements-dev.txt pyproject.toml
	@$(PYTHON) -c '$(IS_NEW)' || { echo '$(PYTHON): $(TOO_OLD).' >&2; exit 1; }
	@$(BIN)/python -c '$(IS_NEW)' 2>/dev/null || rm -rf .venv
	@echo "Making .venv, which takes about a minute ..."
	@$(PYTHON) -m venv .venv
	@PYTHONPATH=tools $(PYTHON) -m aksgpu.pip_progress $(PIP) --progress-bar off --require-hashes --only-binary :all: -r tools/requirements-dev.txt
	@PYTHONWARNINGS=ignore $(PIP) --quiet --no-deps --no-build-isolation -e .
	@touch $@

STACK ?= dev
rehearse: .venv/ready ## Rehearses a stack on this machine: STACK=dev, or another
	@$(BIN)/aksgpu rehearse --stack $(STACK)

rehearse-down: .venv/ready ## Removes the rehearsal
	@$(BIN)/aksgpu rehearse-down

article: .venv/ready ## Compares the article's steps by hand with those by this program
	@$(BIN)/python -m tests.article

test: .venv/ready ## Runs the short tests
	$(BIN)/pytest $(PARALLEL) -m "not long and not browser"

# The gate names its own lives, and the files that have some.
LIVES := long
test-long: .venv/ready ## Runs all lives and faults, on the real engine and control planes
	$(BIN)/pytest $(PARALLEL) -m "$(LIVES)" $(FILES)

test-browser: .venv/ready ## Runs the page of the rehearsal in Chromium; its pictures are in build/dashboard
	$(BIN)/pytest -m browser tests/rehearsal/arm/dashboard

contract: .venv/ready ## Runs the cases of the offline plug-ins on the real plug-ins, which Pulumi downloads
	$(BIN)/python -m tests.contract

azure-proof: .venv/ready ## Proves on your Azure subscription what this project promises: an hour or two, some dollars
	@PYTHONPATH=tools $(BIN)/python -m azure_proof prove $(ARGS)

azure-clean: .venv/ready ## Removes what proofs have left in your subscription
	@PYTHONPATH=tools $(BIN)/python -m azure_proof clean $(ARGS)

azure-compare: .venv/ready ## Compares a proof with the rehearsal: FILE=evidence.json
	@PYTHONPATH=tools $(BIN)/python -m azure_proof compare $(FILE)

mutants: .venv/ready ## Puts faults into a copy of the product, and checks that tests fail
	$(BIN)/python -m tests.mutants

lint: .venv/ready ## Runs linters, types, import rules, and the workflows' checks
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy .
	for program in examples/*/__main__.py; do $(BIN)/mypy $$program || exit 1; done
	PYTHONPATH=.:plugins:tools $(BIN)/lint-imports
	$(BIN)/python -m machine_setup.from_source.actionlint .github/workflows/*.yml
	$(BIN)/zizmor --offline --quiet .github
	$(BIN)/shellcheck --external-sources .ci/*

docs: .venv/ready ## Generates docs/reference from the code
	PYTHONPATH=tools $(BIN)/python -m reference

bench: .venv/ready ## Runs the benchmarks, and writes build/bench.json
	PYTHONPATH=tools $(BIN)/python -m benchmarks

policy-pack: .venv/ready ## Writes the policy pack by itself to build/policy-pack
	$(BIN)/python -m aksgpu.policy_pack build/policy-pack

COMPILE := $(BIN)/uv pip compile --quiet --universal --generate-hashes
lock: .venv/ready ## Updates the lock files; what pyproject.toml allows keeps its version
	$(COMPILE) pyproject.toml -o requirements.txt
	$(COMPILE) --extra tools pyproject.toml -o tools/requirements.txt
	$(COMPILE) --extra tools --extra dev pyproject.toml -o tools/requirements-dev.txt
	$(COMPILE) --python-version 3.11 tests/article/azure-cli.in -o tests/article/azure-cli.txt
	$(BIN)/python -m aksgpu.pins

pins: .venv/ready ## Updates tools/machine_setup/pins.csv; needs the internet and 2 GB of disk
	$(BIN)/python -m machine_setup.pins
