"""CAR files, snapshot roots, and IPNS records and names.

Other implementations also read the valid files (tests/peers). Valid IPNS records are in vectors/ipns/records.json.
Every invalid case breaks a single rule, and its name says which.
"""

from __future__ import annotations

import hashlib
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from holdfast.content import cars, cids, dag_cbor, ipld, names, protobuf, records, snapshots, varints
from holdfast.content.bases import from_multibase, to_multibase

MANIFEST = snapshots.Manifest(root_cid=None, did="did:new:0x01", updated_at=1700000000000, wasm_version="ab")
KEY = Ed25519PrivateKey.from_private_bytes(bytes([1]) * 32)
OTHER_KEY = Ed25519PrivateKey.from_private_bytes(bytes([2]) * 32)
HELLO = cids.raw_block(b"hello")
ROOT, SEALED = snapshots.snapshot_blocks(MANIFEST, b"sealed vault")
MIB = 1 << 20


def contents() -> dict[str, Any]:
    """Return each file's contents, by its path without the suffix."""
    made = (
        ("car/valid", "These CAR files have this root and these blocks.", car_valid()),
        ("car/invalid", "Each of these CAR files is refused, for one reason.", car_invalid()),
        ("snapshots/valid", "A sealed vault and its manifest always give this root and these blocks.", roots_valid()),
        ("snapshots/files", "These files contain this snapshot, or no single one.", files()),
        ("snapshots/older", "A root of the older form, over one raw block, is still read.", roots_older()),
        ("snapshots/invalid", "Each of these roots is refused, for one reason.", roots_invalid()),
        ("ipns/invalid", "Each of these records is refused under this name, for one reason.", records_invalid()),
        ("ipns/tolerated", "Each of these records is read, whatever its later version adds.", records_tolerated()),
        ("ipns/names", "Every text names the same key; the first one is canonical.", names_valid()),
        ("ipns/names_invalid", "None of these texts is the name of an Ed25519 key.", names_invalid()),
    )
    source = "own (tools/vectors/content.py)"
    return {path: {"claim": claim, "source": source, "cases": cases} for path, claim, cases in made}


def car_valid() -> list[dict[str, Any]]:
    """Return cases with valid CAR files."""
    blocks = [ROOT, SEALED]
    second = cids.raw_block(b"")
    return [
        car_case("root first", cars.write_car(ROOT.cid, blocks), blocks),
        car_case("root last", cars.write_car(ROOT.cid, blocks[::-1]), blocks[::-1]),
        car_case("a block twice", cars.write_car(ROOT.cid, blocks) + section(SEALED), blocks),
        car_case("an empty block", cars.write_car(ROOT.cid, [ROOT, second]), [ROOT, second]),
    ]


def car_case(name: str, data: bytes, blocks: list[cids.Block]) -> dict[str, Any]:
    """Return a case with a valid CAR file."""
    listed = [{"cid": block.cid, "data": block.data.hex()} for block in blocks]
    return {"name": name, "car": data.hex(), "root": ROOT.cid, "blocks": listed}


def section(block: cids.Block) -> bytes:
    """Return a block's section."""
    return cars.section_begin(block.cid, len(block.data)) + block.data


def header(value: Any) -> bytes:
    """Return a CAR header: a section that consists of DAG-CBOR without a CID."""
    data = dag_cbor.encode(value)
    return varints.encode(len(data)) + data


def car_invalid() -> list[dict[str, Any]]:
    """Return CAR files that break one rule each."""
    root, good = ipld.link(ROOT.cid), header({"roots": [ipld.link(ROOT.cid)], "version": 1})
    whole = good + section(ROOT) + section(SEALED)
    identity = bytes([1, 0x55, 0, 32]) + b"x" * 32
    v0 = bytes([0x12, 32]) + hashlib.sha256(b"x").digest()
    prefix = bytes.fromhex("01551220")
    many = good + section(ROOT) + section(HELLO) * 64
    return [
        refused("empty", b"", "cut_short"),
        refused("cut inside the header", good[:-1], "cut_short"),
        refused("cut inside a block", whole[:-1], "cut_short"),
        refused("an unfinished length", whole + b"\x80", "cut_short"),
        refused("trailing zeros", whole + b"\0\0", "section_too_short"),
        refused("a section without a whole CID", whole + varints.encode(35) + prefix + bytes(31), "section_too_short"),
        refused("a length of more bytes than needed", whole + b"\xa4\x00" + prefix, "invalid_varint"),
        refused("a length of six bytes", whole + b"\xff" * 5 + b"\x01", "invalid_varint"),
        refused("a length of 2^33", whole + b"\x80\x80\x80\x80\x20", "section_too_large"),
        refused("a header over 1 KiB", varints.encode(1025) + bytes(1025), "header_too_large"),
        refused("a header that is not DAG-CBOR", b"\x01\xff", "invalid_header"),
        refused("a header with a link of an unknown codec", header_with_unknown_codec(), "invalid_header"),
        refused("a header nested 900 deep", varints.encode(901) + b"\x81" * 900 + b"\x80", "invalid_header"),
        refused("a header with another field", header({"roots": [root], "version": 1, "x": 1}), "invalid_header"),
        refused("version 2", header({"roots": [root], "version": 2}), "invalid_header"),
        refused("version true", header({"roots": [root], "version": True}), "invalid_header"),
        refused("no roots", header({"roots": [], "version": 1}) + section(ROOT), "other_roots"),
        refused("two roots", header({"roots": [root, root], "version": 1}) + section(ROOT), "other_roots"),
        refused("a root that is not a link", header({"roots": ["x"], "version": 1}), "invalid_dag_cbor"),
        refused("an absent root", good + section(SEALED), "block_missing"),
        refused("a block that its CID does not name", whole[:-1] + bytes([whole[-1] ^ 1]), "block_mismatch"),
        refused("an identity CID", whole + varints.encode(len(identity)) + identity, "other_cid"),
        refused("a CID of version 0", whole + varints.encode(len(v0) + 40) + v0 + bytes(40), "other_cid"),
        refused(
            "a CID of another hash", whole + varints.encode(36) + bytes.fromhex("01551320") + bytes(32), "other_cid"
        ),
        refused("65 blocks", many, "car_too_large"),
        refused(
            "a DAG-CBOR block over 16 KiB",
            good + varints.encode(36 + 16385) + bytes.fromhex("01711220") + bytes(32 + 16385),
            "section_too_large",
            spelled=[(good + varints.encode(36 + 16385)).hex() + "01711220", ["00", 32 + 16385]],
        ),
    ]


def files() -> list[dict[str, Any]]:
    """Return CAR files whose header does not name a single root."""
    later = snapshots.Manifest(root_cid=ROOT.cid, did=MANIFEST.did, updated_at=1700000000001, wasm_version="ab")
    after, resealed = snapshots.snapshot_blocks(later, b"sealed again")
    other, _ = snapshots.snapshot_blocks(MANIFEST, b"resealed vault")
    first, chain = [ROOT, SEALED, HELLO], [SEALED, ROOT, resealed, after]
    two = [ipld.link(ROOT.cid), ipld.link(other.cid)]
    return [
        file("no root is named", [], first, ROOT.cid),
        file("the root is named twice", [ipld.link(ROOT.cid)] * 2, first, ROOT.cid),
        file("another block is named too", [ipld.link(HELLO.cid), ipld.link(ROOT.cid)], first, ROOT.cid),
        file("a snapshot and the one before it", [], chain, after.cid),
        file("two snapshots, of which neither follows the other", two, [*first, other], None),
        file("no snapshot", [], [SEALED, HELLO], None),
        file("the snapshot's block is missing", [], [ROOT, HELLO], None),
    ]


def file(name: str, named: list[Any], blocks: list[cids.Block], root: str | None) -> dict[str, Any]:
    """Return a case: the file, and its snapshot's root (None if it is refused)."""
    car = header({"roots": named, "version": 1}) + b"".join(map(section, blocks))
    return {"name": name, "car": car.hex(), "root": root}


def header_with_unknown_codec() -> bytes:
    """Return a CAR header with a root that has the unassigned codec 0x7f."""
    data = header({"roots": [ipld.link(ROOT.cid)], "version": 1})
    return data.replace(bytes.fromhex("01711220"), bytes.fromhex("017f1220"))


def refused(name: str, data: bytes, code: str, spelled: list[Any] | None = None) -> dict[str, Any]:
    """Return a case with a CAR file that must be refused."""
    return {"name": name, "car": spelled or data.hex(), "code": code}


def roots_valid() -> list[dict[str, Any]]:
    """Return cases with vaults of different sizes, so that the data is split into blocks in every possible way."""
    followed = snapshots.Manifest(
        root_cid=ROOT.cid, did="did:new:0xé", updated_at=2**53 - 1, wasm_version="ab" * 32, delegation=b"\x82\x00"
    )
    shapes: list[tuple[str, snapshots.Manifest, list[Any]]] = [
        ("one byte", MANIFEST, ["00"]),
        ("a short vault", MANIFEST, [b"sealed vault".hex()]),
        ("a follower with a delegation", followed, [b"sealed vault".hex()]),
        ("exactly 1 MiB", MANIFEST, [["a5", MIB]]),
        ("1 MiB and a byte", MANIFEST, [["a5", MIB], "01"]),
        ("the same block twice", MANIFEST, [["a5", 2 * MIB], "01"]),
        ("16 MiB", MANIFEST, [["00", 16 * MIB]]),
    ]
    return [root_case(name, manifest, spelled) for name, manifest, spelled in shapes]


def root_case(name: str, manifest: snapshots.Manifest, spelled: list[Any]) -> dict[str, Any]:
    """Return a case with a vault and the resulting snapshot."""
    sealed = b"".join(
        bytes.fromhex(part) if isinstance(part, str) else bytes.fromhex(part[0]) * part[1] for part in spelled
    )
    root, *parts = snapshots.snapshot_blocks(manifest, sealed)
    fields = {key: value.hex() if isinstance(value, bytes) else value for key, value in manifest.fields().items()}
    car = cars.write_car(root.cid, [root, *parts])
    return {
        "name": name,
        "manifest": fields,
        "sealed": spelled,
        "root": root.cid,
        "root_block": root.data.hex(),
        "blocks": [part.cid for part in parts],
        "car_sha256": hashlib.sha256(car).hexdigest(),
    }


def roots_older() -> list[dict[str, Any]]:
    """Return snapshot roots of the older form {manifest, vault}."""
    block = ipld.dag_cbor_block({"manifest": MANIFEST.fields(), "vault": ipld.link(SEALED.cid)})
    return [{"name": "one raw block", "root": block.cid, "root_block": block.data.hex(), "sealed": SEALED.data.hex()}]


def roots_invalid() -> list[dict[str, Any]]:
    """Return blocks of snapshot roots that break one rule each."""
    raw, own, fields = ipld.link(SEALED.cid), ipld.link(ROOT.cid), MANIFEST.fields()
    good: dict[str, Any] = {"manifest": fields, "size": 12, "blocks": [raw]}

    def with_manifest(**changed: Any) -> dict[str, Any]:
        return {**good, "manifest": {**fields, **changed}}

    values: list[tuple[str, Any, str]] = [
        ("a list", [], "invalid_root"),
        ("no manifest", {"size": 12, "blocks": [raw]}, "invalid_root"),
        ("another field", {**good, "x": 1}, "invalid_root"),
        ("both forms", {**good, "vault": raw}, "invalid_root"),
        ("blocks as a map", {**good, "blocks": {"0": raw}}, "invalid_root"),
        ("a block that is text", {**good, "blocks": [SEALED.cid]}, "invalid_root"),
        ("a block that is DAG-CBOR", {**good, "blocks": [own]}, "invalid_root"),
        ("a vault that is DAG-CBOR", {"manifest": fields, "vault": own}, "invalid_root"),
        ("no blocks", {**good, "blocks": []}, "other_size"),
        ("size 0", {**good, "size": 0, "blocks": []}, "other_size"),
        ("a negative size", {**good, "size": -12}, "other_size"),
        ("a size that is text", {**good, "size": "12"}, "other_size"),
        ("a size that is true", {**good, "size": True}, "other_size"),
        ("a size of two blocks", {**good, "size": MIB + 1}, "other_size"),
        ("a size over 16 MiB", {**good, "size": 16 * MIB + 1, "blocks": [raw] * 17}, "other_size"),
        ("two blocks for the size of one", {**good, "blocks": [raw, raw]}, "other_size"),
        ("a manifest that is text", {**good, "manifest": "x"}, "invalid_manifest"),
        ("an unknown field in the manifest", with_manifest(x=1), "invalid_manifest"),
        ("schema version 2", with_manifest(schemaVersion=2), "invalid_manifest"),
        ("an earlier root that is raw", with_manifest(rootCid=SEALED.cid), "invalid_manifest"),
        ("an earlier root in upper case", with_manifest(rootCid=ROOT.cid.upper()), "invalid_manifest"),
        ("an empty DID", with_manifest(did=""), "invalid_manifest"),
        ("a DID of 513 characters", with_manifest(did="d" * 513), "invalid_manifest"),
        ("a time before 1970", with_manifest(updatedAt=-1), "invalid_manifest"),
        ("a time of 2^53", with_manifest(updatedAt=2**53), "invalid_manifest"),
        ("a time with a fraction", with_manifest(updatedAt=0.5), "invalid_manifest"),
        ("an empty delegation", with_manifest(delegation=b""), "invalid_manifest"),
        ("a delegation that is text", with_manifest(delegation="x"), "invalid_manifest"),
        ("a delegation over 8 KiB", with_manifest(delegation=bytes(8193)), "invalid_manifest"),
    ]
    unknown = ROOT.data.replace(bytes.fromhex("01551220"), bytes.fromhex("017f1220"))
    damaged: list[tuple[str, bytes, str]] = [
        ("a link of an unknown codec", unknown, "invalid_dag_cbor"),
        (
            "a link of an unknown hash",
            ROOT.data.replace(bytes.fromhex("01551220"), bytes.fromhex("01557f20")),
            "invalid_dag_cbor",
        ),
        (
            "a link to an identity CID",
            ROOT.data.replace(bytes.fromhex("01551220"), bytes.fromhex("01550020")),
            "invalid_dag_cbor",
        ),
        ("nested 16,000 deep", b"\x81" * 16000 + b"\x80", "invalid_dag_cbor"),
        ("257 items", b"\x99\x01\x00" + b"\xf6" * 256, "invalid_dag_cbor"),
        ("a byte too many", ROOT.data + b"\x00", "invalid_dag_cbor"),
        ("over 16 KiB", b"\x59\x40\x00" + bytes(16384), "block_too_large"),
    ]
    cases = [(name, ipld.encode(value), code) for name, value, code in values] + damaged
    return [{"name": name, "root_block": data.hex(), "code": code} for name, data, code in cases]


def entry(**changed: Any) -> dict[str, Any]:
    """Return the data of a valid IPNS record with changed fields; None removes a field."""
    good = {
        "TTL": 300 * 10**9,
        "Value": b"/ipfs/" + ROOT.cid.encode(),
        "Sequence": 7,
        "Validity": b"2040-01-01T00:00:00.000000000Z",
        "ValidityType": 0,
    }
    return {name: value for name, value in {**good, **changed}.items() if value is not None}


def signed(data: bytes, key: Ed25519PrivateKey = KEY, more: dict[int, int | bytes] | None = None) -> bytes:
    """Return an IPNS record that signs `data`, with the additional fields in `more`."""
    fields: dict[int, int | bytes] = {8: key.sign(b"ipns-signature:" + data), 9: data}
    return protobuf.encode(fields | (more or {}))


def records_invalid() -> list[dict[str, Any]]:
    """Return IPNS records that break one rule each; the signature is valid unless that rule is about the signature."""
    good = dag_cbor.encode(entry())
    record = signed(good)
    v1: dict[int, int | bytes] = {
        1: entry()["Value"],
        3: 0,
        4: entry()["Validity"],
        5: 7,
        6: 300 * 10**9,
    }
    own = KEY.public_key().public_bytes_raw()
    unsorted = b"\xa5" + b"".join(dag_cbor.encode({name: value})[1:] for name, value in reversed(entry().items()))
    for right in (record, signed(good, more=v1)):
        records.read_record(own, right)
    cases: list[tuple[str, bytes, str]] = [
        ("empty", b"", "invalid_record"),
        ("over 10 KiB", signed(dag_cbor.encode(entry(_x=bytes(10240)))), "record_too_large"),
        ("cut short", record[:-1], "invalid_record"),
        ("an unfinished field", record + b"\x28", "invalid_record"),
        ("data twice", record + record[66:], "invalid_record"),
        ("an unknown field of a type that is no longer used", record + b"\x53\x54", "invalid_record"),
        ("an unknown field that is cut short", record + b"\x55\x00\x00\x00", "invalid_record"),
        ("33 fields", record + b"\x50\x00" * 31, "invalid_record"),
        ("a number where bytes belong", protobuf.encode({8: 1, 9: good}), "invalid_record"),
        ("a length of more bytes than needed", record[:1] + b"\xc0\x00" + record[2:], "invalid_record"),
        ("no signature", protobuf.encode({9: good}), "invalid_record"),
        ("no data", protobuf.encode({8: bytes(64)}), "invalid_record"),
        ("version 1 alone", protobuf.encode({1: b"/ipfs/x", 2: bytes(64), 3: 0, 4: b"x", 5: 1}), "invalid_record"),
        (
            "the key of another name",
            signed(good, more={7: names.key_bytes(OTHER_KEY.public_key().public_bytes_raw())}),
            "other_key",
        ),
        ("signed by another key", signed(good, OTHER_KEY), "invalid_signature"),
        ("one bit of the signature flipped", record[:2] + bytes([record[2] ^ 1]) + record[3:], "invalid_signature"),
        ("a signature of 63 bytes", protobuf.encode({8: bytes(63), 9: good}), "invalid_signature"),
        ("a sequence of version 1 that differs", signed(good, more={**v1, 5: 8}), "v1_mismatch"),
        ("a value of version 1 alone", signed(good, more={1: v1[1]}), "v1_mismatch"),
        ("data that is not DAG-CBOR", signed(b"\xff"), "invalid_data"),
        ("data with unsorted keys", signed(unsorted), "invalid_data"),
        ("data that is a list", signed(dag_cbor.encode([])), "invalid_data"),
        ("no TTL", signed(dag_cbor.encode(entry(TTL=None))), "invalid_data"),
        ("257 items in the data", signed(dag_cbor.encode(entry(Other=[None] * 245))), "invalid_data"),
        ("a negative sequence", signed(dag_cbor.encode(entry(Sequence=-1))), "invalid_data"),
        ("a sequence of 2^53", signed(dag_cbor.encode(entry(Sequence=2**53))), "invalid_data"),
        ("a sequence that is text", signed(dag_cbor.encode(entry(Sequence="7"))), "invalid_data"),
        ("another validity type", signed(dag_cbor.encode(entry(ValidityType=1))), "invalid_data"),
        ("a value that is text", signed(dag_cbor.encode(entry(Value="/ipfs/" + ROOT.cid))), "invalid_value"),
        (
            "a value that is a raw block",
            signed(dag_cbor.encode(entry(Value=b"/ipfs/" + SEALED.cid.encode()))),
            "invalid_value",
        ),
        (
            "a value below a root",
            signed(dag_cbor.encode(entry(Value=b"/ipfs/" + ROOT.cid.encode() + b"/x"))),
            "invalid_value",
        ),
        (
            "a value that is a name",
            signed(dag_cbor.encode(entry(Value=b"/ipns/" + ROOT.cid.encode()))),
            "invalid_value",
        ),
        (
            "a validity that is text",
            signed(dag_cbor.encode(entry(Validity="2040-01-01T00:00:00Z"))),
            "invalid_validity",
        ),
        (
            "a validity with an offset of a day",
            signed(dag_cbor.encode(entry(Validity=b"2040-01-01T00:00:00+24:00"))),
            "invalid_validity",
        ),
        (
            "a validity with an offset of 60 minutes",
            signed(dag_cbor.encode(entry(Validity=b"2040-01-01T00:00:00+00:60"))),
            "invalid_validity",
        ),
        (
            "a validity that no calendar has",
            signed(dag_cbor.encode(entry(Validity=b"2040-02-30T00:00:00Z"))),
            "invalid_validity",
        ),
    ]
    name = names.name_of(own)
    return [{"name": title, "under": name, "record": data.hex(), "code": code} for title, data, code in cases]


def records_tolerated() -> list[dict[str, Any]]:
    """Return valid IPNS records in unusual forms, with what they say."""
    good = dag_cbor.encode(entry())
    unknown = b"\x50\x07" + b"\x5a\x03abc" + b"\x61" + bytes(8) + b"\x6d" + bytes(4)
    strange = {"Other": 1, "_own": ["x"], "a": {"b": None}, "Zone": ipld.link(ROOT.cid)}
    moments = {
        "an offset to the east": b"2040-01-01T01:30:00+01:30",
        "an offset to the west": b"2039-12-31T23:59:59.000000001-00:01",
        "letters in lower case": b"2040-01-01t00:00:00.5z",
    }
    cases = [
        ("unknown fields", signed(good) + unknown),
        ("unknown fields first", unknown + signed(good)),
        ("unexpected fields in the data", signed(dag_cbor.encode(entry(**strange)))),
        *((name, signed(dag_cbor.encode(entry(Validity=text)))) for name, text in moments.items()),
    ]
    own = KEY.public_key().public_bytes_raw()
    return [
        {
            "name": title,
            "under": names.name_of(own),
            "record": data.hex(),
            "root": ROOT.cid,
            "sequence": 7,
            "validity_ns": str(records.read_record(own, data).validity_ns),
        }
        for title, data in cases
    ]


def names_valid() -> list[dict[str, Any]]:
    """Return the test vectors' key with every text form of its IPNS name."""
    own = KEY.public_key().public_bytes_raw()
    whole = from_multibase(names.name_of(own))
    texts = [
        names.name_of(own),
        to_multibase("b", whole),
        to_multibase("z", whole),
        names.peer_id_of(own),
    ]
    return [{"name": "Ed25519", "public_key": own.hex(), "texts": texts}]


def names_invalid() -> list[dict[str, Any]]:
    """Return texts that are not valid IPNS names."""
    good = names.name_of(KEY.public_key().public_bytes_raw())
    texts = [
        ("empty", ""),
        ("a letter too few", good[:-1]),
        ("upper case", good.upper()),
        ("a leading zero too many", good[0] + "0" + good[1:]),
        ("an unknown base", "!" + good[1:]),
        ("a letter outside the base", good[:-1] + "_"),
        ("a snapshot's root", ROOT.cid),
        ("a path", good + "/x"),
        ("a peer ID of an RSA key", "QmdfTbBqBPQ7VNxZEYEj14VmRuZBkqFbiwReogJgS1zR1n"),
        ("2,000 letters", "k" + "5" * 2000),
    ]
    return [{"name": name, "text": text, "code": "invalid_name"} for name, text in texts]
