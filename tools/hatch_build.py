"""A build hook for Hatchling, which adds the compiled enclave, the JavaScript client and the man page to the wheel."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

if TYPE_CHECKING:
    from types import ModuleType

MODULE = "src/holdfast/enclave/enclave.wasm"
CLIENT = "holdfast/service/static/client"
MAN_PAGE = "share/man/man1/holdfast.1"
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
            build_data.setdefault("shared_data", {})[str(_man_page(root))] = MAN_PAGE


def _man_page(root: Path) -> Path:
    made = root / "build" / "holdfast.1"
    made.parent.mkdir(exist_ok=True)
    environment = {**os.environ, "PYTHONPATH": str(root / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    subprocess.run([sys.executable, root / "tools" / "man_page.py", made], check=True, env=environment)
    return made


def _builder(root: Path, part: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"{part}_build", root / part / "build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
