"""Why a connection failed, in words for people: libraries' errors are named after their classes."""

from __future__ import annotations

import socket
import ssl
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_WORDS: tuple[tuple[type[BaseException], str], ...] = (
    (socket.gaierror, "the host's name was not found"),
    (ConnectionRefusedError, "nothing listens at this address"),
    (ssl.SSLError, "the certificate is not accepted, or the other end does not speak TLS"),
    (TimeoutError, "no answer in time"),
    (ConnectionResetError, "the connection was lost"),
)


def connection_words(error: BaseException) -> str:
    """Return why a connection failed; "no answer" with the error's class if no cause says."""
    causes = list(_causes(error))
    found = next((words for kind, words in _WORDS if any(isinstance(one, kind) for one in causes)), None)
    return found or f"no answer ({type(error).__name__})"


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and what led to it, also where aiohttp keeps the system's error in an attribute."""
    seen: list[BaseException | None] = [error]
    for one in seen:
        if one is not None:
            yield one
            more = (one.__cause__, one.__context__, getattr(one, "os_error", None))
            seen += [it for it in more if it is not None and not any(it is known for known in seen)]
