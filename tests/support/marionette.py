"""A client for Marionette, Firefox's remote control protocol, with only what the page tests need.

A message is its length, a colon and JSON: `[0, id, command, parameters]` is a command, `[1, id, error, result]` its
response (https://firefox-source-docs.mozilla.org/testing/marionette/Protocol.html).
"""

from __future__ import annotations

import json
import socket
from typing import Any

_ASKS = 0
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"  # the key of an element reference (WebDriver, section 12.1)


class MarionetteError(Exception):
    """Raised if a command failed; `name` is the WebDriver error code."""

    def __init__(self, command: str, name: str, message: str) -> None:
        super().__init__(f"{command}: {name}: {message}")
        self.name = name


class Marionette:
    """A connection to a Firefox that was started with `--marionette`."""

    def __init__(self, port: int, patience_s: float) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), patience_s)
        self._stream = self._socket.makefile("rb")
        self._last = 0
        self._read()  # the server's first message
        self._socket.settimeout(None)  # commands have Firefox's limits, and starting a session has the test's

    def send(self, command: str, **parameters: Any) -> Any:
        """Run a command and return its result, or the result's `value` if that is the only field."""
        self._last += 1
        asked = json.dumps([_ASKS, self._last, command, parameters]).encode()
        self._socket.sendall(b"%d:%s" % (len(asked), asked))
        _, number, error, result = self._read()
        assert number == self._last, f"{command}: an answer to another question"
        if error:
            raise MarionetteError(command, error["error"], error["message"])
        return result["value"] if isinstance(result, dict) and result.keys() == {"value"} else result

    def close(self) -> None:
        self._stream.close()
        self._socket.close()

    def _read(self) -> Any:
        length = b""
        while (byte := self._stream.read(1)) != b":":
            if not byte:
                raise ConnectionError("Firefox closed the connection")
            length += byte
        return json.loads(self._stream.read(int(length)))
