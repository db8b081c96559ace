"""Hatchling's hook of the client's wheel: the enclave, and the files of the package that the client needs."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

if TYPE_CHECKING:
    from types import ModuleType

# Rooms that the client stands on, and of the command line what people use; `service` and its libraries stay out.
ROOMS = ("chain", "client", "content", "enclave", "wire")
# Of the rules what client and service must agree on: the canonical handle, the chains and their explorers.
RULES = ("__init__", "chains", "identifiers", "limits", "phones")
TOP = ("__init__.py", "__main__.py", "py.typed", "THIRD_PARTY.txt")
COMMANDS = (
    *("__init__", "root", "exits", "output", "sessions"),
    *(
        "account",
        "account_changes",
        "account_did",
        "account_keys",
        "account_options",
        "account_permissions",
        "account_recovery",
        "addresses",
        "balance",
        "client_vault",
        "delegations",
        "exit_opening",
        "exit_report",
        "exit_steps",
        "client_snapshots",
        "key_file",
        "pairing",
        "recovery",
        "pay",
        "payments",
        "register",
        "second_keys",
        "vault",
        "vault_exit",
        "vault_move",
        "vault_person",
        "vault_snapshots",
        "vault_transfer",
        "whoami",
    ),
)


class ClientBuildHook(BuildHookInterface):  # type: ignore[type-arg]  # hatchling leaves its parameter open
    """Compiles the enclave (or takes the cached result), then names the wheel's files one by one."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002 - hatchling's signature
        """Build the module and list the files. Raises enclave/build.py's BuildError."""
        root = Path(self.root).parents[1]
        _builder(root).build()
        package = root / "src" / "holdfast"
        for path in files(package):
            build_data["force_include"][str(path)] = f"holdfast/{path.relative_to(package).as_posix()}"


def files(package: Path) -> list[Path]:
    """The client's files under `package`, sorted."""
    rooms = [path for room in ROOMS for path in (package / room).rglob("*") if path.is_file()]
    single = [(room, name) for room, names in (("cli", COMMANDS), ("rules", RULES)) for name in names]
    chosen = [*(package / name for name in TOP), *(package / room / f"{name}.py" for room, name in single), *rooms]
    return sorted(path for path in chosen if "__pycache__" not in path.parts)


def _builder(root: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("enclave_build", root / "enclave" / "build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
