"""Serves the JavaScript client under /client/, from the package's build or, in a checkout, from its own."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.service.http.messages import error_response
from holdfast.service.http.static import StaticAnswer
from holdfast.wire.errors import NOT_FOUND

if TYPE_CHECKING:
    from collections.abc import Mapping

    from holdfast.service.http.messages import Request, Response

PREFIX = "/client/"
# A module with a fixed name is revalidated on every use (304 if unchanged), so that versions never mix. The others, to
# which these lead, have a hash of their content in their names (browser/build.py).
_CACHE = "no-cache"
_HASHED_CACHE = "public, max-age=31536000, immutable"
_HASHED = re.compile(r"-[0-9A-Z]{8}\.js$")
_TYPES = {".js": "text/javascript; charset=utf-8", ".ts": "text/plain; charset=utf-8", ".map": "application/json"}
# A worker obeys the policy of its own script, and cross-origin isolated pages load a worker only if it has COEP.
_HEADERS = (
    ("cross-origin-resource-policy", "cross-origin"),
    ("cross-origin-embedder-policy", "require-corp"),
    (
        "content-security-policy",
        "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'; base-uri 'none'",
    ),
)
BUILT = Path(__file__).parents[4] / "build" / "client"  # browser/build.py, called by `make run` after a change
_MISSING = error_response(NOT_FOUND)


class ClientFiles:
    """All files of the client, each read and prepared once in a process."""

    def __init__(self, answers: Mapping[str, StaticAnswer]) -> None:
        self._answers = answers

    async def serve(self, request: Request) -> Response:
        """Return the requested file, 304 if the client has it, or 404 if there is no such file."""
        found = self.file(request.path.removeprefix(PREFIX))
        return await found.serve(request) if found else _MISSING

    def file(self, name: str) -> StaticAnswer | None:
        """Return a file by its name in the folder."""
        return self._answers.get(name)


def client_files() -> ClientFiles:
    """Read all files of the client; without a build, no files."""
    folder = client_folder()
    return ClientFiles(_files_of(folder) if folder else {})


@cache
def _files_of(folder: Path) -> Mapping[str, StaticAnswer]:
    found = sorted(file for file in folder.rglob("*") if file.suffix in _TYPES)
    return {file.relative_to(folder).as_posix(): _wrapped(file) for file in found}


def client_folder() -> Path | None:
    """Return the folder of the client's build: a checkout's, or the package's."""
    packaged = Path(str(files("holdfast.service"))) / "static" / "client"
    return next((folder for folder in (BUILT, packaged) if (folder / "holdfast.js").exists()), None)


def _wrapped(file: Path) -> StaticAnswer:
    cache = _HASHED_CACHE if _HASHED.search(file.name) else _CACHE
    return StaticAnswer(file.read_bytes(), _TYPES[file.suffix], cache, [*_HEADERS])
