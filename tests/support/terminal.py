"""Runs the interactive commands in this process."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from typer.testing import CliRunner, Result

from holdfast.cli.root import application

PASSWORD = "correct horse battery staple"


class Terminal:
    """Runs commands with one vault folder. Argon2id takes most of the time of a command that a password opens the vault for."""

    def __init__(
        self, folder: Path, service: str = "http://localhost:9", password: str = PASSWORD, key: str = "password"
    ) -> None:
        self.folder = folder
        self.environment = {
            "HOLDFAST_VAULT_DIR": str(folder),
            "HOLDFAST_SERVICE_URL": service,
            "HOLDFAST_VAULT_KEY": key,
            "HOLDFAST_VAULT_PASSWORD": password,
            "HOLDFAST_EXPORT_PASSWORD": "of the file: " + password,
        }

    def run(self, *words: str, typed: str | None = None, code: int = 0) -> Result:
        result = CliRunner().invoke(application, words, env=self.environment, input=typed)
        assert result.exit_code == code, result.output
        return result

    def json(self, *words: str, **more: Any) -> Any:
        return json.loads(self.run(*words, "--json", **more).stdout)
