"""DID documents: GET /1.0/identifiers/{did} with a JSON-RPC endpoint on a socket, and /.well-known/did.json."""

import pytest
from tests.support.curves import GENERATOR
from tests.support.upstreams import rpc_results, upstream

from holdfast.chain.abi import call_data
from holdfast.chain.contracts import ADDRESSES
from holdfast.wire.encoding import from_base64url
from holdfast.wire.keccak import checksum_address, did_hash, did_of_key

X, Y = GENERATOR  # and its double (NIST SP 800-186):
X2 = 0x7CF27B188D034F7E8A52380304B51AC3C08969E277F21B35A60B48FC47669978
Y2 = 0x07775510DB8ED040293D9AC69F7430DBBA7DADE63CE982299E04B79D227873D1
DID = did_of_key(X, Y)
ACCOUNT = bytes.fromhex("ab" * 20)
CAIP = f"eip155:84532:{checksum_address(ACCOUNT)}"
UNKNOWN = bytes(32 * 2) + (96).to_bytes(32) + bytes(32)


def record(*, active=True):
    return ACCOUNT.rjust(32, b"\0") + active.to_bytes(32) + (96).to_bytes(32) + bytes(32)


def slots(x=X, y=Y):
    return bytes(32) + did_hash(DID) + (1).to_bytes(32) + x.to_bytes(32) + y.to_bytes(32)


def says(registered, state=b""):
    """Return a chain on which the registry and the account helper give these answers."""

    def called(call, _block):
        if call["to"] == ADDRESSES["AccountHelper"]:
            return "0x" + state.hex()
        assert call == {"to": ADDRESSES["DIDRegistry"].lower(), "data": asked}
        return "0x" + registered.hex()

    asked = "0x" + call_data("getDid(bytes32)", did_hash(DID)).hex()
    return rpc_results({"eth_call": called})


@pytest.fixture
async def chain(make_api):
    async with upstream() as rpc:
        yield make_api(rpc_url=rpc.url), rpc


async def resolve(api, did=DID, accept=None):
    return await api.http.get(f"/1.0/identifiers/{did}", headers={} if accept is None else {"Accept": accept})


async def test_the_document_of_a_did_on_the_chain(chain):
    api, rpc = chain
    rpc.answer = says(record(), slots())
    answer = await resolve(api)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == 'application/ld+json;profile="https://w3id.org/did-resolution"'
    assert answer.headers["access-control-allow-origin"] == "*"
    result = answer.json()
    document = result["didDocument"]
    key, account = document["verificationMethod"]
    assert (document["id"], document["controller"]) == (DID, f"did:pkh:{CAIP}")
    assert (key["id"], key["type"], key["controller"]) == (f"{DID}#key-1", "JsonWebKey", DID)
    point = [int.from_bytes(from_base64url(key["publicKeyJwk"][name])) for name in ("x", "y")]
    assert did_of_key(*point) == DID and key["publicKeyJwk"]["crv"] == "P-256"
    assert account["blockchainAccountId"] == CAIP
    assert document["authentication"] == document["assertionMethod"] == [key["id"], account["id"]]
    assert document["capabilityInvocation"] == document["capabilityDelegation"] == [key["id"]]
    assert result["didResolutionMetadata"] == {"contentType": "application/did+ld+json"}
    assert result["didDocumentMetadata"] == {
        "deactivated": False,
        "registry": f"eip155:84532:{ADDRESSES['DIDRegistry']}",
        "proven": {"controller": "registry", "key": "did"},
    }


@pytest.mark.parametrize(
    ("point", "named"),
    [((X2, Y2), did_of_key(X2, Y2).removeprefix("did:new:")), ((0, 0), None), ((X, Y + 1), None), ((2**256 - 1, 2**256 - 1), None)],
)  # fmt: skip
async def test_a_later_key_has_its_own_name_and_a_controller_without_a_key_is_named_alone(chain, point, named):
    api, rpc = chain
    rpc.answer = says(record(), slots(*point))
    result = (await resolve(api)).json()
    keys = [f"{DID}#{named}"] if named else []
    assert result["didDocument"]["capabilityInvocation"] == keys
    assert result["didDocument"]["authentication"] == [*keys, f"{DID}#account"]
    assert result["didDocumentMetadata"]["proven"] == {"controller": "registry", "key": "account" if named else None}


async def test_a_deactivated_did_is_gone(chain):
    api, rpc = chain
    rpc.answer = says(record(active=False), slots())
    answer = await resolve(api)
    result = answer.json()
    assert answer.status_code == 410
    assert result["didDocument"] == {"@context": ["https://www.w3.org/ns/did/v1"], "id": DID}
    assert result["didResolutionMetadata"]["error"] == "deactivated"
    assert result["didDocumentMetadata"]["deactivated"] is True
    assert result["didDocumentMetadata"]["proven"] == {"controller": None, "key": None}
    alone = await resolve(api, accept="application/did+json")
    assert (alone.status_code, alone.json()) == (410, result["didDocument"])


@pytest.mark.parametrize("registry", [UNKNOWN, b""], ids=["unknown", "no registry"])
async def test_a_did_that_is_only_registered_here_proves_nothing(chain, registry):
    api, rpc = chain
    rpc.answer = says(registry)
    assert ((missing := await resolve(api)).status_code, missing.json()["didDocument"]) == (404, None)
    assert missing.json()["didResolutionMetadata"]["error"] == "notFound"
    assert (await api.register(did=DID, txHash="0x" + "00" * 32)).status_code == 200
    answer = await resolve(api)
    known = {"@context": ["https://www.w3.org/ns/did/v1"], "id": DID}
    assert (answer.status_code, answer.json()["didDocument"]) == (200, known)
    assert answer.json()["didDocumentMetadata"]["proven"] == {"controller": None, "key": None}
    assert "ann" not in answer.text


async def test_other_texts_are_refused(make_api):
    api = make_api()
    for did, status, error in (
        ("did:key:zDnaerDaTF5BXEavCrfRZEk316dpbLsfPDZ3WJ5hRTPFU2169", 501, "methodNotSupported"),
        ("did:new:0x01", 400, "invalidDid"), (DID.upper().replace("DID:NEW", "did:new"), 400, "invalidDid"),
        ("ann", 400, "invalidDid"), ("", 400, "invalidDid"), (f"{DID}/path", 400, "invalidDid"),
    ):  # fmt: skip
        answer = await resolve(api, did)
        assert (answer.status_code, answer.json()["didResolutionMetadata"]["error"]) == (status, error)
        assert answer.json()["didDocument"] is None


@pytest.mark.parametrize(
    "broken", [rpc_results({}), says(b"\x01" * 32), says(b"\xff" * 128), says(record(), b"\0" * 32)]
)
async def test_nothing_is_said_without_the_chain(chain, broken):
    api, rpc = chain
    rpc.answer = broken
    answer = await resolve(api)
    assert (answer.status_code, answer.json()["didResolutionMetadata"]["error"]) == (502, "internalError")


@pytest.mark.parametrize(("accept", "media", "whole"), [
    ("*/*", 'application/ld+json;profile="https://w3id.org/did-resolution"', True),
    ('application/ld+json;profile="https://w3id.org/did-resolution"', "application/ld+json", True),
    ("application/did-resolution", "application/did-resolution", True),
    ("application/did+ld+json", "application/did+ld+json", False),
    ("application/did+json, application/json;q=0.5", "application/did+json", False),
    ("application/did+json;q=0.5, application/json", "application/json", True),
    ("text/html, application/did+ld+json;q=0, */*;q=0.1", "application/ld+json", True),
    ("text/html", "", None),
    ("application/did+json;q=0", "", None),
    ("application/json;q=x", "", None),
])  # fmt: skip
async def test_accept_selects_the_form(chain, accept, media, whole):
    api, rpc = chain
    rpc.answer = says(record(), slots())
    answer = await resolve(api, accept=accept)
    if whole is None:
        error = answer.json()["didResolutionMetadata"]["error"]
        assert (answer.status_code, error) == (406, "representationNotSupported")
        return
    assert answer.headers["content-type"].startswith(media) and answer.headers["vary"] == "Accept"
    assert ("didDocument" in answer.json()) is whole
    assert answer.json()["id" if not whole else "@context"] == (
        DID if not whole else "https://w3id.org/did-resolution/v1"
    )


async def test_resolutions_count_as_reads_of_the_chain(make_api):
    api = make_api(chain_reads_per_address_minute="1", rpc_url="http://127.0.0.1:1")
    assert [(await resolve(api, did)).status_code for did in ("ann", DID)] == [400, 502]
    refused = await resolve(api)
    assert refused.status_code == 429 and int(refused.headers["retry-after"]) >= 1
    assert "Retry-After" in refused.headers["access-control-expose-headers"]


async def test_another_registry_must_not_lend_a_foreign_account(make_api):
    """What another registry checks is unknown: an account without the DID's key is not shown."""
    other = "0x" + "cd" * 20
    called = {other: record(), "0x" + ACCOUNT.hex(): X2.to_bytes(32) + Y2.to_bytes(32)}
    async with upstream() as rpc:
        api = make_api(rpc_url=rpc.url, contract_did_registry=other)
        rpc.answer = rpc_results({"eth_call": lambda call, _block: "0x" + called[call["to"]].hex()})
        assert (await resolve(api)).status_code == 404


async def test_the_services_own_did_resolves(make_api):
    answer = await make_api(public_url="https://vault.example", mode="development").http.get("/.well-known/did.json")
    assert answer.headers["access-control-allow-origin"] == "*"
    document = answer.json()
    assert document["id"] == "did:web:vault.example"
    assert {service["type"]: service["serviceEndpoint"] for service in document["service"]} == {
        "HoldfastVault": "https://vault.example",
        "DIDResolver": "https://vault.example/1.0/identifiers/",
        "IpfsGateway": "https://vault.example/ipfs/",
    }
    assert "verificationMethod" not in document
    elsewhere = make_api(registrar_did="did:web:vault.example:people")
    assert (await elsewhere.http.get("/.well-known/did.json")).json() == {"error": "not_found"}
