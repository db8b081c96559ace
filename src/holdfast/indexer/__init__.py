"""The indexer follows the registry and the factory on their chain and serves queries about them over HTTP.

`holdfast.indexer:app` is an ASGI application, built from the environment when it is first used: the service can call it
directly (HOLDFAST_INDEXER_APP), or `holdfast indexer` can run it in a separate process (HOLDFAST_INDEXER_URL).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from holdfast.indexer.asgi import IndexerApp, Receive, Scope, Send

__all__ = ["LazyApp", "app"]


def _build() -> IndexerApp:
    # These modules are imported on first use, so that other commands and services without an indexer do not load them.
    import os

    from holdfast.indexer.asgi import IndexerApp
    from holdfast.indexer.runtime import build
    from holdfast.indexer.settings import read_settings

    settings = read_settings(os.environ)
    return IndexerApp(lambda: build(settings))


class LazyApp:
    """Reads the environment on the first request or lifespan event, not on import.

    Attributes:
        built: the application with the environment's settings, once they have been read.
    """

    def __init__(self) -> None:
        self.built: IndexerApp | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one ASGI connection."""
        from holdfast.indexer.asgi import refuse  # as in _build
        from holdfast.settings.rows import SettingError

        if self.built is None:
            try:
                self.built = _build()
            except SettingError as error:
                await refuse(scope, receive, send, str(error))
                return
        await self.built(scope, receive, send)


app = LazyApp()
