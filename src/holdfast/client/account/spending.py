"""A spending permission and the delegation that goes with it: what the two say of each other.

The account counts and enforces the permission. The delegation tells the app's key what it holds: its policy names the
account, its chain, and the permission by its ID. No device redeems it, so an app has one total.
"""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from holdfast.chain.account_calls import NOBODY, Permission
from holdfast.client.flows.accounts import ADDRESS, address_in
from holdfast.client.types import NATIVE
from holdfast.content import dag_cbor
from holdfast.content.errors import ContentError
from holdfast.wire.encoding import from_hex, to_hex

if TYPE_CHECKING:
    from collections.abc import Sequence

SPEND_COMMAND = "/accounts/spend"
_DID_NEW = re.compile(r"did:new:(0x[0-9a-f]{64})")
_ID = re.compile(r"0x[0-9a-f]{64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class SpendingTerms:
    """What a person lets an app spend.

    Attributes:
        to: the app's `did:new`, which is the hash of the key that may spend.
        token: an ERC-20 address, or "native".
        allowance: the most in one period, in the token's smallest unit.
        period: seconds; 0: all the time is one period.
        until: Unix time at which it ends; 0: never.
        payee: the only receiver, or None for any.
    """

    to: str
    token: str
    allowance: int
    period: int = 0
    until: int = 0
    payee: str | None = None


@dataclass(frozen=True, slots=True)
class Allowed:
    """What one act of the person wrote: the permission on the chain, and the delegation for the app."""

    permission: Permission
    container: str
    cid: str


@dataclass(frozen=True, slots=True)
class Spending:
    """Which permission a delegation stands for."""

    account: str
    chain_id: int
    permission_id: bytes


def permission_of(terms: SpendingTerms, start: int, salt: int) -> Permission:
    """Return the account's permission for the terms, from the Unix time `start`. Raises ValueError."""
    spender = _DID_NEW.fullmatch(terms.to)
    if spender is None:
        raise ValueError("to: the did:new of the app, whose key spends")
    return Permission(
        key_id=from_hex(spender[1]),
        token=NOBODY if terms.token == NATIVE else address_in(terms.token, "token"),
        allowance=terms.allowance,
        period=terms.period,
        start=start,
        until=terms.until,
        target=NOBODY if terms.payee is None else address_in(terms.payee, "payee"),
        salt=salt,
    )


def policy_of(account: str, chain_id: int, permission: Permission) -> list[Any]:
    """Return the policy of the delegation that goes with a permission."""
    payee = [] if permission.target == NOBODY else [["==", ".to", permission.target]]
    return [
        ["==", ".account", account],
        ["==", ".chainId", chain_id],
        ["==", ".permission", to_hex(permission.id)],
        ["==", ".token", token_of(permission)],
        *payee,
    ]


def token_of(permission: Permission) -> str:
    """Return the ERC-20 token that a permission is about, or "native"."""
    return NATIVE if permission.token == NOBODY else permission.token


def spending_in(policy: Sequence[Any]) -> Spending | None:
    """Return which permission a delegation's policy names, or None if it names none."""
    named = {statement[1]: statement[2] for statement in policy if len(statement) == 3 and statement[0] == "=="}  # noqa: PLR2004 - operator, selector, value
    account, chain_id, permission = (named.get(name) for name in (".account", ".chainId", ".permission"))
    if not ADDRESS.fullmatch(str(account)) or type(chain_id) is not int or not _ID.fullmatch(str(permission)):
        return None
    return Spending(str(account), chain_id, from_hex(str(permission)))


def spending_of_row(row: dict[str, Any]) -> Spending | None:
    """Return which permission a row of the vault's delegations stands for, or None if it is another delegation."""
    if row["command"] != SPEND_COMMAND:
        return None
    try:
        envelope: Any = dag_cbor.decode(base64.b64decode(row["token"]))
        payload = next(value for name, value in envelope[1].items() if name.startswith("ucan/dlg@"))
        return spending_in(payload["pol"])
    except (ContentError, LookupError, TypeError, AttributeError, StopIteration):
        return None
