# `make` or `make help` says what there is. Needs Python 3.11 and make; the rest goes into .venv.

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
PROTOS := $(wildcard app/upstreams/*/*.proto)

PORT ?= 8080
FAKE_PORT ?= 4010
export PORT FAKE_PORT

.PHONY: help run test check proto clean
.DEFAULT_GOAL := help

help:  ## This list
	@sed -n 's/^\([a-z]*\):.*##  *\(.*\)/  make \1\t\2/p' Makefile | expand -t 15

run: $(VENV)/run.stamp  ## Candor on PORT (8080) over a fake upstream on FAKE_PORT (4010); Ctrl-C stops both
	@exec $(BIN)/python scripts/run_local.py

test: $(VENV)/dev.stamp  ## All tests; ARGS="-k name" narrows them
	@exec $(BIN)/python -m pytest -n 2 --dist loadfile $(ARGS)

check: $(VENV)/dev.stamp  ## Format, lint, types, import contracts
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

proto: $(VENV)/dev.stamp  ## Generate the protobuf modules from the .proto files
	$(BIN)/python -m grpc_tools.protoc -I . --python_out=. --mypy_out=. \
		--plugin=protoc-gen-mypy=$(BIN)/protoc-gen-mypy $(PROTOS)

clean:  ## Remove .venv and the caches; var/ (keys, stored replies) stays
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -not -path './node_modules/*' -prune -exec rm -rf {} +

$(VENV)/made.stamp:
	@for python in python3.11 python3; do \
		if "$$python" -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' 2>/dev/null; then \
			echo "Making $(VENV) with $$python"; \
			"$$python" -m venv $(VENV) && touch $@; exit; \
		fi; \
	done; \
	echo "Candor needs Python 3.11: neither python3.11 nor python3 on the PATH is one." >&2; exit 1

$(VENV)/run.stamp: requirements.txt | $(VENV)/made.stamp
	$(PIP) -r requirements.txt
	@touch $@

$(VENV)/dev.stamp: requirements-dev.txt $(VENV)/run.stamp
	$(PIP) -r requirements-dev.txt
	@touch $@
