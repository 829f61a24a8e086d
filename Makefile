# `make run` starts Jamak, `make test` checks it; both set up what is missing first.
SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PEERS := $(VENV)/peers
READY := $(VENV)/.ready
export FILE

.PHONY: run test check setup test-setup bench-setup package self-test clean-root clean

run: setup
	@exec $(BIN)/jamak $${FILE:+"$$FILE"}

setup: $(READY)
	@$(BIN)/python -m engine.manager.downloads whisper-base

$(READY): requirements.lock pyproject.toml packaging/setup.sh
	@PYTHON="$(PYTHON)" packaging/setup.sh "$(VENV)" run
	@touch $(READY)

test-setup: $(READY)
	@PYTHON="$(PYTHON)" packaging/setup.sh "$(VENV)" test
	@$(BIN)/python -m engine.manager.downloads whisper-base whisper-tiny.en

# The window's tests have a process to themselves: whatever else the suite loads and starts is none of their
# business. (Qt once fell over in its event loop; see `garbage_is_collected_between_tests` in tests/conftest.py.)
test: test-setup check
	$(BIN)/python -m pytest --ignore=tests/ui
	$(BIN)/python -m pytest tests/ui

check: test-setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench-setup: test-setup
	@test -x $(PEERS)/bin/python || $(PYTHON) -m venv $(PEERS)
	@$(PEERS)/bin/pip install -q -r tests/bench/peers.txt

# Everything to give away, in dist/ (Linux). Takes a quarter of an hour of two processors the first time.
package: $(READY)
	@PYTHON="$(PYTHON)" packaging/setup.sh "$(VENV)" package
	@packaging/package.sh "$(VENV)"

# Builds the program as one folder, without what only a published one needs, and lets it transcribe its sample.
self-test: test-setup
	@packaging/build.sh "$(VENV)" --quick
	build/dist/jamak/jamak doctor --self-test

# As root: installs, uses, upgrades and removes the packages in a minimal Debian.
clean-root:
	@packaging/linux/upgrade_pair.sh build/upgrade
	@packaging/linux/clean_root.sh build/upgrade build/clean-root

clean:
	rm -rf $(VENV) build dist *.egg-info
