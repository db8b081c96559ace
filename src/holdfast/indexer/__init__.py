"""The indexer follows the registry and the factory on their chain and serves queries about them over HTTP.

`holdfast.indexer:app` is an ASGI application, built from the environment when it is first used: the service can call it
directly (HOLDFAST_INDEXER_APP), or `holdfast indexer` can run it in a separate process (HOLDFAST_INDEXER_URL).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from holdfast.indexer.asgi import IndexerApp

__all__ = ["app"]


def _build() -> IndexerApp:
    # These modules are imported on first use, so that other commands and services without an indexer do not load them.
    import os

    from holdfast.indexer.asgi import IndexerApp
    from holdfast.indexer.runtime import build
    from holdfast.indexer.settings import read_settings

    settings = read_settings(os.environ)
    return IndexerApp(lambda: build(settings))


class _LazyApp:
    """Reads the environment at the first request or lifespan event, not at import."""

    def __init__(self) -> None:
        self._built: IndexerApp | None = None

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        from holdfast.indexer.asgi import refuse  # as in _build
        from holdfast.settings.rows import SettingError

        if self._built is None:
            try:
                self._built = _build()
            except SettingError as error:
                await refuse(scope, receive, send, str(error))
                return
        await self._built(scope, receive, send)


app = _LazyApp()
