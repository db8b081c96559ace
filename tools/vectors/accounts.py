"""accounts/messages.json, named_signatures.json, calls.json and permissions.json: what keys sign and send.

Digests and calls are encoded by eth-abi here, not by `holdfast.chain`. The contracts, the enclave in both
hosts and both clients are compared with the files.
"""

from __future__ import annotations

from typing import Any

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import Prehashed, decode_dss_signature
from eth_abi.abi import encode
from eth_abi.grammar import TupleType, parse

from holdfast.wire.keccak import keccak256
from holdfast.wire.p256 import low_s

ACCOUNTS = ("0x77678bA347a72F1F96a440c26891d2Ef1282BfaC", "0x00000000000000000000000000000000000000Aa")
# Twice P-256's generator.
P256 = (
    "0x7cf27b188d034f7e8a52380304b51ac3c08969e277f21b35a60b48fc47669978"
    "07775510db8ed040293d9ac69f7430dbba7dade63ce982299e04b79d227873d1"
)
ADDRESS = "0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266"
VERIFIER = ADDRESS + "04" * 33
KINDS = (
    *("add_owner", "remove_owner", "set_primary", "set_threshold"),
    *("add_guardian", "remove_guardian", "set_quorum", "set_delay"),
)
WITHOUT_SIGNER = ("set_threshold", "set_quorum", "set_delay")
LAST = (1 << 53) - 1
EVERY_KIND = [(kind, "", number) if kind in WITHOUT_SIGNER else (kind, P256, 0) for number, kind in enumerate(KINDS)]
CHANGES: tuple[tuple[str, int, list[tuple[str, str, int]]], ...] = (
    ("a second device", 0, [("add_owner", P256, 0)]),
    ("a hardware wallet until a time", 1, [("add_owner", ADDRESS, 1_900_000_000)]),
    ("a signer with a verifier, at the last sequence", LAST, [("add_owner", VERIFIER, LAST)]),
    ("a lost device", 2, [("remove_owner", P256, 0)]),
    ("every kind", 7, EVERY_KIND),
    ("the same change twice", 3, [("remove_guardian", ADDRESS, 0)] * 2),
    ("terms of recovery", 4, [("add_guardian", ADDRESS, 0), ("set_quorum", "", 1), ("set_delay", "", 3600)]),
)
RECOVERIES = (("one new owner", 0, [P256]), ("three new owners", 2**32 - 1, [P256, ADDRESS, VERIFIER]))
LISTED = "(uint8,bytes,uint256)[]"
PERMISSION = "(bytes32,address,uint160,uint48,uint48,uint48,address,bytes4,uint256)"
NOBODY = "0x" + "00" * 20
# Spender, token, allowance, period, start, until, target, function, salt.
PERMISSIONS: tuple[tuple[str, tuple[Any, ...]], ...] = (
    (
        "a subscription",
        ("11" * 32, ACCOUNTS[1], 5_000_000, 2_592_000, 1_900_000_000, 1_931_536_000, ACCOUNTS[0], "", 7),
    ),
    ("coins, once, to anyone, without an end", ("22" * 32, NOBODY, 1, 0, 1, 0, NOBODY, "", 0)),
    (
        "the highest numbers",
        ("ff" * 32, ACCOUNTS[1], 2**160 - 1, *[2**47 - 1] * 3, ACCOUNTS[0], "a9059cbb", 2**256 - 1),
    ),
)
SIGNATURE = "0x" + "5a" * 65
CREDENTIAL = (
    "o2NmbXRkbm9uZWdhdHRTdG10oGhhdXRoRGF0YViUv6vDdDKViwYzYNOtZGHJxHNa5/jt1GWSpeDwFFKy5LVFAAAABwAAAAAAAAAAAAAAAAAAAAAA"
    "EAABAgMEBQYHCAkKCwwNDg+lAQIDJiABIVggJu/OvQ7p40pmkYfhizqRIrL3M5RbZJzJ+fkh6fna2BIiWCCQI4venMe7Mw0VDGdwTdJa5wVSBXRL"
    "bzG/QHB0WHLQ5g=="
)
SECRET = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
GENERATE = {
    "function": "generate",
    "input": {"credential": CREDENTIAL, "key": {"kind": "secret", "secret": SECRET}},
}

# Which statement of the first permission's policy is replaced, or left out, so that the policy names none.
NO_PERMISSION = [
    ["no account", 0, None],
    ["a number as the account", 0, ["==", ".account", 5]],
    ["an account in another form", 0, ["==", ".account", "0x11"]],
    ["another account", 0, ["!=", ".account", ACCOUNTS[0]]],
    ["no chain", 1, None],
    ["no permission", 2, None],
    ["a list as the permission", 2, ["==", ".permission", ["0x" + "11" * 32]]],
    ["a statement of four", 2, ["==", ".permission", "0x" + "11" * 32, 1]],
]


def contents() -> dict[str, Any]:
    """Return each file's contents, by its path without the suffix."""
    made = {"messages": _messages(), "named_signatures": _named(), "calls": _calls(), "permissions": _permissions()}
    return {f"accounts/{name}": form for name, form in made.items()}


def _messages() -> dict[str, Any]:
    asked = [(name, ACCOUNTS[i % 2], *_of_changes(at, changes)) for i, (name, at, changes) in enumerate(CHANGES)]
    asked += [(name, ACCOUNTS[i % 2], *_of_recovery(at, owners)) for i, (name, at, owners) in enumerate(RECOVERIES)]
    asked += [("a cancellation", ACCOUNTS[0], *_of_cancellation(5))]
    return {
        "claim": "What owners and guardians sign has the same digest in the contracts, the enclave and the clients",
        "source": "own; encoded by eth-abi, and compared with the contracts",
        "function": "sign_account_message",
        "cases": [_case(*each) for each in asked],
    }


def _case(name: str, account: str, given: dict[str, Any], struct: bytes) -> dict[str, Any]:
    digest = "0x" + keccak256(b"\x19\x01" + _domain(account) + struct).hex()
    return {"name": name, "steps": [GENERATE, {"input": {"account": account, **given}, "contains": {"digest": digest}}]}


def _domain(account: str) -> bytes:
    words = ("EIP712Domain(string name,string version,address verifyingContract)", "Holdfast VaultAccount", "1")
    return keccak256(encode(["bytes32"] * 3 + ["address"], [*(keccak256(word.encode()) for word in words), account]))


def _of_changes(sequence: int, changes: list[tuple[str, str, int]]) -> tuple[dict[str, Any], bytes]:
    of_one = "Change(uint8 kind,bytes signer,uint256 value)"
    hashed = b"".join(
        _struct(of_one, "uint8", KINDS.index(kind), "bytes", signer, "uint256", value)
        for kind, signer, value in changes
    )
    of_all = f"OwnerChanges(uint64 sequence,Change[] changes){of_one}"
    given = [_shown(*change) for change in changes]
    return {"message": "changes", "sequence": sequence, "changes": given}, _struct(
        of_all, "uint64", sequence, "bytes32", keccak256(hashed)
    )


def _shown(kind: str, signer: str, value: int) -> dict[str, Any]:
    return {"kind": kind} | ({"signer": signer} if signer else {}) | ({"value": value} if value else {})


def _of_recovery(nonce: int, owners: list[str]) -> tuple[dict[str, Any], bytes]:
    hashed = keccak256(b"".join(keccak256(bytes.fromhex(owner[2:])) for owner in owners))
    struct = _struct("Recovery(uint32 nonce,bytes[] newOwners)", "uint32", nonce, "bytes32", hashed)
    return {"message": "recovery", "nonce": nonce, "new_owners": owners}, struct


def _of_cancellation(nonce: int) -> tuple[dict[str, Any], bytes]:
    return {"message": "cancellation", "nonce": nonce}, _struct("CancelRecovery(uint32 nonce)", "uint32", nonce)


def _struct(of: str, *fields: Any) -> bytes:
    """Return a struct's hash; bytes are hashed, as EIP-712 says."""
    types, values = ["bytes32"], [keccak256(of.encode())]
    for kind, value in zip(fields[::2], fields[1::2], strict=True):
        types.append("bytes32" if kind == "bytes" else kind)
        values.append(keccak256(bytes.fromhex(value[2:])) if kind == "bytes" else value)
    return keccak256(encode(types, values))


def _named() -> dict[str, Any]:
    digest = keccak256(b"an operation")
    keys = [ec.derive_private_key(scalar, ec.SECP256R1()) for scalar in (0xA11CE, 0x5EC0)]
    signed = [(_signer(key), _signature(key, digest)) for key in keys]
    return {
        "claim": "named is the signature by name of these signers, whose IDs (Keccak-256 of their bytes) ascend in it",
        "digest": "0x" + digest.hex(),
        "vectors": [_row("one key", signed[:1]), _row("another key", signed[1:]), _row("two keys", signed)],
        "malformed": _malformed(_row("two keys", signed)["named"]),
    }


def _malformed(whole: str) -> list[dict[str, str]]:
    none, one = "0x" + "0" * 64, "0x" + "0" * 63 + "1" + whole[66:]
    texts = {"nothing": "0x", "no whole number": "0x00", "no one": none, "no one, and a signer": none + whole[66:]}
    texts |= {"one of two": one}
    texts |= {f"cut by {size}": whole[: -2 * size] for size in (1, 64, 65, 127)}
    texts |= {f"{size} bytes more": whole + "00" * size for size in (1, 2, 3)}
    return [{"name": name, "whole": text} for name, text in texts.items()]


def _calls() -> dict[str, Any]:
    history = [{"changes": _all_shown(changes), "signature": SIGNATURE} for _, _, changes in CHANGES[:2]]
    steps = [(_listed(changes), bytes.fromhex(SIGNATURE[2:])) for _, _, changes in CHANGES[:2]]
    key = (int(P256[2:66], 16), int(P256[66:], 16))
    of_key = {"x": hex(key[0]), "y": hex(key[1]), "salt": "0x5"}
    rows = [_applied(*each) for each in CHANGES]
    create = _data(f"createAccountWith(uint256,uint256,uint256,({LISTED},bytes)[])", *key, 5, steps)
    rows.append({"name": "an account with its history", "call": "create", **of_key, "history": history, "data": create})
    rows += [row for name, _, owners in RECOVERIES for row in _recovered(name, owners)]
    cancel = _data("cancelRecoverySigned(bytes)", bytes.fromhex(SIGNATURE[2:]))
    rows.append({"name": "a cancellation", "call": "cancel", "signature": SIGNATURE, "data": cancel})
    return {"claim": "data is the call's data; changes are read from it as they were written", "vectors": rows}


def _applied(name: str, sequence: int, changes: list[tuple[str, str, int]]) -> dict[str, Any]:
    data = _data(
        f"applyChangesEverywhere(uint64,{LISTED},bytes)", sequence, _listed(changes), bytes.fromhex(SIGNATURE[2:])
    )
    given = {"sequence": sequence, "changes": _all_shown(changes), "signature": SIGNATURE}
    return {"name": name, "call": "apply", **given, "data": data}


def _recovered(name: str, owners: list[str]) -> list[dict[str, Any]]:
    listed = [bytes.fromhex(owner[2:]) for owner in owners]
    start = _data("startRecovery(bytes[],bytes)", listed, bytes.fromhex(SIGNATURE[2:]))
    given = {"new_owners": owners, "signature": SIGNATURE}
    return [
        {"name": f"start: {name}", "call": "start", **given, "data": start},
        {"name": f"finish: {name}", "call": "finish", **given, "data": _data("finishRecovery(bytes[])", listed)},
    ]


def _permissions() -> dict[str, Any]:
    claim = "id, calls and the delegation's policy are those of the permission; amounts are decimals"
    vectors = [_permitted(*each) for each in PERMISSIONS]
    return {"claim": claim, "vectors": vectors, "none": NO_PERMISSION}


def _permitted(name: str, fields: tuple[Any, ...]) -> dict[str, Any]:
    key, token, allowance, period, start, until, target, function, salt = fields
    words = (bytes.fromhex(key), *fields[1:7], bytes.fromhex(function).ljust(4, b"\0"), salt)
    name_of = keccak256(encode([PERMISSION], [words]))
    to = target if target != NOBODY else ACCOUNTS[1]
    policy = [["==", ".account", ACCOUNTS[0]], ["==", ".chainId", 84532], ["==", ".permission", "0x" + name_of.hex()]]
    policy += [["==", ".token", "native" if token == NOBODY else token]]
    times = {"period": period, "start": start, "until": until}
    given = {"keyId": "0x" + key, "token": token, "allowance": str(allowance), **times, "target": target}
    return {
        "name": name,
        "account": ACCOUNTS[0],
        "chainId": 84532,
        "permission": given | {"function": "0x" + words[7].hex(), "salt": str(salt)},
        "id": "0x" + name_of.hex(),
        "to": to,
        "grant": _data(f"grantPermission({PERMISSION})", words),
        "revoke": _data("revokePermission(bytes32)", name_of),
        "spend": _data(f"spend({PERMISSION},address,uint256,bytes)", words, to, 1, b""),
        "policy": policy + ([] if target == NOBODY else [["==", ".to", target]]),
    }


def _data(signature: str, *values: Any) -> str:
    whole = parse(signature[signature.index("(") :])
    types = whole.components if isinstance(whole, TupleType) else ()
    return "0x" + (keccak256(signature.encode())[:4] + encode([each.to_type_str() for each in types], values)).hex()


def _listed(changes: list[tuple[str, str, int]]) -> list[tuple[int, bytes, int]]:
    return [(KINDS.index(kind), bytes.fromhex(signer[2:]), value) for kind, signer, value in changes]


def _all_shown(changes: list[tuple[str, str, int]]) -> list[dict[str, Any]]:
    return [_shown(*change) for change in changes]


def _row(name: str, signed: list[tuple[bytes, bytes]]) -> dict[str, Any]:
    shown = [{"signer": "0x" + signer.hex(), "signature": "0x" + signature.hex()} for signer, signature in signed]
    return {"name": name, "signatures": shown, "named": "0x" + _encoded(signed).hex()}


def _encoded(signed: list[tuple[bytes, bytes]]) -> bytes:
    entries = {keccak256(signer): b"\x00\x40\x00\x40" + signer + signature for signer, signature in signed}
    return len(signed).to_bytes(32) + b"".join(entries[each] for each in sorted(entries))


def _signer(key: ec.EllipticCurvePrivateKey) -> bytes:
    numbers = key.public_key().public_numbers()
    return numbers.x.to_bytes(32) + numbers.y.to_bytes(32)


def _signature(key: ec.EllipticCurvePrivateKey, digest: bytes) -> bytes:
    made = key.sign(digest, ec.ECDSA(Prehashed(hashes.SHA256()), deterministic_signing=True))
    r, s = decode_dss_signature(made)
    return r.to_bytes(32) + low_s(s).to_bytes(32)
