"""Reads an operator's chain file: rows that add chains to the known ones or change what is known of one.

    [[chain]]
    id = 8453
    rpc = "https://base.example/v2/KEY"

    [[chain]]
    id = 4217
    name = "Our chain"
    rpc = "https://rpc.our.example"
    explorer = "https://explorer.our.example"
    tokens = { USDC = "0x…" }
    real_money = true

Errors name the row and the field, but never a value.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holdfast.rules.chains import CHAINS, Chain
from holdfast.settings.parsers import chain_address, http_url, public_url, shown_name

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

MAX_CHAIN_ID = 2**53 - 1  # the largest number that JavaScript reads exactly
_MAX_BYTES = 256 * 1024
_REQUIRED = ("name", "rpc", "real_money")


@dataclass(frozen=True, slots=True)
class ChainFile:
    """A chain file's path and its chains by ID."""

    path: Path
    chains: Mapping[int, Chain] = field(repr=False)

    def __str__(self) -> str:
        """Return the path."""
        return str(self.path)


def chain_file(text: str) -> ChainFile:
    """Parse the file at a path. Raises ValueError with the row and the field that cannot be used."""
    path = Path(text)
    try:
        body = path.read_bytes()[: _MAX_BYTES + 1]
    except OSError as error:
        raise ValueError(f"the file cannot be read ({error.strerror})") from None
    if len(body) > _MAX_BYTES:
        raise ValueError(f"the file has more than {_MAX_BYTES // 1024} KiB")
    return ChainFile(path, _chains(_table(body)))


def known_chains(file: ChainFile | None) -> Mapping[int, Chain]:
    """Return the chains that Holdfast knows and those of the file, whose rows take priority."""
    return {**CHAINS, **(file.chains if file else {})}


def _table(body: bytes) -> dict[str, Any]:
    try:
        return tomllib.loads(body.decode())
    except UnicodeDecodeError:
        raise ValueError("the file is not UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"the file is not TOML ({_where(error)})") from None


def _where(error: tomllib.TOMLDecodeError) -> str:
    """Return the error's place, without its words, which may quote the file."""
    _, found, position = str(error).rpartition("(at ")
    return position.rstrip(")") if found else "at an unknown place"


def _chains(table: dict[str, Any]) -> dict[int, Chain]:
    rows = table.get("chain")
    if set(table) != {"chain"} or not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise ValueError("each chain begins with a line [[chain]], and nothing stands outside of them")
    chains: dict[int, Chain] = {}
    for number, row in enumerate(rows, 1):
        chain = _chain(f"chain {number} of the file", row)
        if chain.chain_id in chains:
            raise ValueError(f"chain {number} of the file: the id {chain.chain_id} stands there twice")
        chains[chain.chain_id] = chain
    return chains


def _chain(where: str, row: dict[str, Any]) -> Chain:
    chain_id = row.get("id")
    if type(chain_id) is not int or not 0 < chain_id <= MAX_CHAIN_ID:
        raise ValueError(f"{where}: `id` must be the chain's ID, a whole number")
    values = _values(f"{where} (id {chain_id})", {name: value for name, value in row.items() if name != "id"})
    if chain_id in CHAINS:
        return _changed(where, CHAINS[chain_id], values)
    missing = [name for name in _REQUIRED if name not in row]
    if missing:
        raise ValueError(f"{where} (id {chain_id}): `{'`, `'.join(missing)}` must be given")
    return Chain(chain_id=chain_id, **{"explorer": "", **values})


def _changed(where: str, known: Chain, values: dict[str, Any]) -> Chain:
    """Return a known chain with what the row changes. Whether its money is real, no operator decides."""
    if values.get("test_money", known.test_money) is not known.test_money:
        money = "test money" if known.test_money else "real money"
        raise ValueError(f"{where} (id {known.chain_id}): `real_money`: {known.name} has {money}; leave the field out")
    return replace(known, **values)


def _values(where: str, row: dict[str, Any]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, value in row.items():
        if name not in _FIELDS:
            shown = name if name.isprintable() else ascii(name)
            raise ValueError(f"{where}: `{shown}` is not a field; there are `id`, `{'`, `'.join(_FIELDS)}`")
        try:
            values |= _FIELDS[name](value)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{where}: `{name}`: {error}") from None
    return values


def _text(field_name: str, parse: Callable[[str], str]) -> Callable[[Any], dict[str, Any]]:
    def read(value: Any) -> dict[str, Any]:
        if not isinstance(value, str):
            raise TypeError("a text in quotation marks is needed")
        return {field_name: parse(value)}

    return read


def _real_money(value: Any) -> dict[str, Any]:
    if not isinstance(value, bool):
        raise TypeError("true or false is needed")
    return {"test_money": not value}


def _tokens(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict) or not set(value) <= {"USDC"}:
        raise TypeError('a table such as { USDC = "0x…" } is needed; Holdfast names no other token')
    return {"usdc": None} if not value else _text("usdc", chain_address)(value["USDC"])


_FIELDS: dict[str, Callable[[Any], dict[str, Any]]] = {
    "name": _text("name", shown_name),
    "rpc": _text("rpc", http_url),
    "public_rpc": _text("public_rpc", public_url),
    "bundler": _text("bundler", http_url),
    "explorer": _text("explorer", public_url),
    "tokens": _tokens,
    "real_money": _real_money,
}
