"""The exit page encodes operations and transactions as the Python client does."""

import pytest
from eth_keys.datatypes import PrivateKey
from tests.support.javascript import run_module

from holdfast.chain.calls import execute_batch
from holdfast.chain.handle_ops import handle_ops
from holdfast.chain.transactions import Transaction, rlp
from holdfast.chain.user_operations import UserOperation
from holdfast.wire.encoding import from_hex, to_hex
from holdfast.wire.keccak import keccak256

TOKEN, TO = "0x52908400098527886E0F7030069857D2E4169EE7", "0x" + "ab" * 20
CALLS = [(TOKEN, 0, bytes(range(68))), (TO, 10**18, b""), (TO, 1, b"x" * 32)]


def text_of(item):
    """Return an item of RLP as JSON has it: numbers as `{n}`, bytes as hex digits."""
    if isinstance(item, int):
        return {"n": str(item)}
    return item.hex() if isinstance(item, bytes) else [text_of(part) for part in item]


@pytest.mark.parametrize(
    "item",
    [0, 1, 127, 128, 255, 256, 1 << 200, b"", b"\0", b"\x7f", b"\x80", b"a" * 55, b"a" * 56, b"a" * 70_000, [], [[], [0, b"a" * 60]]],
    ids=lambda item: repr(item)[:20],
)  # fmt: skip
def test_rlp(item):
    code = """
      const { rlp } = await import("SOURCES/exit/transaction.ts");
      const item = (it) => (Array.isArray(it) ? it.map(item) : typeof it === "string" ? it : BigInt(it.n));
      return rlp(item(given));
    """
    assert run_module(code, text_of(item)) == rlp(item).hex()


def test_a_batch_and_an_operation():
    operation = UserOperation(
        sender=from_hex(TO),
        nonce=7,
        call_data=execute_batch(CALLS),
        call_gas_limit=1 << 100,
        verification_gas_limit=320_000,
        factory=from_hex(TOKEN),
        factory_data=b"creates the account",
        signature=b"s" * 64,
    )
    code = """
      const { executeBatch, handleOps } = await import("SOURCES/exit/abi.ts");
      const calls = given.calls.map(([to, value, data]) => ({ to, value: BigInt(value), data }));
      return [executeBatch(calls), handleOps(given.operation, given.to)];
    """
    listed = [[to, str(value), to_hex(data)] for to, value, data in CALLS]
    given = {"calls": listed, "operation": operation.to_rpc(), "to": TOKEN}
    assert run_module(code, given) == [to_hex(operation.call_data), to_hex(handle_ops(operation, TOKEN))]


def test_a_transaction():
    key = PrivateKey(bytes(31) + b"\1")
    sent = Transaction(
        chain_id=8453, nonce=0, max_priority_fee_per_gas=1, max_fee_per_gas=300, gas=700_000, to=from_hex(TO), data=b"d" * 200
    )  # fmt: skip
    code = """
      const { signedTransaction, hashOf } = await import("SOURCES/exit/transaction.ts");
      const digests = [];
      const fields = { chainId: 8453, nonce: 0n, tip: 1n, maxFee: 300n, gas: 700000n, to: given.to, data: given.data };
      const sign = (digest) => (digests.push(Buffer.from(digest).toString("hex")), given.signed);
      const raw = signedTransaction(fields, sign);
      return [raw, hashOf(raw), digests];
    """
    whole = sent.signed(key)
    signature = key.sign_msg_hash(digest_of(sent))
    signed = {"signature": f"{signature.r:064x}{signature.s:064x}", "recovery": signature.v}
    raw, hashed, digests = run_module(code, {"to": TO, "data": to_hex(sent.data), "signed": signed})
    assert (raw, digests) == (to_hex(whole), [digest_of(sent).hex()])
    assert hashed == to_hex(keccak256(whole))


def digest_of(sent):
    return keccak256(b"\2" + rlp(sent._fields()))
