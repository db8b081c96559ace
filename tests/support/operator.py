"""The command line as operators use it: every command runs as a separate process."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support import forked
from tests.support.serving import environment_of


@dataclass
class Answer:
    code: int
    out: str
    err: str

    @property
    def value(self) -> Any:
        return json.loads(self.out)

    @property
    def error(self) -> dict[str, Any]:
        error: dict[str, Any] = json.loads(self.err)
        return error


@dataclass
class Operator:
    """An operator at a shell, with one data folder."""

    data: Path

    def __call__(
        self, *arguments: str | Path, data: Path | None = None, stdin: str | bytes = b"", **settings: str
    ) -> Answer:
        code, out, err = forked.run(
            [str(it) for it in arguments],
            environment_of(data or self.data, COLUMNS="200", **settings),
            stdin.encode() if isinstance(stdin, str) else stdin,
            timeout=400,
        )
        answer = Answer(code, out.decode(), err.decode())
        assert "Traceback" not in answer.err, answer.err
        assert "Traceback" not in answer.out, answer.out
        return answer
