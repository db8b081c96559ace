# The two commands: `make run` and `make test`. Each does all of its own set-up; PYTHON names another interpreter.
PYTHON ?= python3
# What pytest is told: two workers, a module's tests together. `make test ARGS="tests/service/web -x"` runs a part.
ARGS ?= -n 2 --dist loadscope
BIN := .venv/bin

.PHONY: run test topology check bench coverage docs news setup setup-run lock build clean

run: setup-run
	@$(BIN)/holdfast serve

test: setup
	@$(BIN)/python -m pytest $(ARGS)

# The site of deploy/compose.yaml on this machine: PostgreSQL, two nodes, nginx, Prometheus. Tried, then ended.
topology: ARGS := $(filter-out -n 2 --dist loadscope,$(ARGS))
topology: setup
	@PYTHONPATH=. $(BIN)/python tools/topology.py $(ARGS)

check: setup
	@$(BIN)/python tools/check.py

bench: ARGS := $(filter-out -n 2 --dist loadscope,$(ARGS))
bench: setup
	@$(BIN)/python -m bench $(ARGS)

# Which lines the tests run; shown, not judged.
coverage: setup
	@$(BIN)/python -m pytest $(ARGS) --cov --cov-report=term --cov-report=html

docs: setup
	@$(BIN)/mkdocs build --strict --site-dir build/site
	@echo "docs: build/site/index.html"

# Gathers newsfragments/ into CHANGELOG.md for a release: make news VERSION=0.2.0
news: setup
	@$(BIN)/towncrier build --yes --version $(VERSION)

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
