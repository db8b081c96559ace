"""Hatchling's hook: puts the compiled enclave into the wheel."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

if TYPE_CHECKING:
    from types import ModuleType

MODULE = "src/holdfast/enclave/enclave.wasm"


class EnclaveBuildHook(BuildHookInterface):  # type: ignore[type-arg]  # hatchling leaves its parameter open
    """Compiles `enclave/` (or takes the cached result) before the files of the wheel are collected."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002 - hatchling's signature
        """Build the module, and count the git-ignored file among the wheel's. Raises enclave/build.py's BuildError."""
        _builder(Path(self.root)).build()
        build_data.setdefault("artifacts", []).append(MODULE)


def _builder(root: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("enclave_build", root / "enclave" / "build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
