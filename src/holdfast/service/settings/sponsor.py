"""The settings of the service's own sponsor (docs/sponsoring.md)."""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass
from decimal import Decimal
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holdfast.rules.sponsoring import ACCOUNT, ANY, GWEI
from holdfast.settings.parsers import chain_address
from holdfast.settings.rows import SettingRow

if TYPE_CHECKING:
    from collections.abc import Mapping

_KEY = re.compile(r"(?:0x)?([0-9a-fA-F]{64})")
# Of secp256k1 (SEC 2, section 2.4.1).
_CURVE_ORDER = 0xFFFFFFFF_FFFFFFFF_FFFFFFFF_FFFFFFFE_BAAEDCE6_AF48A03B_BFD25E8C_D0364141
_AMOUNT = re.compile(r"[0-9]{1,7}(?:\.[0-9]{1,9})?")
REGISTRY, USDC = "registry", "usdc"
_NAMES = (REGISTRY, USDC, ACCOUNT, ANY)
_OTHERS = 0o077  # permission bits of group and others
PACKAGES = ("eth_abi", "eth_keys")


@dataclass(frozen=True, slots=True, repr=False)
class SponsorKey:
    """The private key of the sponsor. This class has no repr and no text, so that logs cannot contain the key."""

    secret: bytes

    def __str__(self) -> str:
        """Return stars."""
        return "***"


def _key(text: str) -> SponsorKey:
    """Parse a private key in hex, or the path of a file of mode 0600 that contains one."""
    if found := _KEY.fullmatch(text):
        return _of_curve(found[1])
    try:
        with Path(text).open(encoding="ascii") as file:
            if stat.S_IMODE(os.fstat(file.fileno()).st_mode) & _OTHERS:
                raise ValueError("others can read the key file: chmod 600 it first")
            found = _KEY.fullmatch(file.read(80).strip())
    except (OSError, UnicodeDecodeError):
        found = None
    if found is None:
        raise ValueError("a private key of 64 hex digits is needed, or the path of a file with one that can be read")
    return _of_curve(found[1])


def _of_curve(digits: str) -> SponsorKey:
    if not 0 < int(digits, 16) < _CURVE_ORDER:
        raise ValueError("this number is not a private key of the curve secp256k1: make another (holdfast keys new)")
    return SponsorKey(bytes.fromhex(digits))


def _installed(value: object, _values: Mapping[str, Any]) -> None:
    # Imported here, because only this setting needs it.
    from holdfast.wire.installing import install_command

    if value is not None and not all(map(find_spec, PACKAGES)):
        raise ValueError(f"it needs the extra: {install_command('sponsor')}; or unset it")


def _gwei(text: str, form: str = "ether such as 0.02") -> int:
    """Parse an amount with at most nine decimal places: of ether as gwei, or of gwei (`_fee`) as wei."""
    if not _AMOUNT.fullmatch(text):
        raise ValueError(f"an amount of {form} is needed, without a unit")
    return int(Decimal(text) * GWEI)


def _fee(text: str) -> int:
    return _gwei(text, "gwei such as 10")


def _contracts(text: str) -> dict[str, int | None]:
    """Parse names or addresses of contracts, each with `=` and an amount if it has a budget."""
    found: dict[str, int | None] = {}
    for part in text.split(","):
        name, _, amount = part.strip().partition("=")
        key = name if name in _NAMES else _address(name)
        if key in found:
            raise ValueError(f"{name} stands there twice")
        found[key] = _gwei(amount) if amount else None
    return found


def _address(name: str) -> str:
    try:
        return chain_address(name).lower()
    except ValueError:
        raise ValueError(f"each contract is one of {', '.join(_NAMES)}, or 0x and 40 hex digits") from None


def _chains(text: str) -> tuple[int, ...]:
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isascii() and part.isdigit() for part in parts):
        raise ValueError("IDs of chains, separated by commas, are needed")
    return tuple(dict.fromkeys(map(int, parts)))


SPONSOR_ROWS = (
    SettingRow(
        "HOLDFAST_SPONSOR_KEY",
        None,
        _key,
        "private key of the service's own sponsor, in hex, or the path of a file (mode 0600) that holds it",
        secret=True,
        fits=_installed,
    ),
    SettingRow(
        "HOLDFAST_SPONSOR_CHAINS", lambda values: str(values["chain"]), _chains, "IDs of the chains on which it pays"
    ),
    SettingRow("HOLDFAST_SPONSOR_DAY", "0.02", _gwei, "ETH that it spends in a day (UTC), on each chain"),
    SettingRow("HOLDFAST_SPONSOR_DID_DAY", "0.001", _gwei, "of this, ETH for one DID"),
    SettingRow(
        "HOLDFAST_SPONSOR_CONTRACTS",
        "registry,usdc,account",
        _contracts,
        "contracts whose calls it pays for, as `registry,usdc=0.01,0x…=0.005` with ETH per day; `account` is"
        " the account itself, `any` every other address",
    ),
    SettingRow("HOLDFAST_SPONSOR_MAX_FEE", "10", _fee, "the highest fee that it pays, in gwei per unit of gas"),
    SettingRow("HOLDFAST_SPONSOR_LOW", "0.01", _gwei, "ETH of its deposit below which operators are warned"),
)
