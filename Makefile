PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
STORE ?= .ekr

.DEFAULT_GOAL := help
.PHONY: help setup models demo test lint format crash fuzz bench docs lock clean

help:  ## list the targets
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):[^#]*## /\1\t/' | expand -t 10

setup: $(READY)  ## make the virtual environment and install ekr into it

# pip keeps the wheel that it builds of llama-cpp-python, so only the first set-up on a machine compiles it.
$(READY): pyproject.toml requirements.lock
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet 'pip>=25.1,<27'
	CMAKE_ARGS='-DGGML_CUDA=OFF -DLLAVA_BUILD=OFF' CMAKE_BUILD_PARALLEL_LEVEL=$$(nproc) \
	  $(BIN)/python -m pip install --quiet --constraint requirements.lock --editable . --group dev
	touch $@

models: setup  ## fetch the default models into the user's cache
	$(BIN)/ekr models pull

demo: models  ## install, fetch the models, ingest the sample corpus, answer a question
	$(BIN)/ekr ingest sample_corpus --store $(STORE)
	$(BIN)/ekr query "Who worked with Babbage?" --store $(STORE)

lint: setup  ## format check, lint, types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

format: setup  ## format and fix
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

test: lint models  ## all checks and tests
	$(BIN)/python -m pytest

crash: models  ## kill an ingest 460 times, at random and at each step of a commit, and compare (half an hour)
	$(BIN)/python -m tests.reliability.crash_run --random 200 --each-step 20

fuzz: models  ## thousands of random inputs to every parser, and all hostile files in one ingest
	HYPOTHESIS_PROFILE=fuzz $(BIN)/python -m pytest --timeout=7200 tests/reliability/test_fuzz.py
	$(BIN)/python -m tests.reliability.hostile_run

bench: models  ## measure times and retrieval quality on ../shared/data
	$(BIN)/python benchmarks/run.py

docs: setup  ## regenerate the generated parts of the documentation
	$(BIN)/python docs/generate.py

lock: setup  ## write the versions that are installed now
	$(BIN)/python -m pip freeze --exclude-editable | grep -v '^pip==' > requirements.lock

clean:  ## remove the virtual environment, caches and the demo's store
	rm -rf $(VENV) $(STORE) .pytest_cache .mypy_cache .ruff_cache .hypothesis build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
