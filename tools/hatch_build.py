"""A build hook for Hatchling, which adds the compiled enclave and the JavaScript client to the wheel."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

if TYPE_CHECKING:
    from types import ModuleType

MODULE = "src/holdfast/enclave/enclave.wasm"
CLIENT = "holdfast/service/static/client"
EDITABLE = "editable"


class EnclaveBuildHook(BuildHookInterface):  # type: ignore[type-arg]  # hatchling leaves its parameter open
    """Compiles `enclave/`, or uses the cached result, before the wheel's files are collected."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the enclave, and include the git-ignored file in the wheel. Raises BuildError from enclave/build.py.

        An editable installation serves the client from the checkout.
        """
        root = Path(self.root)
        _builder(root, "enclave").build()
        build_data.setdefault("artifacts", []).append(MODULE)
        if version != EDITABLE:
            client = root / "build" / "client"
            _builder(root, "browser").build_or_copy(client)
            build_data.setdefault("force_include", {})[str(client)] = CLIENT


def _builder(root: Path, part: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"{part}_build", root / part / "build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
