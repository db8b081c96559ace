# The two commands: `make run` and `make test`. Each does all of its own set-up; PYTHON names another interpreter.
PYTHON ?= python3
# What pytest is told: two workers, a module's tests together. `make test ARGS="tests/web -x"` runs a part.
ARGS ?= -n 2 --dist loadscope
BIN := .venv/bin

.PHONY: run test check bench docs setup setup-run lock build clean

run: setup-run
	@$(BIN)/holdfast serve

test: setup
	@$(BIN)/python -m pytest $(ARGS)

check: setup
	@$(BIN)/python tools/check.py

bench: ARGS := $(filter-out -n 2 --dist loadscope,$(ARGS))
bench: setup
	@$(BIN)/python -m bench $(ARGS)

setup:
	@$(PYTHON) tools/bootstrap.py test

setup-run:
	@$(PYTHON) tools/bootstrap.py run

build: setup
	@$(BIN)/python -m build --no-isolation
	@$(BIN)/python -m build --no-isolation --wheel --outdir dist packaging/client

lock:
	@sh tools/lock.sh

clean:
	rm -rf .venv .setup dist build
