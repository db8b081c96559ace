"""Key generation, signing, shares, addresses, user operations and registrations against other implementations."""

import base64
import hashlib

import coincurve
import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import Prehashed, encode_dss_signature
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from tests.support.curves import GENERATOR, ORDERS
from tests.support.enclave_calls import done, refused
from tests.support.sealed_vaults import opened, rows_in
from tests.support.vector_files import vectors

from holdfast.chain.contracts.addresses import APP_FACTORY, VAULT_ACCOUNT
from holdfast.enclave import Enclave, PluginCallError
from holdfast.wire.keccak import checksum_address, did_of_key, keccak256

BASE_X = GENERATOR[0]
CURVES = {"P-256": ec.SECP256R1, "secp256k1": ec.SECP256K1}
SIGNATURE_MARK = keccak256(b"PaymasterSignature")[:8].hex()


def fresh(curve, credential, key, **more):
    enclave = Enclave()
    return enclave, enclave.call("generate", credential=credential, key=key, curve=curve, **more)


def own_account(made):
    """Return the address of an externally owned account, for which only a secp256k1 key can sign."""
    return checksum_address(keccak256(bytes.fromhex(made["pubkey_x"] + made["pubkey_y"]))[12:])


def smart_account(made, salt=0, factory=APP_FACTORY, implementation=VAULT_ACCOUNT):
    """Return the CREATE2 address (EIP-1014) of the factory's clone (EIP-1167), whose code ends with the key."""
    code = "61006d3d81600a3d39f3363d3d373d3d3d363d73" + implementation[2:] + "5af43d82803e903d91602b57fd5bf3"
    code += made["pubkey_x"] + made["pubkey_y"]
    place = b"\xff" + bytes.fromhex(factory[2:]) + salt.to_bytes(32) + keccak256(bytes.fromhex(code))
    return checksum_address(keccak256(place)[12:])


def public_key(curve, made):
    return ec.EllipticCurvePublicKey.from_encoded_point(CURVES[curve](), bytes.fromhex(made["public_key"]))


def check(curve, made, digest, signature):
    r, s = int.from_bytes(signature[:32]), int.from_bytes(signature[32:])
    assert s <= ORDERS[curve] // 2
    public_key(curve, made).verify(encode_dss_signature(r, s), digest, ec.ECDSA(Prehashed(hashes.SHA256())))


@pytest.mark.parametrize("curve", ["P-256", "secp256k1"])
def test_generate_gives_the_did_that_the_key_certifies(curve, credential, key):
    enclave, made = fresh(curve, credential, key)
    with enclave:
        x, y = int(made["pubkey_x"], 16), int(made["pubkey_y"], 16)
        assert made["did"] == did_of_key(x, y)
        numbers = public_key(curve, made).public_numbers()  # raises if the point is not on the curve
        assert (numbers.x, numbers.y) == (x, y)
        wanted = smart_account(made) if curve == "P-256" else own_account(made)
        assert made["accounts"] == [{"address": wanted, "chain_id": "84532"}]
        assert [account["address"] for account in enclave.call("query", did="")["accounts"]] == [wanted]
        assert enclave.call("derive_address")["address"] == wanted
        assert made["encrypted_shares"]["curve"] == curve
        assert enclave.call("status")["locked"] is False


@pytest.mark.parametrize("curve", ["P-256", "secp256k1"])
def test_signatures_verify_elsewhere_and_have_a_low_s(curve, credential, key):
    enclave, made = fresh(curve, credential, key)
    order = ORDERS[curve]
    edges = [number.to_bytes(32) for number in (0, 1, order - 1, order, order + 1, 2**256 - 1)]
    with enclave:
        for digest in [*edges, *(hashlib.sha256(b"%d" % number).digest() for number in range(40))]:
            answer = enclave.call("sign", digest=digest)
            signature = base64.b64decode(answer["signature"])
            check(curve, made, digest, signature)
            valid = {"public_key": made["public_key"], "curve": curve, "digest": digest.hex()}
            assert enclave.call("verify_signature", **valid, signature=signature)["valid"] is True
            flipped = signature[:32] + (order - int.from_bytes(signature[32:])).to_bytes(32)
            assert enclave.call("verify_signature", **valid, signature=flipped)["valid"] is False


@pytest.mark.parametrize(
    ("r", "s", "keys"),
    [(0, 1, 0), (1, 1, 0), (5, 0, 0), (ORDERS["P-256"], 1, 0), (5, ORDERS["P-256"], 0), (BASE_X, 7, 1), (BASE_X, 8, 2)],
    ids=["r is zero", "no point", "s is zero", "r too large", "s too large", "one key at infinity", "two keys"],
)
def test_what_signatures_say_about_their_keys(enclave, r, s, keys):
    """A key is at infinity if s R = e G; here R = G and e = 7."""
    found = enclave.call("recover_public_keys", digest=(7).to_bytes(32), signature=r.to_bytes(32) + s.to_bytes(32))
    assert len(found["public_keys"]) == keys


def test_a_share_that_is_stored_elsewhere_is_not_stored_by_a_refresh(credential, key):
    enclave, made = fresh("P-256", credential, key, keep_val_share=False)
    first = made["encrypted_shares"]["val_share"]
    for rotate in (False, True):
        assert refused(enclave, "refresh_shares", rotate=rotate) == "missing_field"
        second = enclave.call("refresh_shares", val_share=first, rotate=rotate)["val_share"]
        assert refused(enclave, "sign", digest=bytes(32)) == "missing_field"
        assert refused(enclave, "sign", digest=bytes(32), val_share=first) == "share_rejected"
        assert enclave.call("sign", digest=bytes(32), val_share=second)["signature"]
        first = second


@pytest.mark.parametrize("curve", ["P-256", "secp256k1"])
def test_a_share_alone_is_uniform(curve, credential, key):
    """Over many refreshes of one key, each bit of each share is set about half the time, so a share reveals nothing."""
    rounds = 300
    with Enclave() as enclave:
        made = enclave.call("generate", credential=credential, key=key, curve=curve)
        image = opened(base64.b64decode(made["database"]), base64.b64decode(key["secret"]))
        ((val_key, user_key),) = rows_in(image, "SELECT val_key, user_key FROM enclaves")
        point = bytes.fromhex(made["public_key"])
        sums = {"val": [0] * 256, "usr": [0] * 256}
        for _ in range(rounds):
            sealed = enclave.call("refresh_shares")
            nonce = base64.b64decode(sealed["nonce"])
            total = 0
            for name, field, secret, own in (
                ("val", "val_share", val_key, nonce[:12]),
                ("usr", "user_share", user_key, nonce[12:]),
            ):
                binding = b"holdfast/share/v1/" + name.encode() + b"\0" + point
                share = AESGCM(secret).decrypt(own, base64.b64decode(sealed[field]), binding)
                number = int.from_bytes(share)
                total += number
                for bit in range(256):
                    sums[name][bit] += number >> bit & 1
            secret_key = ec.derive_private_key(total % ORDERS[curve], CURVES[curve]())
            assert secret_key.public_key().public_numbers().x == int(made["pubkey_x"], 16)
    # Six standard deviations. The top 32 bits of both curve orders are ones, so that reducing biases no bit.
    bound = 6 * (rounds / 4) ** 0.5
    for name, counts in sums.items():
        assert all(abs(count - rounds / 2) < bound for count in counts), name


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"salt": 5},
        {"factory": "0x" + "11" * 20},
        {"implementation": "0x" + "22" * 20},
        {"factory": "0x" + "11" * 20, "implementation": "0x" + "22" * 20, "salt": 7},
    ],
)
def test_the_smart_account_is_the_factorys_clone(vault, generated, credential, key, given):
    wanted = smart_account(generated, **given)
    assert vault.call("derive_address", **given)["address"] == wanted
    by_key = {"public_key": generated["public_key"], "curve": "P-256"}
    assert vault.call("derive_address", **by_key, **given)["address"] == wanted
    args = {"chain_id": "8453", **given}
    assert done(vault, "accounts", "derive", **args)["address"] == wanted
    assert done(vault, "enclaves", "derive", **given)["address"] == wanted
    enclave, made = fresh("P-256", credential, key, **given)
    with enclave:
        assert made["accounts"][0]["address"] == smart_account(made, **given)


def test_addresses_are_what_the_factory_on_a_chain_answers(enclave):
    """Neither factory nor implementation is passed, so the contract set supplies both."""
    told = vectors("accounts/addresses")
    assert (told["factory"], told["implementation"]) == (APP_FACTORY, VAULT_ACCOUNT)
    seen = dict.fromkeys(("on the curve", "off it"), 0)
    for vector in told["vectors"]:
        point = "04" + vector["pubKeyX"][2:].rjust(64, "0") + vector["pubKeyY"][2:].rjust(64, "0")
        try:
            ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), bytes.fromhex(point))
        except ValueError:
            seen["off it"] += 1
            with pytest.raises(PluginCallError, match="not valid for"):
                enclave.call("derive_address", public_key=point)
        else:
            seen["on the curve"] += 1
            answer = enclave.call("derive_address", public_key=point, salt=hex(int(vector["salt"])))
            assert answer["address"] == vector["address"]
    assert all(seen.values())


DEPLOYED = [vectors(f"user_operations/{name}") for name in ("v07", "v08", "v09")]
V07, V08, V09 = ({"entry_point": told["entryPoint"], "chain_id": told["chainId"]} for told in DEPLOYED)


def operation(**changed):
    (op,) = (
        each["userOp"] for each in DEPLOYED[2]["vectors"] if each["name"] == "no factory, paymaster, ordinary numbers"
    )
    return op | changed


@pytest.mark.parametrize("told", DEPLOYED, ids=[told["claim"] for told in DEPLOYED])
def test_hashes_are_the_deployed_entry_points_and_are_signed(vault, generated, told):
    where = {"entry_point": told["entryPoint"].lower(), "chain_id": told["chainId"]}
    assert told["vectors"]
    for vector in told["vectors"]:
        expected = {"user_op_hash": vector["userOpHash"]}
        assert vault.call("user_op_hash", user_op=vector["userOp"], **where) == expected, vector["name"]
        answer = vault.call("sign_user_op", user_op=vector["userOp"], **where)
        named = {name: generated[name] for name in ("enclave_id", "public_key")}
        assert answer == {**answer, **expected, **named}
        check("P-256", generated, bytes.fromhex(vector["userOpHash"][2:]), bytes.fromhex(answer["signature"][2:]))


@pytest.mark.parametrize("told", DEPLOYED, ids=[told["claim"] for told in DEPLOYED])
def test_what_the_entry_point_refuses_or_hides_that_the_account_pays_is_neither_hashed_nor_signed(vault, told):
    where = {"entry_point": told["entryPoint"], "chain_id": told["chainId"]}
    assert told["neverSigned"]
    for vector in told["neverSigned"] + told["refused"]:
        for function in ("user_op_hash", "sign_user_op"):
            with pytest.raises(PluginCallError, match="paymaster") as refusal:
                vault.call(function, user_op=vector["userOp"], **where)
            assert refusal.value.code == "invalid_field"


@pytest.mark.parametrize("curve", ["P-256", "secp256k1"])
def test_sign_account_message(curve, credential, key):
    """The signature is that of the key as an owner: of a P-256 point, or of a secp256k1 key's address, with v."""
    enclave, made = fresh(curve, credential, key)
    with enclave:
        answer = enclave.call("sign_account_message", account="0x" + "12" * 20, message="cancellation", nonce=3)
    digest, signature = bytes.fromhex(answer["digest"][2:]), bytes.fromhex(answer["signature"][2:])
    check(curve, made, digest, signature[:64])
    if curve == "P-256":
        assert answer["signer"] == "0x" + made["pubkey_x"] + made["pubkey_y"]
        assert len(signature) == 64
        return
    assert checksum_address(bytes.fromhex(answer["signer"][2:])) == own_account(made)
    recoverable = signature[:64] + bytes([signature[64] - 27])
    recovered = coincurve.PublicKey.from_signature_and_message(recoverable, digest, hasher=None)
    assert recovered.format(compressed=False).hex() == made["public_key"]


@pytest.mark.parametrize("signature", ["0x5a", "0x" + "5a" * 65, "0x" + "5a" * 65535])
@pytest.mark.parametrize("data", ["0x", "0x99", "0x0001" + SIGNATURE_MARK])
def test_v09_leaves_the_paymasters_signature_out(enclave, data, signature):
    """The field is hashed as the ending of the data, which the deployed contract leaves out."""

    def hashed(**changed):
        return enclave.call("user_op_hash", user_op=operation(**changed), **V09)["user_op_hash"]

    ending = f"{data}770001{SIGNATURE_MARK}"
    assert hashed(paymasterData=data, paymasterSignature=signature) == hashed(paymasterData=ending)
    assert hashed(paymasterData="0x99", paymasterSignature="0x") == hashed(paymasterData="0x99")


NO_PAYMASTER = {"paymaster": None, "paymasterData": None}


@pytest.mark.parametrize(
    ("changed", "where", "code"),
    [
        ({"paymasterSignature": "0x77"}, V07, "invalid_field"),
        ({"paymasterSignature": "0x77"}, V08, "invalid_field"),
        ({"paymasterSignature": "0x" + "5a" * 65536}, V09, "value_too_large"),
        ({"paymasterSignature": "0x77", **NO_PAYMASTER}, V09, "invalid_field"),
        ({"factory": "0x7702" + "00" * 18}, V09, "invalid_field"),
    ],
)
def test_what_an_entry_point_would_refuse_is_not_hashed(enclave, changed, where, code):
    assert refused(enclave, "user_op_hash", user_op=operation(**changed), **where) == code
