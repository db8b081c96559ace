"""Why a connection failed, in words for people: libraries name their errors after classes."""

from __future__ import annotations

import errno
import socket
import ssl
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

WORDS: dict[type[BaseException], str] = {
    socket.gaierror: "the host's name was not found",
    ConnectionRefusedError: "nothing listens at this address",
    ssl.SSLError: "the certificate is not accepted, or the other end does not speak TLS",
    TimeoutError: "no answer in time",
    ConnectionResetError: "the connection was lost",
    BrokenPipeError: "the connection was lost",
    UnicodeError: "the address is malformed",
}
_NO_REASON = "no answer"
_NUMBERS = {
    errno.EHOSTUNREACH: "no way leads to this address",
    errno.ENETUNREACH: "no way leads to this address's network",
    errno.EMFILE: "this process has too many files open",
}


def connection_words(error: BaseException) -> str:
    """Return why a connection failed; "no answer" if no cause says."""
    found = list(causes(error))
    kinds = (words for kind, words in WORDS.items() if any(isinstance(one, kind) for one in found))
    numbers = (_NUMBERS[one.errno] for one in found if isinstance(one, OSError) and one.errno in _NUMBERS)
    return next(kinds, None) or next(numbers, _NO_REASON)


def failed_connection(what: str, error: BaseException) -> str:
    """Return what failed, and why, if a cause says."""
    words = connection_words(error)
    return what if words == _NO_REASON else f"{what}: {words}"


def causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and what led to it, also where aiohttp keeps the system's error in an attribute."""
    seen: list[BaseException | None] = [error]
    for one in seen:
        if one is not None:
            yield one
            parts = one.exceptions if isinstance(one, BaseExceptionGroup) else ()
            more = (one.__cause__, one.__context__, getattr(one, "os_error", None), *parts)
            seen += [it for it in more if it is not None and not any(it is known for known in seen)]
