"""Changed tokens, records, pins, queries and bodies get a documented refusal: no 500, and nothing in the log."""

import json
import logging
import random

from tests.support.heavy_requests import Heavy, Meter
from tests.support.signed_records import sign_record
from tests.support.snapshot_vaults import BOUNDARY, form, registered

from holdfast.content.cars import write_car

ODD_BYTES = (0x00, 0x1B, 0x3B, 0x5B, 0x5F, 0x7B, 0x80, 0x9B, 0xBB, 0xD8, 0xFB, 0xFF, 0x25, 0x22, 0x5C, 0x7D, 0x39)
TRIES = 60  # of each kind of request


def changed(data, draw):
    """Return the bytes with up to four of them replaced, removed, or followed by many."""
    found = bytearray(data)
    for _ in range(draw.randrange(1, 5)):
        at = draw.randrange(len(found) + 1)
        odd = bytes([draw.choice((*ODD_BYTES, draw.randrange(256)))]) * draw.choice((0, 1, 1, 9, 500))
        found[at : at + draw.randrange(3)] = odd
    return bytes(found)


async def ordinary(vault):
    """Return requests that succeed or nearly do, each with the part that is to be changed."""
    from datetime import UTC, datetime

    blocks = vault.blocks()
    root = await vault.keep(blocks)
    record = sign_record(vault.publishing, root, 1, datetime(2090, 1, 1, tzinfo=UTC), 60)
    kind = {"content-type": f"multipart/form-data; boundary={BOUNDARY}"}
    token = vault.token()
    pin = json.dumps({"cid": root, "name": "n", "meta": {"a": "b"}, "origins": ["/ip4/1.2.3.4/p2p/Q"]}).encode()
    call = b'{"jsonrpc":"2.0","id":1,"method":"eth_estimateUserOperationGas","params":[{"a":1.5e9},"0x1"]}'
    body = b'{"credentialId":"x","identifier":"a@b.de","channel":"email","did":"did:a:b","txHash":"0x","attestation":{"signature":"0x"}}'
    address = "0x" + "1" * 40
    return [
        (Heavy("token", "GET", "/pins", token), "authorization"),
        (Heavy("revocation", "POST", "/api/snapshots/revocations", vault.token(cmd="/ucan/revoke")), "authorization"),
        (Heavy("pins", "GET", f"/pins?cid={root}&meta[a]=1&before=2027-01-01T00:00:00Z&limit=5&match=exact", token), "path"),
        (Heavy("pin", "POST", "/pins", token, pin), "body"),
        (Heavy("upload", "POST", "/api/v0/dag/import", {**kind, **token}, form(write_car(root, blocks))), "body"),
        (Heavy("boundary", "POST", "/api/v0/dag/import", {**kind, **token}, form(b"")), "content-type"),
        (Heavy("record", "PUT", f"/routing/v1/ipns/{vault.name}", {"content-type": "application/vnd.ipfs.ipns-record"}, record), "body"),
        (Heavy("name", "GET", f"/ipns/{vault.name}?format=ipns-record"), "path"),
        (Heavy("path", "GET", f"/ipfs/{root}/blocks/0?format=car&entity-bytes=0:*&dag-scope=all&car-dups=y"), "path"),
        (Heavy("identity", "GET", "/ipfs/bafkqabtimvwgy3yk?format=car"), "path"),
        (Heavy("accept", "GET", f"/ipfs/{root}", {"accept": "application/vnd.ipld.car;dups=y;q=0.5, */*"}), "accept"),
        (Heavy("range", "GET", f"/ipfs/{root}?format=raw", {"range": "bytes=1-2"}), "range"),
        (Heavy("known", "GET", f"/ipfs/{root}?format=raw", {"if-none-match": 'W/"a", *'}), "if-none-match"),
        (Heavy("call", "POST", "/api/bundler", {}, call), "body"),
        (Heavy("registration", "POST", "/api/dids", {}, body), "body"),
        (Heavy("code", "POST", "/api/verify/check", {}, b'{"identifier":"a@b.de","channel":"email","code":"123456"}'), "body"),
        (Heavy("account", "GET", f"/api/accounts/predict?pubKeyX=0x1&pubKeyY=2&salt=3&account={address}"), "path"),
        (Heavy("length", "POST", "/api/sessions", {"content-length": "100"}, b"{}"), "content-length"),
        (Heavy("hops", "GET", "/api/sessions/status", {"x-forwarded-for": "::ffff:1.2.3.4, [::1]:5"}), "x-forwarded-for"),
        (Heavy("repeat", "POST", "/api/sessions", {"idempotency-key": '"a\\"b"'}, b'{"handle":"x","did":"did:a:b"}'), "idempotency-key"),
    ]  # fmt: skip


def with_part(request, part, draw):
    if part == "body":
        return Heavy(request.name, request.method, request.path, request.headers, changed(request.body, draw))
    if part == "path":
        path = changed(request.path.encode(), draw).decode("latin-1")
        plain = "".join(letter if "!" <= letter <= "~" else f"%{ord(letter):02X}" for letter in path)
        return Heavy(request.name, request.method, "/" + plain.lstrip("/"), request.headers, request.body)
    name = next(name for name in request.headers if name.lower() == part)
    odd = changed(request.headers[name].encode(), draw).decode("latin-1")
    return Heavy(request.name, request.method, request.path, {**request.headers, name: odd}, request.body)


async def test_whatever_is_sent_is_refused_in_words(make_api, caplog):
    limits = {"snapshots_uploads_per_address_hour": "1000000", "snapshots_refusals_per_address_minute": "1000000"}
    api = make_api(snapshots_free_bytes="0", bundler_url="http://127.0.0.1:9", **limits)
    vault = await registered(api)
    meter, draw = Meter(api.application), random.Random(11)
    requests = await ordinary(vault)
    with caplog.at_level(logging.ERROR, "holdfast.web"):
        for request, part in requests:
            for _ in range(TRIES):
                odd = with_part(request, part, draw)
                status = await meter.status(odd)
                assert status < 500 or (status == 502 and request.name in {"call", "account"}), odd
    assert [entry.getMessage() for entry in caplog.records if entry.name == "holdfast.web"] == []
