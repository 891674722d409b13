# `make` or `make help` says what there is. Needs Python 3.11 and make; the rest goes into .venv.

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
PROTOS := $(wildcard app/upstreams/*/*.proto)

# What needs more than Python and make has targets of its own.
APART := tests/browser tests/docs/test_docs_commands.py

PORT ?= 8080
FAKE_PORT ?= 4010
export PORT FAKE_PORT

.PHONY: help run test test-browser test-docs check proto bench clean evidence mutate mutate-all clients clients-quick
.DEFAULT_GOAL := help

help:  ## This list
	@sed -n 's/^\([a-z-]*\):.*##  *\(.*\)/  make \1\t\2/p' Makefile | expand -t 22

run: $(VENV)/run.stamp  ## Candor on PORT (8080) over a fake upstream on FAKE_PORT (4010); Ctrl-C stops both
	@exec $(BIN)/python scripts/run_local.py

test: $(VENV)/dev.stamp  ## All tests; ARGS="-k name" narrows them
	@exec $(BIN)/python -m pytest -n 2 --dist loadfile $(APART:%=--ignore=%) $(ARGS)

test-browser: $(VENV)/dev.stamp  ## Tests of pages in a real browser; needs chromium on the PATH
	@CANDOR_TEST_BROWSER=1 exec $(BIN)/python -m pytest tests/browser $(ARGS)

test-docs: $(VENV)/dev.stamp  ## Every command that the README and docs show; needs curl, jq and xxd
	@exec $(BIN)/python -m pytest -n 2 --dist loadfile tests/docs/test_docs_commands.py $(ARGS)

check: $(VENV)/dev.stamp  ## Format, lint, types, import contracts
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

proto: $(VENV)/dev.stamp  ## Generate the protobuf modules from the .proto files
	$(BIN)/python -m grpc_tools.protoc -I . --python_out=. --mypy_out=. \
		--plugin=protoc-gen-mypy=$(BIN)/protoc-gen-mypy $(PROTOS)

bench: $(VENV)/dev.stamp  ## What Candor costs (docs/PERFORMANCE.md); AGAINST=litellm beside it, ARGS="whole burst" narrows
	@exec $(BIN)/python -m tests.bench $(if $(AGAINST),--against $(AGAINST)) $(ARGS)

clean:  ## Remove .venv, the clients and the caches; var/ (keys, stored replies) stays
	rm -rf $(VENV) .clients .bench .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -not -path './node_modules/*' -prune -exec rm -rf {} +

evidence: $(VENV)/dev.stamp  ## Every probe again; records go to evidence/. ARGS="gate_order" narrows, ARGS=--all adds bench and clients
	@exec $(BIN)/python -m evidence $(ARGS)

mutate: $(VENV)/dev.stamp  ## Mutations that the tests must catch; SPEC="part of a name" narrows them
	@exec $(BIN)/python -m tests.mutations $(if $(SPEC),"$(SPEC)") $(ARGS)

mutate-all: $(VENV)/mutmut.stamp  ## Every mutation that mutmut makes, by folder: ARGS="turn ledger"; takes up to 90 minutes
	@exec $(BIN)/python -m tests.mutations.everything $(ARGS)

clients: $(VENV)/dev.stamp  ## Real clients against Candor, all scenarios; the table goes to evidence/clients.txt
	@exec $(BIN)/python -m tests.clients.run all $(ARGS)

clients-quick: $(VENV)/dev.stamp  ## Real clients: a plain turn and a task each; needs npm
	@exec $(BIN)/python -m tests.clients.run quick $(ARGS)

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

$(VENV)/mutmut.stamp: tests/mutations/requirements.txt $(VENV)/dev.stamp
	$(PIP) -r tests/mutations/requirements.txt
	@touch $@

$(VENV)/dev.stamp: requirements-dev.txt $(VENV)/run.stamp
	$(PIP) -r requirements-dev.txt
	@touch $@
