PYTHON ?= python3
BIN := .venv/bin
# Uncompiled: most of the SDKs is never imported, and compiling all of it is half of the work.
PIP := $(BIN)/pip install --disable-pip-version-check --no-compile
# Whoever has this set would compile all that a command imports at each of its starts.
export PYTHONDONTWRITEBYTECODE :=
# The tests of a file share what they start, so they stay together, in the order of tests/conftest.py.
# The slowest are listed, so that no file delays the whole run unnoticed.
PARALLEL := --numprocesses auto --dist loadfile --no-loadscope-reorder --durations 15 --durations-min 5

.PHONY: rehearse rehearse-down article test test-long contract mutants lint docs bench policy-pack lock pins

# The environment is complete when its stamp is newer than what it was made from.
.venv/ready: requirements-dev.txt pyproject.toml
	@echo "Making .venv, which takes about a minute ..."
	@$(PYTHON) -m venv .venv
	@$(PYTHON) -m aksgpu.pip_progress $(PIP) --require-hashes --only-binary :all: -r requirements-dev.txt
	@$(PIP) --quiet --no-deps --no-build-isolation -e .
	@touch $@

STACK ?= dev
rehearse: .venv/ready
	@$(BIN)/aksgpu rehearse --stack $(STACK)

rehearse-down: .venv/ready
	@$(BIN)/aksgpu rehearse-down

# The article's steps by hand and by this program, compared.
article: .venv/ready
	@$(BIN)/python -m acceptance

test: .venv/ready
	$(BIN)/pytest $(PARALLEL) -m "not long"

# Long tests: whole lifecycles and faults, on the real engine and real control planes.
test-long: .venv/ready
	$(BIN)/pytest $(PARALLEL) -m long

# The table of cases that the stand-ins pass, on the real plug-ins, which Pulumi downloads.
contract: .venv/ready
	$(BIN)/python -m tests.contract

# Puts faults into a copy of the product, and checks that tests fail.
mutants: .venv/ready
	$(BIN)/python -m tests.mutants

lint: .venv/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy .
	for program in examples/*/__main__.py; do $(BIN)/mypy $$program || exit 1; done
	$(BIN)/lint-imports
	$(BIN)/python -m engine.actionlint .github/workflows/*.yml

# Generates docs/reference from the code.
docs: .venv/ready
	$(BIN)/python -m reference

# Runs the benchmarks, and writes the results to build/bench.json.
bench: .venv/ready
	$(BIN)/python -m benchmarks

# The policy pack by itself, for use in other projects.
policy-pack: .venv/ready
	$(BIN)/python -m aksgpu.policy_pack build/policy-pack

# Updates the lock files of pyproject.toml and of the Azure CLI; what they allow keeps its version.
COMPILE := $(BIN)/uv pip compile --quiet --universal --generate-hashes
lock: .venv/ready
	$(COMPILE) pyproject.toml -o requirements.txt
	$(COMPILE) --extra dev pyproject.toml -o requirements-dev.txt
	$(COMPILE) --python-version 3.11 acceptance/azure-cli.in -o acceptance/azure-cli.txt
	$(BIN)/python -m aksgpu.pins

# Updates engine/pins.csv after a change of engine/versions.py. It needs the internet, not only
# package registries, and 2 GB of disk at a time.
pins: .venv/ready
	$(BIN)/python -m engine.pins
