"""A new key registers a DID and pays without any balance, with a real chain, entry points and bundler."""

import asyncio
import json
import shlex

import pytest
from eth_abi.abi import decode

from holdfast.chain import calls
from holdfast.chain.abi import call_data
from holdfast.chain.contracts import ADDRESSES, commitment, commitments_needed, predict_account
from holdfast.chain.entry_points import V07
from holdfast.chain.registrations import NOT_A_REGISTRATION, Confirmed, Sought, confirm_registration
from holdfast.wire.encoding import from_hex, to_hex
from holdfast.wire.keccak import alias_hash, did_hash
from holdfast.world.facts import funding

pytestmark = pytest.mark.asyncio(loop_scope="session")

REGISTRY, HELPER, FACTORY, USDC = (ADDRESSES[n] for n in ("DIDRegistry", "AccountHelper", "AppFactory", "DevUSDC"))


async def state_of(world, account):
    answer = await world.rpc.eth_call(HELPER, call_data("getAccountState(address)", account), at_least=160)
    return decode(["uint256", "bytes32", "bool", "uint256", "uint256"], answer)


async def test_the_table_s_command_gives_an_account_test_dollars(world):
    account = predict_account(1, 2, 3)
    facts = {"rpc": world.chain.rpc_url, "contracts": ADDRESSES}
    curl, url, _, header, _, body = shlex.split(funding(facts, account))
    assert (curl, url, header) == ("curl", world.chain.rpc_url, "content-type:application/json")
    asked = json.loads(body)
    await world.rpc.call(asked["method"], asked["params"])
    held = await world.rpc.eth_call(USDC, call_data("balanceOf(address)", account), at_least=32)
    assert int.from_bytes(held) == 100_000_000


async def test_one_sponsored_operation_deploys_and_registers_and_then_usdc_moves(world, entry_point, newcomer):
    person = newcomer()
    assert await state_of(world, person.account) == (0, bytes(32), False, 0, 0)

    receipt = await person.register()

    nonce, did, active, x, y = await state_of(world, person.account)
    assert (did, active, x, y) == (did_hash(person.key.did), True, person.key.x, person.key.y)
    # AccountHelper returns the nonce at EntryPoint v0.7, and each entry point counts nonces separately.
    assert nonce == (1 if entry_point is V07 else 0)
    registered = await world.rpc.eth_call(REGISTRY, call_data("getDid(bytes32)", did_hash(person.key.did)))
    assert decode(["address", "bool", "string"], registered) == (person.account.lower(), True, "bafy")
    held = await world.rpc.eth_call(REGISTRY, call_data("getAlias(bytes32)", alias_hash(person.alias)))
    assert decode(["bytes32", "address", "bool"], held) == (did_hash(person.key.did), person.account.lower(), True)
    assert await confirm(world, receipt.transaction_hash, person.key.did) == Confirmed(
        receipt.block_number, from_hex(person.account)
    )

    await person.mint(5_000_000)
    payee = predict_account(person.key.x, person.key.y, 99)
    payment = person.operation(1, calls.transfer(USDC, payee, 1_250_000))
    paid = await person.bundler.wait(await person.bundler.send_sponsored(payment, person.key.sign))
    assert (await person.usdc(), await person.usdc(payee)) == (3_750_000, 1_250_000)
    assert paid.block_number > receipt.block_number
    assert paid.actual_gas_used > 0
    assert await world.rpc.get_balance(person.account) == 0
    assert await confirm(world, paid.transaction_hash, person.key.did) == NOT_A_REGISTRATION


async def confirm(world, transaction_hash, did):
    return await confirm_registration(
        world.rpc, to_hex(transaction_hash), registry=from_hex(REGISTRY), sought=Sought(did)
    )


async def test_an_account_commits_for_itself_in_the_operation_before(world, newcomer):
    """Without a sponsor that posts commitments, a registration takes two operations; the second proves both DID and alias."""
    person, secret = newcomer(), b"\x05" * 32
    needed = commitment(did_hash(person.key.did), alias_hash(person.alias), person.account, secret)
    first = person.first_operation(calls.commit(REGISTRY, needed))
    await person.bundler.wait(await person.bundler.send_sponsored(first, person.key.sign))
    claim = calls.register(REGISTRY, person.key.x, person.key.y, alias=person.alias, secret=secret)
    operation = person.operation(1, claim)
    assert commitments_needed(person.account, operation.call_data) == [needed]
    receipt = await person.bundler.wait(await person.bundler.send_sponsored(operation, person.key.sign))
    assert await confirm(world, receipt.transaction_hash, person.key.did) == Confirmed(
        receipt.block_number, from_hex(person.account)
    )


async def test_a_foreign_did_and_a_second_alias_while_another_person_registers(newcomer):
    person, secret = newcomer(), b"\x06" * 32
    did = f"did:web:{person.alias}.example"
    both = (
        calls.register_foreign(REGISTRY, did, alias=person.alias, secret=secret),
        calls.register_alias(REGISTRY, f"{person.alias}-2", did, secret),
    )
    sending = person.bundler.send_sponsored(person.first_operation(*both), person.key.sign)
    sent, _ = await asyncio.gather(sending, newcomer().register())
    await person.bundler.wait(sent)
