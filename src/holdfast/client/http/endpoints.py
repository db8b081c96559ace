"""Every endpoint of the service (interface section "Endpoints"), one function each. None leaves a field out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import msgspec

from holdfast.client.http.calls import Call, Reader, Reply, as_bytes, as_json, as_text, as_type
from holdfast.client.http.json_rpc import read_json_rpc
from holdfast.client.types import GetAccountStateInput, GetSmartAccountAddressInput, service

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from holdfast.wire.models import Attestation


def contracts() -> Call[service.ContractSet]:
    """GET /api/contracts."""
    return _get("/api/contracts", as_type(service.ContractSet))


def status() -> Call[service.Status]:
    """GET /api/status."""
    return _get("/api/status", as_type(service.Status))


def predict(
    pub_key_x: str | GetSmartAccountAddressInput, pub_key_y: str, salt: str | int, vault_url: str | None
) -> Call[str]:
    """GET /api/accounts/predict, for coordinates and a salt, or for the interface's input."""
    if isinstance(pub_key_x, GetSmartAccountAddressInput):
        given = pub_key_x
        return predict(given.pub_key_x, given.pub_key_y, given.salt, vault_url or given.vault_url)
    query = {"pubKeyX": pub_key_x, "pubKeyY": pub_key_y, "salt": str(salt)}
    return _get("/api/accounts/predict", _predicted, query, vault_url)


def account_state(account: str | GetAccountStateInput, vault_url: str | None) -> Call[service.AccountState]:
    """GET /api/accounts/state, for an address, or for the interface's input."""
    if isinstance(account, GetAccountStateInput):
        return account_state(account.account, vault_url or account.vault_url)
    return _get("/api/accounts/state", as_type(service.AccountState), {"account": account}, vault_url)


def balance(account: str, token: str, chain_id: int) -> Call[service.Balance]:
    """GET /api/balance."""
    return _get(
        "/api/balance", as_type(service.Balance), {"account": account, "token": token, "chainId": str(chain_id)}
    )


def registration_counters() -> Call[service.RegistrationCounters]:
    """GET /api/sessions/status."""
    return _get("/api/sessions/status", as_type(service.RegistrationCounters))


def lookup_did(credential_id: str) -> Call[service.DidRecord | None]:
    """GET /api/dids/lookup."""
    return _get("/api/dids/lookup", _record, {"credentialId": credential_id})


def check_alias(alias: str) -> Call[service.AliasAvailability]:
    """GET /api/aliases/check."""
    return _get("/api/aliases/check", as_type(service.AliasAvailability), {"alias": alias})


def create_session(identifier: str, channel: str, did: str) -> Call[service.SessionCreated]:
    """POST /api/sessions."""
    body = {"identifier": identifier, "channel": channel, "did": did}
    return _post("/api/sessions", as_type(service.SessionCreated), body)


def check_session(identifier: str, channel: str) -> Call[service.Availability]:
    """GET /api/sessions/check."""
    return _get("/api/sessions/check", as_type(service.Availability), {"identifier": identifier, "channel": channel})


def send_code(identifier: str, channel: str) -> Call[service.CodeSent]:
    """POST /api/verify/send."""
    return _post("/api/verify/send", as_type(service.CodeSent), {"identifier": identifier, "channel": channel})


def check_code(identifier: str, channel: str, code: str) -> Call[service.CodeCheck]:
    """POST /api/verify/check."""
    body = {"identifier": identifier, "channel": channel, "code": code}
    return _post("/api/verify/check", as_type(service.CodeCheck), body)


def verification_status(identifier: str, channel: str) -> Call[service.VerificationStatus]:
    """GET /api/verify/status."""
    query = {"identifier": identifier, "channel": channel}
    return _get("/api/verify/status", as_type(service.VerificationStatus), query)


def register_did(fields: Mapping[str, Any], attestation: Attestation | None) -> Call[service.DidRegistered]:
    """POST /api/dids."""
    body = {name: value for name, value in fields.items() if value is not None}
    if attestation is not None:
        body["attestation"] = msgspec.to_builtins(attestation)
    return _post("/api/dids", as_type(service.DidRegistered), body)


def bundler(method: str, params: Sequence[Any], request_id: int) -> Call[Any]:
    """POST /api/bundler; the JSON-RPC result."""
    body = {"jsonrpc": "2.0", "id": request_id, "method": method, "params": list(params)}
    return _post("/api/bundler", lambda reply: read_json_rpc(reply, request_id), body)


def indexer_did(did_hash: str) -> Call[service.IndexerDid]:
    """GET /api/indexer/api/dids/{did_hash}."""
    return _indexed("dids", did_hash, as_type(service.IndexerDid))


def indexer_alias(alias_hash: str) -> Call[service.IndexerAlias]:
    """GET /api/indexer/api/aliases/{alias_hash}."""
    return _indexed("aliases", alias_hash, as_type(service.IndexerAlias))


def indexer_account(address: str) -> Call[service.IndexerAccount]:
    """GET /api/indexer/api/accounts/{address}."""
    return _indexed("accounts", address, as_type(service.IndexerAccount))


def indexer_accounts(query: Mapping[str, str]) -> Call[Any]:
    """GET /api/indexer/api/accounts; its form is the indexer's own."""
    return _get("/api/indexer/api/accounts", as_json, query)


def indexer_stats() -> Call[service.IndexerStats]:
    """GET /api/indexer/api/stats."""
    return _get("/api/indexer/api/stats", as_type(service.IndexerStats))


def indexer_events(query: Mapping[str, str]) -> Call[Any]:
    """GET /api/indexer/api/events; its form is the indexer's own."""
    return _get("/api/indexer/api/events", as_json, query)


def indexer_health() -> Call[service.IndexerHealth]:
    """GET /api/indexer/health."""
    return _get("/api/indexer/health", as_type(service.IndexerHealth))


def workflow() -> Call[Any]:
    """GET /api/workflow; its form is the engine's own."""
    return _get("/api/workflow", as_json)


def register_workflow(body: Mapping[str, Any]) -> Call[Any]:
    """PUT /api/workflow."""
    return Call(method="PUT", path="/api/workflow", read=as_json, body=body)


def run_workflow(query: Mapping[str, str], body: Mapping[str, Any]) -> Call[Any]:
    """POST /api/workflow."""
    return Call(method="POST", path="/api/workflow", read=as_json, query=query, body=body)


def enclave_wasm() -> Call[bytes]:
    """GET /enclave.wasm, not yet verified."""
    return _get("/enclave.wasm", as_bytes)


def payment_worker() -> Call[str]:
    """GET /pay/sw.js."""
    return _get("/pay/sw.js", as_text)


def payment_page() -> Call[str]:
    """GET /pay/confirm."""
    return _get("/pay/confirm", as_text)


def payment_manifest() -> Call[Any]:
    """GET /pay/manifest.json."""
    return _get("/pay/manifest.json", as_json)


def payment_method() -> Call[Any]:
    """GET /pay/payment-method.json: what /.well-known/payment-method-manifest leads to."""
    return _get("/pay/payment-method.json", as_json)


def _get(
    path: str, read: Reader[Any], query: Mapping[str, str] | None = None, base_url: str | None = None
) -> Call[Any]:
    return Call(method="GET", path=path, read=read, query=query or {}, base_url=base_url)


def _post(path: str, read: Reader[Any], body: Mapping[str, Any]) -> Call[Any]:
    return Call(method="POST", path=path, read=read, body=body)


def _indexed(kind: str, key: str, read: Reader[Any]) -> Call[Any]:
    return _get(f"/api/indexer/api/{kind}/{quote(key, safe='')}", read)


def _predicted(reply: Reply) -> str:
    return msgspec.json.decode(reply.content, type=service.PredictedAddress).address


def _record(reply: Reply) -> service.DidRecord | None:
    answer = msgspec.json.decode(reply.content)
    if not isinstance(answer, dict) or type(answer.get("found")) is not bool:
        raise ValueError("no record")
    return service.DidRecord.from_json(answer) if answer["found"] else None
