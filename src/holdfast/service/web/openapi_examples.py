"""The examples of the OpenAPI document: what is sent to each endpoint, and what it returns.

tests/service/web/test_openapi.py compares each example with its schema, sends it, and compares the forms of the
responses. Pages, scripts and binary formats have none.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from msgspec.structs import fields

from holdfast import __version__
from holdfast.rules.crawlers import robots_text, security_text
from holdfast.rules.did_documents import OnChain, RegistryLocation, document_of, metadata_of, service_document
from holdfast.rules.resolution import result_of
from holdfast.wire.models import PersonExport

if TYPE_CHECKING:
    from collections.abc import Mapping

_DID = "did:new:0x" + "1c" * 32
_MAIL = "ann@example.com"
_SERVICE, _REGISTRAR = "https://vault.example", "did:web:vault.example"
_ACCOUNT = "0x" + "00" * 19 + "01"
_KEY = ("0x" + "11" * 32, "0x" + "22" * 32)
_SIGNER = (
    "0x6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296"
    "4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5"
)
_SIGNATURE, _REQUEST, _TRANSACTION = "0x" + "5a" * 32, "5a" * 16, "0x" + "aa" * 32
_TIME, _LATER, _EPOCH = "2026-11-23T12:00:00Z", "2026-11-23T12:05:00Z", 1795435200
_CHAIN = 84532
_ROOT = "bafyreierd4fej4vgukopygmrrabqfca5zaipzbaysy47dmb7lvsogfbtra"  # "a short vault" of vectors/snapshots
_NAME = "k51qzi5uqu5djmw2yvf8kk5cdjc1ddc00o4d5sjwi6f79xzcay9j3gkddw5uu4"  # of vectors/ipns
_PIN_ID = "5f8a1f0e"
_PIN: dict[str, Any] = {"cid": _ROOT, "name": "laptop"}
_STATE = {"nonce": "0", "did": "0x" + "1c" * 32, "isActive": True, "pubKeyX": _KEY[0], "pubKeyY": _KEY[1]}
_CALL = {"jsonrpc": "2.0", "id": 1, "method": "eth_supportedEntryPoints", "params": []}
_RESULT = {"jsonrpc": "2.0", "id": 1, "result": [_ACCOUNT]}
_REPORT = {"requestid": _PIN_ID, "status": "pinned", "created": _TIME, "pin": _PIN, "delegates": []}
_FOUND = OnChain(bytes(19) + b"\x01", active=True, key=(int(_SIGNER[2:66], 16), int(_SIGNER[66:], 16)))
_LOCATION = RegistryLocation(_CHAIN, bytes(19) + b"\x01")
_NO_ROWS: dict[str, Any] = {
    row.encode_name: [] for row in fields(PersonExport) if row.name not in {"did", "exported_at"}
}
IDEMPOTENCY_KEY = "6f9619ff-8b86-4d01-b42d-00cf4fc964ff"


@dataclass(frozen=True, slots=True)
class Example:
    """What is sent to an endpoint, and what it returns.

    Attributes:
        request: the fields of the path, of the query or of the JSON body, by their names.
        response: the response's body; None if it is not JSON or plain text.
    """

    request: Mapping[str, Any] = field(default_factory=dict)
    response: Any = None


EXAMPLES: dict[str, Example] = {
    "create_session": Example(
        {"identifier": "ann", "channel": "handle", "did": _DID},
        {"ok": True, "identifier": "ann", "channel": "handle", "did": _DID},
    ),
    "check_session": Example({"identifier": "bob", "channel": "handle"}, {"available": True, "reason": None}),
    "registration_counters": Example({}, {"ip_registrations": 1, "ip_limit": 3, "total_registrations": 1}),
    "send_code": Example({"identifier": _MAIL, "channel": "email"}, {"ok": True, "channel": "email"}),
    "check_code": Example(
        {"identifier": _MAIL, "channel": "email", "code": "271828"},
        {
            "ok": True,
            "verified": True,
            "attestation": {
                "identifier": _MAIL,
                "channel": "email",
                "verified_at": _TIME,
                "expires_at": _LATER,
                "registrar": _REGISTRAR,
                "signature": _SIGNATURE,
            },
        },
    ),
    "verification_status": Example(
        {"identifier": _MAIL, "channel": "email"},
        {"identifier": _MAIL, "channel": "email", "verified": True, "verifiedAt": _TIME},
    ),
    "register_did": Example(
        {"credentialId": "Y3JlZA", "identifier": "ann", "channel": "handle", "did": _DID, "txHash": _TRANSACTION},
        {"ok": True, "identifier": "ann", "channel": "handle", "txHash": _TRANSACTION},
    ),
    "lookup_did": Example(
        {"credentialId": "Y3JlZA"},
        {
            "found": True,
            "identifier": "ann",
            "channel": "handle",
            "did": _DID,
            "txHash": _TRANSACTION,
            "blockNumber": None,
            "smartAccount": None,
            "createdAt": _TIME,
        },
    ),
    "check_alias": Example({"alias": "ann"}, {"available": False, "did": _DID}),
    "contracts": Example(
        {},
        {
            "chainId": _CHAIN,
            "entryPoint": _ACCOUNT,
            "didRegistry": _ACCOUNT,
            "accountHelper": _ACCOUNT,
            "sessionSBT": _ACCOUNT,
            "appFactory": _ACCOUNT,
        },
    ),
    "bundler": Example(
        _CALL,
        _RESULT,
    ),
    "predict_address": Example({"pubKeyX": _KEY[0], "pubKeyY": _KEY[1], "salt": "0"}, {"address": _ACCOUNT}),
    "account_state": Example(
        {"account": _ACCOUNT},
        _STATE,
    ),
    "balance": Example(
        {"account": _ACCOUNT, "token": "USDC", "chainId": str(_CHAIN)},
        {"balance": "1500000", "decimals": 6, "symbol": "USDC", "formatted": "1.500000"},
    ),
    "chains": Example(
        {},
        {
            "chains": [
                {
                    "chainId": _CHAIN,
                    "name": "Base Sepolia",
                    "main": True,
                    "testMoney": True,
                    "rpc": "https://sepolia.base.org",
                    "explorer": "https://base-sepolia.blockscout.com",
                    "usdc": _ACCOUNT,
                    "payments": True,
                }
            ]
        },
    ),
    "bundler_of_chain": Example(
        {"chain_id": str(_CHAIN), **_CALL},
        _RESULT,
    ),
    "paymaster": Example(
        {"chain_id": str(_CHAIN), **_CALL, "method": "pm_getPaymasterStubData"},
        {**_RESULT, "result": {"paymaster": _ACCOUNT, "paymasterData": "0x"}},
    ),
    "account_state_on_chain": Example(
        {"chain_id": str(_CHAIN), "account": _ACCOUNT},
        _STATE,
    ),
    "status": Example(
        {}, {"chain": "Base Sepolia", "chainId": _CHAIN, "rpc": "https://rpc.example", "database": "connected"}
    ),
    "healthz": Example({}, {"ok": True}),
    "readyz": Example({}, {"ok": True}),
    "related_origins": Example({}, {"origins": ["https://app.example"]}),
    "payment_method": Example(
        {}, {"default_applications": [{"platform": "webapp", "manifest_url": "/pay/manifest.json"}]}
    ),
    "import_snapshot": Example(
        {"pin-roots": "true", "stats": "false"}, {"Root": {"Cid": {"/": _ROOT}, "PinErrorMsg": ""}}
    ),
    "list_pins": Example({"status": "pinned", "limit": "10"}, {"count": 1, "results": [_REPORT]}),
    "add_pin": Example(_PIN, _REPORT),
    "get_pin": Example({"requestid": _PIN_ID}, _REPORT),
    "replace_pin": Example({"requestid": _PIN_ID, **_PIN}, _REPORT),
    "remove_pin": Example({"requestid": _PIN_ID}),
    "ipfs": Example({"path": _ROOT, "format": "car"}),
    "ipns": Example({"path": _NAME, "format": "ipns-record"}),
    "routed_name": Example({"name": _NAME}),
    "publish_name": Example({"name": _NAME}, ""),
    "revoke_tokens": Example({}, {"revoked": True, "cid": None}),
    "name_of_snapshots": Example({"credentialId": "Y3JlZA"}, {"found": True, "name": _NAME}),
    "recovery_terms": Example(
        {}, {"guardian": _SIGNER, "guardians": [_SIGNER], "waitSeconds": 86400, "channels": ["email"]}
    ),
    "ask_recovery": Example(
        {"identifier": _MAIL, "channel": "email", "account": _ACCOUNT, "newOwners": [_SIGNER]},
        {"ok": True, "channel": "email", "request": _REQUEST},
    ),
    "check_recovery": Example(
        {"request": _REQUEST, "code": "271828"}, {"ok": True, "verified": True, "account": _ACCOUNT, "readyAt": _LATER}
    ),
    "sign_recovery": Example(
        {"account": _ACCOUNT, "newOwners": [_SIGNER]}, {"nonce": 0, "signer": _SIGNER, "signature": _SIGNATURE}
    ),
    "stop_recovery": Example({"request": _REQUEST}, {"stopped": False}),
    "indexer": Example({"path": "health"}, {"ok": True, "chain": _CHAIN}),
    "openapi": Example({}, {"openapi": "3.1.0", "info": {"title": "Holdfast", "version": __version__}, "paths": {}}),
    "security_txt": Example({}, security_text("mailto:security@vault.example", _SERVICE, _EPOCH)),
    "robots": Example({}, robots_text(pages=True)),
    "client_file": Example({"path": "holdfast.js"}),
    "payment_manifest": Example({}, {"name": "Holdfast", "start_url": "/pay/confirm", "scope": "/pay/"}),
    "workflow": Example({}, {"message": "ok"}),
    "register_workflow": Example({}, {"message": "ok"}),
    "run_workflow": Example({}, {"message": "ok"}),
    "export_person": Example({}, {"did": _DID, "exportedAt": _TIME, **_NO_ROWS}),
    "remove_of_person": Example({}, {"ok": True, "identifiers": 1, "credentials": 0, "snapshots": 0, "pins": 0}),
    "add_address": Example({}, {"ok": True, "identifier": _MAIL, "channel": "email"}),
    "resolve_did": Example(
        {"did": _DID}, result_of(document_of(_DID, _FOUND, _LOCATION), metadata_of(_DID, _FOUND, _LOCATION))
    ),
    "service_did": Example({}, service_document(_REGISTRAR, _SERVICE, snapshots=True)),
}
NO_EXAMPLE = Example()
