"""The checks of `make check`: everything that can be tested without running the service.

`tools/check.py` runs all checks, `tools/check.py lint types` only those two. `tools/check.py
--generate` writes all generated files.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from holdfast.world.node import search_path

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent
PYTHON = sys.executable


@dataclass(frozen=True)
class Check:
    """One check.

    Attributes:
        name: the name on the command line.
        about: what is true if it passes.
        command: exits with 0 if it passes.
        fix: what fixes most failures.
        generator: writes the files that the check compares; empty if it compares none.
        folder: where the command runs.
    """

    name: str
    about: str
    command: tuple[str, ...]
    fix: str = ""
    generator: tuple[str, ...] = ()
    folder: str = "."


def _generated(name: str, about: str, script: str) -> Check:
    """Return the check of files that a script writes (`generated.py`)."""
    return Check(name, about, (PYTHON, script, "--check"), "make generate", (PYTHON, script))


def _forge_platform() -> str:
    """Return the npm package that contains forge for this machine."""
    processor = {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
    return f"forge-{platform.system().lower()}-{processor}"


ESLINT = ("node", "browser/node_modules/eslint/bin/eslint.js", "--config", "browser/eslint.config.js")
PRETTIER = ("node", "browser/node_modules/prettier/bin/prettier.cjs", "--config", "browser/.prettierrc.json")
JAVASCRIPT = (
    "browser/**/*.js",
    "browser/src/**/*.ts",
    "src/holdfast/service/static/**/*.js",
    "examples/**/*.js",
    "tests/**/*.js",
)
CRUISER = (
    "node",
    "../../browser/node_modules/dependency-cruiser/bin/dependency-cruiser.mjs",
    "--config",
    "../../browser/dependencies.config.js",
)
TSC = ("node", "browser/node_modules/typescript/bin/tsc")
FORGE = ROOT / "contracts" / "node_modules" / "@foundry-rs" / _forge_platform() / "bin" / "forge"

CHECKS = (
    # The slowest first, because checks run concurrently, and what generators read before them.
    _generated("contracts", "compiled anew, the contracts are those in the package", "tools/compile_contracts.py"),
    _generated("vectors", "vectors/ has what other libraries and the entry points compute", "tools/make_vectors.py"),
    _generated("unicode-tables", "rules/unicode_tables.py is what ICU says", "tools/unicode_tables.py"),
    Check("format", "ruff's format", (f"{BIN}/ruff", "format", "--check", "."), fix="ruff format ."),
    Check(
        "lint", "every rule of ruff but those that pyproject names", (f"{BIN}/ruff", "check", "."), "ruff check --fix"
    ),
    Check("types", "mypy --strict over src, tools, bench and tests/support", (f"{BIN}/mypy",)),
    Check("imports", "who may import whom", (f"{BIN}/lint-imports", "--no-logo", "--no-cache")),
    Check(
        "zig-imports",
        "no circle, no upward and no unused import in the enclave, no line over 120 characters",
        (PYTHON, "tools/zig_imports.py"),
    ),
    Check("spelling", "codespell over code and pages", (f"{BIN}/codespell",), fix="codespell -w"),
    Check("shell", "shellcheck over the shell scripts", (f"{BIN}/shellcheck", ".ci/run", "tools/lock.sh")),
    _generated(
        "settings",
        "the pages state the tables of settings, limits, exit codes and metrics",
        "tools/settings_table.py",
    ),
    _generated("gas", "the tables of gas and costs are those of contracts/snapshots", "tools/gas_table.py"),
    _generated(
        "endpoint-methods",
        "the asynchronous client has a method for each declared endpoint",
        "tools/endpoint_methods.py",
    ),
    _generated(
        "browser-client",
        "browser/src/generated/ states the endpoints and the interface's types",
        "tools/browser_client.py",
    ),
    _generated("blocking", "client/blocking/ is what the asynchronous classes say", "tools/blocking_client.py"),
    Check(
        "docs",
        "the site builds, and every link and anchor of its pages leads somewhere",
        (f"{BIN}/mkdocs", "build", "--strict", "--site-dir", "build/site"),
    ),
    Check(
        "zig",
        "zig fmt over the enclave",
        (PYTHON, "-m", "ziglang", "fmt", "--check", "enclave/src"),
        fix="python -m ziglang fmt enclave/src",
    ),
    Check(
        "solidity", "forge fmt over the contracts", (str(FORGE), "fmt", "--check", "--root", "contracts"), "forge fmt"
    ),
    Check(
        "javascript-format",
        "prettier's format, 120 columns",
        (*PRETTIER, "--check", *JAVASCRIPT),
        fix="node browser/node_modules/prettier/bin/prettier.cjs --config browser/.prettierrc.json --write FILES",
    ),
    Check(
        "javascript",
        "eslint over browser pages and hosts",
        (*ESLINT, "browser", "build/modules/src", "src/holdfast/service/static"),
    ),
    Check(
        "javascript-imports",
        "no circle and no upward import in the JavaScript client, static or on demand",
        (*CRUISER, "--output-type", "err", "src"),
        folder="build/modules",
    ),
    Check("javascript-types", "tsc, strict, over the JavaScript client", (*TSC, "-p", "browser")),
)


def main() -> int:
    """Run the named checks, or all of them; return 0 if all pass."""
    names = sys.argv[1:]
    if names == ["--generate"]:
        return _generate()
    if unknown := set(names) - {check.name for check in CHECKS}:
        print(f"no such check: {', '.join(sorted(unknown))}; there are: {', '.join(check.name for check in CHECKS)}")
        return 2
    subprocess.run([PYTHON, "browser/build.py", "modules"], cwd=ROOT, env=_environment(), check=True)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        outcomes = list(pool.map(_run, [check for check in CHECKS if not names or check.name in names]))
    print(", ".join(f"{outcomes.count(word)} {word}" for word in ("passed", "failed")))
    return 1 if "failed" in outcomes else 0


def _generate() -> int:
    """Run every generator, one after the other, because some read what others write; return 0 if all succeed."""
    for check in CHECKS:
        if check.generator and subprocess.run(check.generator, cwd=ROOT, env=_environment(), check=False).returncode:
            return 1
    return 0


def _environment() -> dict[str, str]:
    return {**os.environ, "PATH": search_path()}


def _run(check: Check) -> str:
    started = time.monotonic()
    done = subprocess.run(
        check.command, cwd=ROOT / check.folder, env=_environment(), capture_output=True, text=True, check=False
    )
    seconds = time.monotonic() - started
    print(_report(check, done, seconds), flush=True)
    return "failed" if done.returncode else "passed"


def _report(check: Check, done: subprocess.CompletedProcess[str], seconds: float) -> str:
    """Return what is printed about a check, in one piece, because checks run concurrently."""
    if done.returncode == 0:
        return f"ok   {check.name:10} {check.about} ({seconds:.1f} s)"
    lines = [f"FAIL {check.name:10} {check.about} ({seconds:.1f} s)", _indented(done.stdout + done.stderr)]
    return "\n".join([*lines, *([f"     -> {check.fix}"] if check.fix else [])])


def _indented(text: str) -> str:
    return "\n".join(f"     {line}" for line in text.strip().splitlines())


if __name__ == "__main__":
    raise SystemExit(main())
