"""accounts/claims.json: call data and commitments of claims, for implementations in any language.

The call data is encoded by eth-abi from the contract's ABI, not by `holdfast.chain.calls`; a test compares it with the
contracts.
"""

from __future__ import annotations

from typing import Any

from eth_abi.abi import encode

from holdfast.chain.contracts import ADDRESSES, load, predict_account
from holdfast.wire.keccak import alias_hash, did_hash, did_of_key, keccak256

REGISTRY = ADDRESSES["DIDRegistry"]
# Two valid public keys: the generator point of P-256 and its double.
KEYS = (
    (
        0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296,
        0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5,
    ),
    (
        0x7CF27B188D034F7E8A52380304B51AC3C08969E277F21B35A60B48FC47669978,
        0x07775510DB8ED040293D9AC69F7430DBBA7DADE63CE982299E04B79D227873D1,
    ),
)
SALTS = (0, 1, (1 << 256) - 1)
CID = "bafybeigdyrzt5sfp7udm7hu76uh7y26nf3efuylqabf3oclgtqy55fbzdi"
# Each case's alias, secret and metadata CID: no alias, then an alias with a guessable secret, then all three.
CLAIMS = ((None, bytes(32), ""), ("Ada", bytes(32), ""), ("grace", bytes(range(32)), CID))


def contents() -> dict[str, Any]:
    """Return the file's contents, by its path without the suffix."""
    rows = [_row(key, salt, *claim) for key in KEYS for salt in SALTS for claim in CLAIMS]
    claim = (
        "DIDRegistry.didHashOf(pubKeyX, pubKeyY) is didHash; register is the call data of the claim, execute that of "
        "the account's operation; commitment is commitmentOf(didHash, aliasHash, account, secret), null where none is "
        "needed; commit is the call data that posts it"
    )
    return {"accounts/claims": {"claim": claim, "registry": REGISTRY, "vectors": rows}}


def _row(key: tuple[int, int], salt: int, alias: str | None, secret: bytes, cid: str) -> dict[str, Any]:
    account, did = predict_account(*key, salt), did_of_key(*key)
    name = bytes(32) if alias is None else alias_hash(alias)
    register = _call("DIDRegistry", "register", *key, salt, name, secret, cid)
    words = (did_hash(did), name, account, secret)
    commitment = None if alias is None else keccak256(encode(["bytes32", "bytes32", "address", "bytes32"], words))
    return {
        "pubKeyX": hex(key[0]),
        "pubKeyY": hex(key[1]),
        "salt": str(salt),
        "account": account,
        "did": did,
        "didHash": "0x" + did_hash(did).hex(),
        "alias": alias,
        "aliasHash": "0x" + name.hex(),
        "secret": "0x" + secret.hex(),
        "metadataCid": cid,
        "commitment": commitment and "0x" + commitment.hex(),
        "register": "0x" + register.hex(),
        "execute": "0x" + _call("VaultAccount", "execute", REGISTRY, 0, register).hex(),
        "commit": commitment and "0x" + _call("DIDRegistry", "commit", commitment).hex(),
    }


def _call(contract: str, function: str, *values: Any) -> bytes:
    inputs = next(e["inputs"] for e in load(contract).abi if (e["type"], e.get("name")) == ("function", function))
    types = [each["type"] for each in inputs]
    return keccak256(f"{function}({','.join(types)})".encode())[:4] + encode(types, values)
