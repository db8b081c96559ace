"""Inputs for tools/fuzz_enclave.py: test vectors, a table of normal calls, and mutations of both."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import random

ROOT = Path(__file__).resolve().parent.parent
AWKWARD: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 255, 256, 2**31, 2**53, 2**63 - 1, -(2**63), 2**64, 10**40, 0.5, -0.0, 1e308),
    *(
        "",
        "0",
        "0x",
        "0x0",
        "0xzz",
        "A",
        "====",
        "\x00",
        "\ud7ff",
        "é",
        "a" * 300,
        "/",
        "//",
        ".",
        "..",
        "did:key:z",
        "did:",
    ),
    *("resource:accounts action:list", "resource:tokens action:get", "C", "B", "P-256", "secp256k1", "new Date"),
    *([], {}, [[]], [None], [256], [1, 2, 3], {"/": "x"}, {"/": {"bytes": "AA"}}, {"": {}}, [[[[[[[[[[]]]]]]]]]]),
)
CBOR_HEADS = (0, 0x18, 0x1B, 0x3B, 0x5B, 0x7B, 0x7F, 0x80, 0x9B, 0xBB, 0xD8, 0xFB, 0xFF)
LONGEST_SEED = 20_000  # characters
HOST_KEY = {"kind": "secret", "secret": base64.b64encode(bytes(range(32))).decode()}
RESOURCES = (
    *("accounts", "credentials", "sessions", "grants", "enclaves", "delegations", "ucans", "verification_methods"),
    *("services", "service_configs", "tokens", "invocations", "sync", "oidc"),
)
ACTIONS = (
    *("list", "get", "create", "update", "delete", "sign", "derive", "set_default", "revoke", "delegate", "verify"),
    *("refresh", "rotate"),
)
# Arguments that suit every resource: all columns at once, with "1" as the key by which rows refer to each other.
ROW = {
    **dict.fromkeys(("id", "cid", "credential_id", "session_id", "service_id", "subject", "client_id"), "1"),
    **dict.fromkeys(("label", "name", "type", "endpoint", "value", "kind", "status", "role", "grantee", "issuer"), "a"),
    **dict.fromkeys(("did", "to", "purpose", "controller", "device"), "did:web:example.org"),
    "command": "/accounts",
    "limit": 2,
    "public_key": "AAAA",
    "scopes": ["s"],
    "transports": ["usb"],
    "expires_at": "2030-01-01T00:00:00Z",
    "address": "0x" + "22" * 20,
    "chain_id": "1",
    "digest": "11" * 32,
}
# Normal calls, for functions whose test vectors contain none.
SEEDS: dict[str, list[dict[str, Any]]] = {
    "exec": [
        {"filter": f"resource:{resource} action:{action}", "args": ROW} for resource in RESOURCES for action in ACTIONS
    ],
    "sign": [{"digest": "00" * 32}, {"digest": "ff" * 32, "deterministic": True}],
    "unlock": [{"key": HOST_KEY}],
    "add_wrap": [{"key": {**HOST_KEY, "id": "second"}}],
    "remove_wrap": [{"kind": "secret", "id": "second"}],
    "set_auto_lock": [{"idle_seconds": 0}, {"idle_seconds": 600}],
    "query": [{"did": ""}],
    "derive_address": [{"chain": chain, "form": "p2wpkh"} for chain in ("ethereum", "bitcoin", "cosmos")],
    "refresh_shares": [{"rotate": True}],
    "mint_ucan": [{"to": "did:web:example.org", "command": "/accounts", "caveats": {"limit": 3}, "expiration": 2**33}],
    "invoke_ucan": [{"command": "/accounts/list", "args": {"limit": 3}}],
    "export": [{"password": "correct horse battery staple"}],
    "import": [{"password": "correct horse battery staple", "data": "TVRSVgE="}],
    "verify_signature": [{"public_key": "04" + "11" * 64, "digest": "00" * 32, "signature": "22" * 64}],
    "create_registration": [{"sender": "0x" + "11" * 20, "alias": "alice", "cid": "bafy", "chain_id": 84532}],
}
BINARY = re.compile(r"^(0x[0-9a-f]{2,}|[A-Za-z0-9+/_-]{8,}={0,2})$")


def corpus() -> dict[str, list[dict[str, Any]]]:
    """Return the initial inputs for each function, from the test vectors and from the table in this file."""
    found: dict[str, list[dict[str, Any]]] = {function: list(seeds) for function, seeds in SEEDS.items()}
    found["version"] = [{}]
    for path in sorted((ROOT / "vectors").rglob("*.json")):
        content = json.loads(path.read_text())
        for case in content.get("cases", []) if "function" in content else []:
            for step in case.get("steps", [case]):
                function = step.get("function", content["function"])
                given = step.get("input")
                if given is not None and len(json.dumps(given)) < LONGEST_SEED:
                    found.setdefault(function, []).append(given)
    return found


def bend(rng: random.Random, value: Any, words: list[Any]) -> Any:
    """Return the value with a few random mutations."""
    bent = json.loads(json.dumps(value))
    for _ in range(rng.choice((0, 1, 1, 1, 2, 3, 6))):
        bent = _bend_once(rng, bent, words)
    return bent if isinstance(bent, dict) else {"value": bent}


def _bend_once(rng: random.Random, value: Any, words: list[Any]) -> Any:
    if isinstance(value, dict) and value and chance(rng, 90):
        return _bend_object(rng, value, words)
    if isinstance(value, list) and value and chance(rng, 90):
        return _bend_list(rng, value, words)
    if isinstance(value, str) and BINARY.match(value) and chance(rng, 70):
        return _bend_binary(rng, value)
    if isinstance(value, int) and not isinstance(value, bool) and chance(rng, 50):
        return value + rng.choice((-1, 1, -256, 256, 2**31, -(2**33)))
    return rng.choice(AWKWARD) if chance(rng, 70) else rng.choice(words)


def _bend_object(rng: random.Random, value: dict[str, Any], words: list[Any]) -> dict[str, Any]:
    name = rng.choice(list(value))
    if chance(rng, 10):
        return {other: kept for other, kept in value.items() if other != name}
    if chance(rng, 5):
        return {**value, rng.choice((name + "x", "", "error", name.upper())): value[name]}
    return {**value, name: _bend_once(rng, value[name], words)}


def _bend_list(rng: random.Random, value: list[Any], words: list[Any]) -> list[Any]:
    at = rng.randrange(len(value))
    if chance(rng, 15):
        return value[:at] + value[at + 1 :]
    if chance(rng, 15):
        return value + value[at:]
    return [*value[:at], _bend_once(rng, value[at], words), *value[at + 1 :]]


def _bend_binary(rng: random.Random, text: str) -> str:
    is_hex = text.startswith("0x")
    try:
        data = (
            bytes.fromhex(text[2:])
            if is_hex
            else base64.b64decode(text + "==", altchars=b"-_" if "_" in text else None)
        )
    except ValueError:
        return text[: rng.randrange(len(text))]
    bent = damage(rng, data)
    return "0x" + bent.hex() if is_hex else base64.b64encode(bent).decode()


def damage(rng: random.Random, data: bytes) -> bytes:
    """Return the bytes with one to four random mutations: flips, cuts, insertions, repeats or false lengths."""
    bent = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        rng.choice(DAMAGES)(rng, bent, rng.randrange(len(bent) + 1))
    return bytes(bent)


def _flip(rng: random.Random, bent: bytearray, at: int) -> None:
    bent[at : at + 1] = bytes(byte ^ 1 << rng.randrange(8) for byte in bent[at : at + 1])


def _awkward_head(rng: random.Random, bent: bytearray, at: int) -> None:
    bent[at : at + 1] = bytes([rng.choice(CBOR_HEADS)])


def _cut(_rng: random.Random, bent: bytearray, at: int) -> None:
    del bent[at:]


def _insert(rng: random.Random, bent: bytearray, at: int) -> None:
    bent[at:at] = rng.randbytes(rng.randrange(1, 9))


def _repeat(rng: random.Random, bent: bytearray, at: int) -> None:
    bent[at:at] = bent[at : at + rng.randrange(1, 64)]


DAMAGES = (_flip, _flip, _flip, _awkward_head, _cut, _insert, _repeat)


def chance(rng: random.Random, percent: int) -> bool:
    """Return True with this probability."""
    return rng.randrange(100) < percent
