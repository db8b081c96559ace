# The main targets are `make run` and `make test`, which set up everything they need. PYTHON selects the interpreter.
PYTHON ?= python3
# Arguments for pytest: four workers, because tests wait a lot, each with whole modules. A test that fails runs once more; one that then passes is listed
# as unsteady. `make test ARGS="tests/service/web -x"` runs some tests.
ARGS ?= -n 4 --dist loadscope --reruns 1
BIN := .venv/bin
# Python keeps what it compiles, whatever the shell says: compiling the tests takes each worker 15 seconds.
export PYTHONDONTWRITEBYTECODE =

.PHONY: run test soak topology check generate bench coverage docs news setup setup-run setup-soak setup-build lock build release clean

run: setup-run
	@$(BIN)/holdfast serve

test: setup
	@$(BIN)/python -m pytest $(ARGS)

# What a release needs: all tests, with long faults and histories, more seeds and examples, and with Firefox and WebKitGTK.
soak: setup-soak
	@HOLDFAST_TEST_SOAK=1 $(BIN)/python -m pytest $(ARGS) -m "" --timeout 3600

# Starts and tests the installation of deploy/compose.yaml on this machine: PostgreSQL, two nodes, nginx, Prometheus.
topology: ARGS := $(filter-out -n 4 --dist loadscope --reruns 1,$(ARGS))
topology: setup
	@PYTHONPATH=. $(BIN)/python tools/topology.py $(ARGS)

check: setup
	@$(BIN)/python tools/check.py

# Writes every generated file that `make check` compares.
generate: setup
	@$(BIN)/python tools/check.py --generate

bench: ARGS := $(filter-out -n 4 --dist loadscope --reruns 1,$(ARGS))
bench: setup
	@$(BIN)/python -m bench $(ARGS)

# Reports which lines the tests execute, without requiring a minimum.
coverage: setup
	@$(BIN)/python -m pytest $(ARGS) --cov --cov-report=term --cov-report=html

docs: setup
	@$(BIN)/mkdocs build --strict --site-dir build/site
	@echo "docs: build/site/index.html"

# Moves newsfragments/ into CHANGELOG.md for a release: make news VERSION=0.2.0
news: setup
	@$(BIN)/towncrier build --yes --version $(VERSION)

setup:
	@$(PYTHON) tools/bootstrap.py test

setup-soak:
	@$(PYTHON) tools/bootstrap.py soak

setup-build:
	@$(PYTHON) tools/bootstrap.py build

setup-run:
	@$(PYTHON) tools/bootstrap.py run

# Needs only Python and what it fetches by hash: compiler, Node.js and build backend.
build: setup-build
	@$(BIN)/python tools/release.py build

# Also npm package, image context, bill of materials, licence texts and checksums; needs git.
release: setup-build
	@$(BIN)/python tools/release.py release

lock:
	@sh tools/lock.sh

clean:
	rm -rf .venv .setup dist build
