"""Decodes revert reasons: Error(string), Panic(uint256), the entry point's errors and custom errors from an ABI."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from holdfast.chain.values import printable
from holdfast.wire import abi
from holdfast.wire.keccak import checksum_address

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_MAX_DEPTH = 4  # errors within errors
_MAX_TEXT = 300  # the contract chooses these bytes, and they become part of a message
# The compiler's table of panic codes (Solidity documentation, "Panic via assert and Error via require").
_PANICS = {
    0x01: "assertion failed",
    0x11: "arithmetic overflow",
    0x12: "division by zero",
    0x21: "value outside its enum",
    0x22: "malformed storage bytes",
    0x31: "pop of an empty array",
    0x32: "index out of bounds",
    0x41: "too much memory",
    0x51: "call of an uninitialised function pointer",
}


@dataclass(frozen=True, slots=True)
class ErrorAbi:
    """A Solidity error: its name, and the names and canonical types of its arguments."""

    name: str
    arguments: tuple[tuple[str, str], ...] = ()

    @property
    def selector(self) -> bytes:
        """The first four bytes of this error's revert data."""
        return abi.selector(f"{self.name}({','.join(kind for _, kind in self.arguments)})")


_STANDARD = (
    ErrorAbi("FailedOp", (("opIndex", "uint256"), ("reason", "string"))),
    ErrorAbi("FailedOpWithRevert", (("opIndex", "uint256"), ("reason", "string"), ("inner", "bytes"))),
    ErrorAbi("PostOpReverted", (("returnData", "bytes"),)),
)
_ERROR_STRING, _PANIC = bytes.fromhex("08c379a0"), bytes.fromhex("4e487b71")


def errors_of(contract_abi: Iterable[Mapping[str, Any]]) -> list[ErrorAbi]:
    """Return the custom errors that a contract's JSON ABI declares."""
    entries = (entry for entry in contract_abi if entry.get("type") == "error")
    return [ErrorAbi(entry["name"], tuple((i["name"], i["type"]) for i in entry["inputs"])) for entry in entries]


def decode_revert(data: bytes, errors: Iterable[ErrorAbi] = ()) -> str:
    """Return revert data as text. Never raises, whatever data a contract returns."""
    return _decode(data, {error.selector: error for error in (*_STANDARD, *errors)}, _MAX_DEPTH)


def _decode(data: bytes, known: dict[bytes, ErrorAbi], depth: int) -> str:
    if not data:
        return "reverted without a reason"
    selector, body = data[:4], data[4:]
    try:
        if selector == _ERROR_STRING:
            return _text(body, 0)
        if selector == _PANIC:
            return _panic(int.from_bytes(abi.word(body, 0)))
        if selector in known and depth:
            return _custom(known[selector], body, known, depth - 1)
    except ValueError:
        pass
    return "unknown error 0x" + data[:_MAX_TEXT].hex()


def _panic(code: int) -> str:
    return f"panic 0x{code:02x} ({_PANICS.get(code, 'unknown code')})"


def _custom(error: ErrorAbi, body: bytes, known: dict[bytes, ErrorAbi], depth: int) -> str:
    shown = [f"{name}={_value(kind, body, at, known, depth)}" for at, (name, kind) in enumerate(error.arguments)]
    return f"{error.name}({', '.join(shown)})"


def _value(kind: str, body: bytes, at: int, known: dict[bytes, ErrorAbi], depth: int) -> str:
    if kind == "string":
        return _text(body, at)
    if kind == "bytes":
        inner = abi.content(body, abi.word(body, at))
        is_revert = len(inner) % abi.WORD == 4  # noqa: PLR2004 - a selector and whole words
        return _decode(inner, known, depth) if is_revert else "0x" + inner[:_MAX_TEXT].hex()
    word = abi.word(body, at)
    if kind == "address":
        return checksum_address(abi.address(word))
    if kind.startswith("uint"):
        return str(int.from_bytes(word))
    if kind.startswith("int"):
        return str(int.from_bytes(word, signed=True))
    return str(abi.boolean(word)).lower() if kind == "bool" else "0x" + word.hex()


def _text(body: bytes, at: int) -> str:
    return printable(abi.content(body, abi.word(body, at))[:_MAX_TEXT].decode(errors="replace"))
