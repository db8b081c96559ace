"""The two functions that the enclave's module imports, for randomness and time, and the encoding of its calls."""

from __future__ import annotations

import base64
import ctypes
import math
import re
from typing import TYPE_CHECKING

import msgspec
import wasmtime

if TYPE_CHECKING:
    from collections.abc import Callable

_UNSIGNED = (1 << 32) - 1
_ROOM = 4096  # for keys, passwords and field names; the sizes of larger values are added
_ENCODER = msgspec.json.Encoder()
_BYTES = (bytes, bytearray, memoryview)
_TEXT_LIKE_HEX = re.compile(rb'"0[xX][0-9a-fA-F]*"')
_HEX = re.compile(rb"0[xX][0-9a-fA-F]*")


class Sources:
    """The functions that an instance imports.

    The functions hold no reference to the instance, so no reference cycle keeps a discarded vault in memory.
    """

    def __init__(self, random: Callable[[int], bytes], now: Callable[[], float]) -> None:
        self._random, self._now = random, now
        self._interrupt: BaseException | None = None

    def link(self, engine: wasmtime.Engine) -> wasmtime.Linker:
        """Return a linker that defines both imported functions."""
        i32, f64 = wasmtime.ValType.i32(), wasmtime.ValType.f64()
        linker = wasmtime.Linker(engine)
        linker.define_func("env", "host_random", wasmtime.FuncType([i32, i32], [i32]), self._fill, access_caller=True)
        linker.define_func("env", "host_now_ms", wasmtime.FuncType([], [f64]), self._now_ms)
        return linker

    def raise_interrupt(self) -> None:
        """Raise an interrupt, such as KeyboardInterrupt, that was deferred until the module's call had ended."""
        interrupt, self._interrupt = self._interrupt, None
        if interrupt is not None:
            raise interrupt

    def _fill(self, caller: wasmtime.Caller, address: int, length: int) -> int:
        size = length & _UNSIGNED
        try:
            data = self._random(size)
            memory = caller["memory"]
            if len(data) != size or not isinstance(memory, wasmtime.Memory):
                return 1
            memory.write(caller, data, address & _UNSIGNED)
        except Exception:  # noqa: BLE001 - whatever the source raises, the module must learn of it
            return 1
        except BaseException as interrupt:  # noqa: BLE001 - raised again once the module has wiped its memory
            self._interrupt = interrupt
            return 1
        return 0

    def _now_ms(self) -> float:
        try:
            seconds = self._now()
        except Exception:
            raise  # a broken clock ends the instance, as a trap does
        except BaseException as interrupt:  # noqa: BLE001 - as above
            self._interrupt = interrupt
            return math.nan
        return float(int(seconds * 1000)) if math.isfinite(seconds) else math.nan


def encoded(fields: dict[str, object]) -> bytearray:
    """Return the call's JSON.

    Bytes become base64, or an array of numbers if their base64 could be read as hex (enclave/ABI.md). The JSON is in a
    single buffer, which the caller can overwrite.
    """
    text = _written(fields)
    if not _TEXT_LIKE_HEX.search(text):
        return text
    wipe(text)
    return _written(_unmistakable(msgspec.to_builtins(fields, builtin_types=_BYTES)))


def wipe(text: bytearray) -> None:
    """Overwrite bytes with zeros in place."""
    ctypes.memset((ctypes.c_char * len(text)).from_buffer(text), 0, len(text))


def _written(value: object) -> bytearray:
    # The buffer is allocated at its full size, since a growing buffer would leave copies of secrets in memory.
    text = bytearray(_ROOM + _base64_length(value))
    _ENCODER.encode_into(value, text)
    return text


def _base64_length(value: object) -> int:
    fields = value.values() if isinstance(value, dict) else ()
    return sum(len(field) for field in fields if isinstance(field, (str, *_BYTES))) * 4 // 3


def _unmistakable(value: object) -> object:
    if isinstance(value, dict):
        return {name: _unmistakable(field) for name, field in value.items()}
    if isinstance(value, (list, tuple)):
        return [_unmistakable(item) for item in value]
    if isinstance(value, _BYTES) and _HEX.fullmatch(base64.b64encode(value)):
        return list(bytes(value))
    return value
