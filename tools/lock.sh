#!/bin/sh
# Renews requirements/*.lock from pyproject.toml: hashes, no download addresses. Needs `uv` on the PATH.
set -eu
cd "$(dirname "$0")/.."
flags="--override requirements/overrides.txt --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --quiet"
uv pip compile $flags "$@" --extra uvicorn --extra client --extra world --group dev pyproject.toml -o requirements/dev.lock
uv pip compile $flags -c requirements/dev.lock --extra world pyproject.toml -o requirements/run.lock
uv pip compile $flags -c requirements/dev.lock --group build -o requirements/build.lock
