"""A service that kills itself with SIGKILL as soon as a given method of its store has finished.

The command-line arguments are the port and the method's name. Settings come from the environment.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import Any

import uvicorn

from holdfast.service.bootstrap.applications import application_of
from holdfast.service.bootstrap.services import build_service
from holdfast.service.bootstrap.stores import open_store
from holdfast.service.settings.secrets import read_secrets
from holdfast.service.settings.values import read_settings
from holdfast.service.web.asgi import AsgiEntry


def dying(work: Any) -> Any:
    """Wrap the method so that the process dies when the method has finished, before the caller gets the result."""

    async def once(*arguments: Any) -> None:
        await work(*arguments)
        os.kill(os.getpid(), signal.SIGKILL)

    return once


def main() -> None:
    port, method = int(sys.argv[1]), sys.argv[2]
    settings = read_settings()
    store = open_store(settings)
    service = build_service(settings, read_secrets(settings), Dying(store, method))
    uvicorn.run(AsgiEntry(application_of(settings, service)), port=port, log_level="warning")


class Dying:
    def __init__(self, store: Any, method: str) -> None:
        self._store, self._method = store, method

    def __getattr__(self, name: str) -> Any:
        work = getattr(self._store, name)
        return dying(work) if name == self._method else work


if __name__ == "__main__":
    main()
