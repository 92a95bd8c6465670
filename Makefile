PYTHON ?= python3
BIN := .venv/bin

.PHONY: rehearse rehearse-down test lint lock

# The environment is complete when its stamp is newer than what it was made from.
.venv/ready: requirements-dev.txt pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps -e .
	touch $@

STACK ?= dev
rehearse: .venv/ready
	$(BIN)/aksgpu rehearse --stack $(STACK)

rehearse-down: .venv/ready
	$(BIN)/aksgpu rehearse-down

test: .venv/ready
	$(BIN)/pytest --numprocesses auto

lint: .venv/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy .
	$(BIN)/lint-imports

# Resolves the direct dependencies of pyproject.toml anew.
lock: .venv/ready
	$(BIN)/pip install --quiet uv
	$(BIN)/uv pip compile --universal --quiet pyproject.toml -o requirements.txt
	$(BIN)/uv pip compile --universal --quiet --extra dev pyproject.toml -o requirements-dev.txt
