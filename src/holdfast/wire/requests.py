"""The input of each endpoint. The first name of a field is the one used in responses and documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import msgspec
from msgspec import UNSET, Meta, Raw, Struct, UnsetType

if TYPE_CHECKING:
    from collections.abc import Mapping

_HANDLE = "handle"


class Input(Struct, frozen=True, kw_only=True):
    """Base of all requests. A field without a default is required; a value of the wrong type counts as absent.

    Attributes:
        OTHER_NAMES: other names under which a field may be sent, in order of preference.
        STRICT: whether a value of the wrong type is refused, as the protocols of others require.
        LISTS: fields of a strict query that may be repeated, which is the same as one list separated by commas.
    """

    OTHER_NAMES: ClassVar[dict[str, tuple[str, ...]]] = {}
    STRICT: ClassVar[bool] = False
    LISTS: ClassVar[frozenset[str]] = frozenset()

    @classmethod
    def completed(cls, fields: Mapping[str, object]) -> Mapping[str, object]:
        """Return the request, with missing fields derived from the others where possible."""
        return fields


class PredictAddress(Input, frozen=True, kw_only=True):
    """GET /api/accounts/predict."""

    pub_key_x: str = msgspec.field(name="pubKeyX")
    pub_key_y: str = msgspec.field(name="pubKeyY")
    salt: str = "0"


class ReadAccount(Input, frozen=True, kw_only=True):
    """GET /api/accounts/state."""

    account: str


class ReadBalance(Input, frozen=True, kw_only=True):
    """GET /api/balance."""

    account: str
    token: str
    chain_id: str = msgspec.field(name="chainId")


class LookUpDid(Input, frozen=True, kw_only=True):
    """GET /api/dids/lookup."""

    credential_id: str = msgspec.field(name="credentialId")


class NameOfSnapshots(Input, frozen=True, kw_only=True):
    """GET /api/snapshots/name."""

    credential_id: str = msgspec.field(name="credentialId")


class CheckAlias(Input, frozen=True, kw_only=True):
    """GET /api/aliases/check."""

    alias: str


class OpenSession(Input, frozen=True, kw_only=True):
    """POST /api/sessions. If only `handle` is given, the channel is "handle"."""

    OTHER_NAMES = {"identifier": (_HANDLE,)}

    identifier: str
    channel: str
    did: str

    @classmethod
    def completed(cls, fields: Mapping[str, object]) -> Mapping[str, object]:
        """See Input."""
        if _text(fields, "channel") or _text(fields, "identifier") or not _text(fields, _HANDLE):
            return fields
        return {**fields, "channel": _HANDLE}


class CheckSession(Input, frozen=True, kw_only=True):
    """GET /api/sessions/check."""

    OTHER_NAMES = {"identifier": (_HANDLE,)}

    identifier: str
    channel: str = _HANDLE


class SendCode(Input, frozen=True, kw_only=True):
    """POST /api/verify/send."""

    identifier: str
    channel: str


class CheckCode(Input, frozen=True, kw_only=True):
    """POST /api/verify/check."""

    identifier: str
    channel: str
    code: str


class ReadVerification(Input, frozen=True, kw_only=True):
    """GET /api/verify/status."""

    identifier: str
    channel: str


class AskRecovery(Input, frozen=True, kw_only=True):
    """POST /api/recovery/send. Each new owner is a signer in 0x-hex; `account` is by default the DID's."""

    identifier: str
    channel: str
    new_owners: list[str] = msgspec.field(name="newOwners")
    account: str | None = None


class CheckRecovery(Input, frozen=True, kw_only=True):
    """POST /api/recovery/check."""

    request: str
    code: str


class SignRecovery(Input, frozen=True, kw_only=True):
    """POST /api/recovery/sign."""

    account: str
    new_owners: list[str] = msgspec.field(name="newOwners")


class StopRecovery(Input, frozen=True, kw_only=True):
    """POST /api/recovery/stop."""

    request: str


_entries = msgspec.json.Decoder(dict[str, str]).decode
NO_TRANSACTION = "0x" + "00" * 32
"""What `txHash` contains in a registration that was not sent to a chain."""


class RegisterDid(Input, frozen=True, kw_only=True):
    """POST /api/dids. A channel other than "handle" needs the attestation from POST /api/verify/check."""

    OTHER_NAMES = {"identifier": (_HANDLE, "name")}

    credential_id: str = msgspec.field(name="credentialId")
    identifier: str
    channel: str
    did: str
    tx_hash: str = msgspec.field(name="txHash")
    block_number: int | None = msgspec.field(name="blockNumber", default=None)
    smart_account: str | None = msgspec.field(name="smartAccount", default=None)
    attestation: Any = None


class CallBundler(Input, frozen=True, kw_only=True):
    """POST /api/bundler: one JSON-RPC 2.0 request.

    Its parameters are only checked for being JSON: decoding half a megabyte takes too long.
    """

    STRICT = True

    jsonrpc: Annotated[Raw, Meta(extra_json_schema={"type": "string"})] | UnsetType = UNSET
    id: Annotated[Raw, Meta(extra_json_schema={"type": "integer"})] | UnsetType = UNSET
    method: str
    params: Annotated[Raw, Meta(extra_json_schema={"type": "array"})] | UnsetType = UNSET


def _text(fields: Mapping[str, object], name: str) -> bool:
    value = fields.get(name)
    return type(value) is str and bool(value)


class ImportSnapshot(Input, frozen=True, kw_only=True):
    """POST /api/v0/dag/import: its query."""

    pin_roots: str | None = msgspec.field(name="pin-roots", default=None)
    stats: str | None = None


class ListPins(Input, frozen=True, kw_only=True):
    """GET /pins. `meta` is a JSON object, or is sent as one parameter `meta[name]` per entry."""

    STRICT = True
    LISTS = frozenset({"cid", "status"})

    cid: str | None = None
    name: str | None = None
    match: str | None = None
    status: str | None = None
    before: str | None = None
    after: str | None = None
    limit: str | None = None
    meta: str | None = None

    @classmethod
    def completed(cls, fields: Mapping[str, object]) -> Mapping[str, object]:
        """See Input."""
        entries = {name[5:-1]: value for name, value in fields.items() if name[:5] == "meta[" and name[-1] == "]"}
        if not entries:
            return fields
        try:
            meta = _entries(str(fields.get("meta") or "{}"))
        except (msgspec.DecodeError, RecursionError):
            return fields  # its value is refused
        return {**fields, "meta": msgspec.json.encode({**meta, **entries}).decode()}


class PinSnapshot(Input, frozen=True, kw_only=True):
    """POST /pins, POST /pins/{requestid}."""

    STRICT = True

    cid: str
    name: str | None = None
    origins: list[str] | None = None
    meta: dict[str, str] | None = None


class ReadBlock(Input, frozen=True, kw_only=True):
    """GET /ipfs/{path}."""

    format: str | None = None
    filename: str | None = None
    dag_scope: str | None = msgspec.field(name="dag-scope", default=None)
    entity_bytes: str | None = msgspec.field(name="entity-bytes", default=None)
    car_version: str | None = msgspec.field(name="car-version", default=None)
    car_order: str | None = msgspec.field(name="car-order", default=None)
    car_dups: str | None = msgspec.field(name="car-dups", default=None)


class ReadRecord(Input, frozen=True, kw_only=True):
    """GET /ipns/{path}."""

    format: str | None = None
    filename: str | None = None
