"""UCAN verification: changing any bit of a token invalidates it, for every kind of key."""

import itertools

import base58
import pytest
import wasmtime
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from tests.support.credentials import KEY, registration
from tests.support.enclave_calls import did_key, refused

from holdfast.content import dag_cbor
from holdfast.enclave import Enclave, PluginCallError
from holdfast.enclave.module import bundled

NOW = 1_800_000_000
AUDIENCE = "did:web:example.org"
CURVES = {"P-256": (ec.SECP256R1(), b"\x80\x24"), "secp256k1": (ec.SECP256K1(), b"\xe7\x01")}
HEADERS = {"Ed25519": "3401ed01ed011371", "P-256": "3401ec0180241271", "secp256k1": "3401ec01e7011271"}


class Principal:
    def __init__(self, kind):
        self.header = bytes.fromhex(HEADERS[kind])
        if kind == "Ed25519":
            self._key = ed25519.Ed25519PrivateKey.generate()
            encoded = b"\xed\x01" + self._key.public_key().public_bytes_raw()
        else:
            curve, prefix = CURVES[kind]
            self._key = ec.generate_private_key(curve)
            encoded = prefix + self._key.public_key().public_bytes(Encoding.X962, PublicFormat.CompressedPoint)
        self.did = "did:key:z" + base58.b58encode(encoded).decode()

    def sign(self, message):
        if isinstance(self._key, ed25519.Ed25519PrivateKey):
            return self._key.sign(message)
        r, s = decode_dss_signature(self._key.sign(message, ec.ECDSA(hashes.SHA256())))
        return r.to_bytes(32, "big") + s.to_bytes(32, "big")

    def delegate(self, audience, **claims):
        payload = {"iss": self.did, "aud": audience, "sub": self.did, "cmd": "/", "pol": [], "nonce": b"n", "exp": None}
        body = {"h": self.header, "ucan/dlg@1.0.0-rc.1": {**payload, **claims}}
        return dag_cbor.encode([self.sign(dag_cbor.encode(body)), body])


@pytest.fixture(scope="module")
def enclave():
    return Enclave()


@pytest.mark.parametrize("kind", sorted(HEADERS))
def test_every_changed_byte_is_refused(enclave, kind):
    token = Principal(kind).delegate(Principal("Ed25519").did, exp=NOW + 60)
    assert enclave.call("verify_ucan", token=token, now=NOW)["valid"]
    for at in range(0, len(token), 2 if kind == "Ed25519" else 5):
        bent = bytearray(token)
        bent[at] ^= 1
        with pytest.raises(PluginCallError):
            enclave.call("verify_ucan", token=bytes(bent), now=NOW)


def test_the_hosts_clock_decides_where_no_time_is_given():
    token = Principal("P-256").delegate(AUDIENCE, exp=NOW)
    with Enclave(now=lambda: NOW + 0.9) as enclave:
        assert enclave.call("verify_ucan", token=token)["valid"]
    with Enclave(now=lambda: NOW + 1.0) as enclave, pytest.raises(PluginCallError) as refused:
        enclave.call("verify_ucan", token=token)
    assert refused.value.code == "token_expired"


def test_a_chain_costs_what_its_tokens_cost(monkeypatch):
    """The longest chain is a few kilobytes that any stranger can send. Counted in WebAssembly's instructions."""
    config = wasmtime.Config()
    config.consume_fuel = config.epoch_interruption = True
    engine, made = wasmtime.Engine(config), wasmtime.Store
    counted = wasmtime.Module(engine, bundled().read_bytes())

    def with_fuel(_engine):
        store = made(engine)
        store.set_fuel(2**60)
        return store

    monkeypatch.setattr(wasmtime, "Store", with_fuel)
    monkeypatch.setattr("holdfast.enclave.module.load", lambda _path: counted)
    monkeypatch.setattr("holdfast.enclave.module.engine", lambda: engine)
    people = [Principal("P-256") for _ in range(17)]
    links = [giver.delegate(taker.did, sub=people[0].did) for giver, taker in itertools.pairwise(people)]
    with Enclave(now=lambda: NOW) as enclave:

        def cost(length):
            before = enclave.instance.store.get_fuel()
            assert enclave.call("verify_ucan", token=b"@" + dag_cbor.encode({"ctn-v1": links[:length]}))["valid"]
            return before - enclave.instance.store.get_fuel()

        assert cost(16) < 1.5 * 16 * cost(1)


@pytest.mark.parametrize("fragment", ["", "#key-1"])
def test_the_holder_is_the_audience_whatever_key_of_it_is_named(enclave, fragment):
    holder = Principal("Ed25519").did
    token = Principal("P-256").delegate(holder + fragment)
    assert enclave.call("verify_ucan", token=token, audience=holder, now=NOW)["valid"]


@pytest.mark.parametrize(("length", "code"), [(15, None), (16, "broken_chain")])
def test_no_link_is_added_to_the_longest_chain(length, code):
    with Enclave() as vault:
        vault.call("generate", credential=registration(), key=KEY)
        people = [Principal("Ed25519") for _ in range(length)]
        audiences = [*(one.did for one in people[1:]), did_key(vault)]
        links = [giver.delegate(taker, sub=people[0].did) for giver, taker in zip(people, audiences, strict=True)]
        asked = {"to": AUDIENCE, "command": "/", "token": b"@" + dag_cbor.encode({"ctn-v1": links})}
        if code is None:
            assert len(vault.call("verify_ucan", token=vault.call("mint_ucan", **asked)["container"])["path"]) == 16
        else:
            assert refused(vault, "mint_ucan", **asked) == code


def of_length(length):
    issuer, padding = Principal("Ed25519"), 60_000
    padding += length - len(issuer.delegate(AUDIENCE, meta={"pad": bytes(padding)}))
    return issuer.delegate(AUDIENCE, meta={"pad": bytes(padding)})


@pytest.mark.parametrize(
    ("most", "make", "code"),
    [
        (64 << 10, of_length, "value_too_large"),
        (
            32,
            lambda n: b"@" + dag_cbor.encode({"ctn-v1": [Principal("Ed25519").delegate(AUDIENCE)] * n}),
            "invalid_token",
        ),
        ((1 << 53) - 1, lambda n: Principal("Ed25519").delegate(AUDIENCE, exp=n), "invalid_token"),
    ],
    ids=["bytes of a token", "tokens of a container", "seconds since 1970"],
)
def test_each_limit_can_be_reached(enclave, most, make, code):
    assert enclave.call("inspect_ucan", token=make(most))["tokens"]
    assert refused(enclave, "inspect_ucan", token=make(most + 1)) == code
