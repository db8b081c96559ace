"""The logs of the service and the indexer: one line per event, as JSON or text.

Only listed fields of an event are logged. Of exceptions, only the types and source locations are logged. Every line
about a request, or about a run of a background job, contains its ID.
"""

from __future__ import annotations

import json
import logging
import math
import re
import sys
import threading
import time
import traceback
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from holdfast.wire.request_ids import REQUEST_ID

if TYPE_CHECKING:
    from collections.abc import Callable

# Identifiers, codes, people's addresses, keys and tokens are deliberately not among the listed fields.
FIELDS = (
    "request_id", "route", "method", "status", "channel", "kind", "why", "count", "seconds", "path", "version", "chain",
    "left", "offset_s", "step", "of", "table", "rows", "written", "chain_id", "block",
)  # fmt: skip


LEVELS = ("info", "warning", "error")  # below `info`, libraries log what people send and receive


class JsonFormatter(logging.Formatter):
    """Formats each record as a JSON object on one line."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the record, with its listed fields, as JSON."""
        entry = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **_fields(record),
        }
        if record.exc_info:
            entry["trace"] = _trace(record.exc_info[1])
        return json.dumps(entry)


class Sparse(logging.Filter):
    """Limits a logger to a few records per minute, for events that strangers can trigger as often as they like."""

    def __init__(self, limit: int = 5, every_s: float = 60.0, now: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._limit, self._every_s, self._now = limit, every_s, now
        self._began, self._passed, self._held = -math.inf, 0, 0

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether to log the record.

        The first record in a new minute says how many records were omitted before it.
        """
        if self._now() - self._began >= self._every_s:
            if self._held:
                record.msg, record.args = f"{record.getMessage()} (and {self._held} records left out before it)", ()
            self._began, self._passed, self._held = self._now(), 0, 0
        passes = self._passed < self._limit
        self._passed += passes
        self._held += not passes
        return passes


class TextFormatter(logging.Formatter):
    """Formats each record as time, level, message and the listed fields."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as text for a terminal."""
        moment = datetime.fromtimestamp(record.created).astimezone().strftime("%H:%M:%S")
        fields = "".join(f" {name}={value}" for name, value in _fields(record).items())
        line = _one_line(f"{moment} {record.levelname.lower():7} {record.getMessage()}{fields}")
        return f"{line}\n{_trace(record.exc_info[1])}" if record.exc_info else line


def configure(form: str, level: str = "info") -> None:
    """Set up logging to stderr.

    Args:
        form: `text`, `json` or `auto`, which is text on a terminal, else JSON.
        level: one of LEVELS; less serious lines are left out.
    """
    text = form == "text" or (form == "auto" and sys.stderr.isatty())
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(TextFormatter() if text else JsonFormatter())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    least = logging.getLevelNamesMapping()[level.upper()]
    root.setLevel(least)
    logging.getLogger("asyncio").addFilter(_WITHOUT_OBJECTS)
    sys.unraisablehook = lambda event: _uncaught("exception ignored", event.exc_value)
    threading.excepthook = lambda event: _uncaught("thread ended by an exception", event.exc_value)
    # Below the level WARNING, these libraries may log addresses and recipients.
    for name in ("aiosmtplib", "aiohttp", "httpx", "httpcore", "httpx2", "httpcore2", "inngest", "mail.log", "asyncio"):
        logging.getLogger(name).setLevel(max(logging.WARNING, least))


class WithoutObjects(logging.Filter):
    """Shortens the event loop's messages, because the objects that they print may contain an exception's message."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Shorten the record's message, and accept the record. The record's exception is formatted like any other."""
        record.msg, record.args = re.split(r"[\n<(]", record.getMessage(), maxsplit=1)[0].rstrip(), ()
        return True


_WITHOUT_OBJECTS = WithoutObjects()


def _uncaught(what: str, error: BaseException | None) -> None:
    """Log an uncaught exception without its message, which Python would print."""
    logging.getLogger("holdfast").error(what, exc_info=error)


def _fields(record: logging.LogRecord) -> dict[str, object]:
    fields = {name: record.__dict__[name] for name in FIELDS if name in record.__dict__}
    if "request_id" not in fields and (request_id := REQUEST_ID.get()):
        return {"request_id": request_id, **fields}
    return fields


def _one_line(text: str) -> str:
    """Return the text with unprintable characters escaped, so that no value can start a new line in the log."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def _trace(error: BaseException | None) -> str:
    """Return the types and source locations of an exception and its causes, innermost first, without their messages.

    The messages may quote secrets and personal data: identifiers, statement parameters, URLs with keys.
    """
    parts, seen = [], set[int]()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        frames = traceback.format_tb(error.__traceback__)
        parts.append("".join(frames) + f"{type(error).__module__}.{type(error).__qualname__}")
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return "\nled to\n".join(reversed(parts))
