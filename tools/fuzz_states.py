"""Inputs for tools/fuzz_enclave.py that need a valid state: sealed vaults with damaged content, pairings and tokens.

Random bytes never pass authenticated decryption or complete a pairing. To reach the code beyond these checks, honest
calls produce the state that a function needs, and the input that the function would then accept is mutated.
"""

from __future__ import annotations

import base64
import json
import struct
from typing import TYPE_CHECKING, Any

from argon2.low_level import Type, hash_secret_raw
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from fuzz_inputs import ACTIONS, HOST_KEY, RESOURCES, ROW, chance, damage

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

    from holdfast.enclave import Enclave

    RandomBytes = Callable[[int], bytes]
    Maker = Callable[[Enclave], dict[str, Any]]

# Functions that must be called without an open vault, and functions that need one; others work in both cases.
CLOSED = frozenset({"generate", "load", "unlock", "import", "sync_complete"})
CARELESS = frozenset({"version", "keccak256", "status", "lock", "parse_webauthn", "cid", "did_key", "evaluate_policy"})
OPERATION = {
    "user_op": dict.fromkeys(("nonce", "callGasLimit", "verificationGasLimit", "preVerificationGas"), "0x01")
    | {"maxFeePerGas": "0x1", "maxPriorityFeePerGas": "0x1", "sender": "0x" + "Ab" * 20, "callData": "0xAA"},
    "entry_point": "0x0000000071727De22E5E9d8BAf0edAc6f37da032",
    "chain_id": 1,
}
PASSWORD = "correct horse battery staple"
_WRAP = b"holdfast/vault-wrap/v1"
_SECRET = base64.b64decode(HOST_KEY["secret"])


class States:
    """Creates states and inputs around one valid vault.

    Args:
        rng: decides what is damaged.
        partner: another instance, for pairings.
        credential: the credential for `generate`.
    """

    def __init__(self, rng: random.Random, partner: Enclave, credential: object) -> None:
        self._rng = rng
        self._partner = partner
        made = ask(self._partner, "generate", credential=credential, key=HOST_KEY)
        self._sealed = base64.b64decode(made["database"])
        self._did = made["did"].encode()
        self._database = _opened(self._sealed)

    def prepare(self, enclave: Enclave, function: str) -> None:
        """Bring the instance into a state in which the function can do its work."""
        if function in CARELESS:
            return
        if function in CLOSED:
            ask(enclave, "lock")
        elif ask(enclave, "status")["locked"] and not ask(enclave, "unlock", key=HOST_KEY).get("success"):
            ask(enclave, "load", database=_text(self._sealed), key=HOST_KEY)

    def input(self, enclave: Enclave, function: str) -> dict[str, Any] | None:
        """Return an honest caller's input, mutated only in sealed or signed parts, or None if the vectors suffice."""
        makers: dict[str, Maker] = {
            "load": self._load,
            "unlock": self._load,
            "import": self._import,
            "exec": self._exec,
            "remove_wrap": self._removable,
            "verify_signature": self._signed,
            "verify_ucan": self._token,
            "inspect_ucan": self._token,
            "sync_compare": self._initiated,
            "sync_respond": self._responded,
            "sync_complete": self._completed,
        }
        maker = makers.get(function)
        return maker(enclave) if maker else None

    def close(self) -> None:
        """Close the partner instance."""
        self._partner.close()

    def _bent_database(self) -> bytes:
        return self._database if chance(self._rng, 20) else damage(self._rng, self._database)

    def _load(self, _enclave: Enclave) -> dict[str, Any]:
        return {"database": _text(_sealed(self._bent_database(), self._did, self._rng.randbytes)), "key": HOST_KEY}

    def _import(self, _enclave: Enclave) -> dict[str, Any]:
        return {
            "data": _text(_exported(self._bent_database(), self._rng.randbytes)),
            "password": PASSWORD,
            "key": HOST_KEY,
        }

    def _removable(self, enclave: Enclave) -> dict[str, Any]:
        """Return the input that removes a second wrap; half of these calls also replace the data key."""
        if chance(self._rng, 20):  # not always, because it hashes a password
            ask(enclave, "add_wrap", key={**HOST_KEY, "id": "second"})
        return {"kind": "secret", "id": "second", **({"keys": [HOST_KEY]} if chance(self._rng, 50) else {})}

    def _signed(self, enclave: Enclave) -> dict[str, Any]:
        digest = self._rng.randbytes(32).hex()
        rows = ask(enclave, "exec", filter="resource:enclaves action:list").get("result") or [{}]
        row = self._rng.choice(rows)
        signature = ask(enclave, "sign", digest=digest, enclave_id=row.get("enclave_id")).get("signature")
        return {
            "public_key": row.get("public_key"),
            "curve": row.get("curve"),
            "digest": digest,
            "signature": signature,
        }

    def _token(self, enclave: Enclave) -> dict[str, Any]:
        own = ask(enclave, "mint_ucan", to="did:web:example.org", command="/accounts", caveats={"limit": 3})
        return {"token": own.get(self._rng.choice(("signed_dag_cbor", "container"))), "command": "/accounts/list"}

    def _exec(self, enclave: Enclave) -> dict[str, Any]:
        """Return an input with a token for all actions, with a policy that the arguments of all actions satisfy."""
        policy = [["!=", self._rng.choice((".id", ".enclave_id", ".limit", ".user_op.sender")), "x"]]
        minted = ask(enclave, "mint_ucan", to="did:web:example.org", command="/", policy=policy)
        resource, action = self._rng.choice(RESOURCES), self._rng.choice(ACTIONS)
        kept = ask(enclave, "exec", filter=f"resource:{resource} action:list").get("result") or [{}]
        key = {"id": next(iter(self._rng.choice(kept).values()), "x")}
        args = self._rng.choice(({}, key, {"limit": 3}, ROW, {**OPERATION, **key}, {"message": "m", **key}))
        return {
            "filter": f"resource:{resource} action:{action}",
            "token": minted.get("container"),
            "args": args,
            "audience": "did:web:example.org",
        }

    def _initiated(self, enclave: Enclave) -> dict[str, Any]:
        """Return the input for `sync_compare` on the new device."""
        opened = ask(enclave, "sync_init")
        accepted = ask(self._partner, "sync_respond", session_id=opened["session_id"], public_key=opened["public_key"])
        return {"session_id": opened["session_id"], "public_key": accepted.get("public_key")}

    def _responded(self, enclave: Enclave) -> dict[str, Any]:
        """Return the input for `sync_respond` on the device with the vault: either the public key or the code."""
        opened = ask(self._partner, "sync_init")
        first = {"session_id": opened["session_id"], "public_key": opened["public_key"]}
        if chance(self._rng, 40):
            return first
        own = ask(enclave, "sync_respond", **first).get("public_key")
        shown = ask(self._partner, "sync_compare", session_id=opened["session_id"], public_key=own)
        reveal = {"session_id": opened["session_id"], "reveal": shown.get("reveal")}
        return {"session_id": opened["session_id"], "code": ask(enclave, "sync_compare", **reveal).get("code")}

    def _completed(self, enclave: Enclave) -> dict[str, Any]:
        compared = self._initiated(enclave)
        session = compared["session_id"]
        shown = ask(enclave, "sync_compare", **compared)
        ask(self._partner, "sync_compare", session_id=session, reveal=shown.get("reveal"))
        vault = ask(self._partner, "sync_respond", session_id=session, code=shown.get("code")).get("encrypted_vault")
        return {"session_id": session, "code": shown.get("code"), "encrypted_vault": vault, "key": HOST_KEY}


def ask(enclave: Enclave, function: str, **fields: object) -> dict[str, Any]:
    """Make an honest call. The enclave may refuse the call, because the fuzzed state may not allow it."""
    answer: dict[str, Any] = json.loads(enclave.call_raw(function, json.dumps(fields).encode()))
    return answer


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _opened(sealed: bytes) -> bytes:
    """Return the decrypted database of a vault with a single wrap that has no identifier (docs/formats.md)."""
    head = 44 + int.from_bytes(sealed[6:8])
    clear, key = sealed[head : head + 42], sealed[head + 42 : head + 90]
    data_key = AESGCM(_kek(clear[2:18])).decrypt(clear[-12:], key, _WRAP + b"\0" + sealed[44:head] + clear)
    return AESGCM(data_key).decrypt(sealed[24:36], sealed[head + 90 :], sealed[: head + 90])


def _sealed(database: bytes, did: bytes, randbytes: RandomBytes) -> bytes:
    data_key, nonce = randbytes(32), randbytes(12)
    clear = b"\1\0" + randbytes(16) + struct.pack(">III", 65536, 3, 4) + randbytes(12)
    wrap = clear + AESGCM(_kek(clear[2:18])).encrypt(clear[-12:], data_key, _WRAP + b"\0" + did + clear)
    head = (
        b"HFDB\1\1" + struct.pack(">HQQ", len(did), 1, 0) + nonce + struct.pack(">Q", len(database) + 16) + did + wrap
    )
    return head + AESGCM(data_key).encrypt(nonce, database, head)


def _exported(database: bytes, randbytes: RandomBytes) -> bytes:
    salt, nonce = randbytes(16), randbytes(12)
    key = hash_secret_raw(PASSWORD.encode(), salt, 1, 8192, 1, 32, Type.ID)
    head = b"MTRV\1\1\0\0" + struct.pack(">III", 8192, 1, 1) + salt + nonce + struct.pack(">Q", len(database) + 16)
    return head + AESGCM(key).encrypt(nonce, database, head)


def _kek(salt: bytes) -> bytes:
    return HKDF(hashes.SHA256(), 32, salt, _WRAP + b"/secret").derive(_SECRET)
