"""For unsigned requests, the sponsor posts few commitments, and only for accounts of Holdfast's factory."""

import secrets
from dataclasses import replace

import pytest
from tests.support.api import Clock

from holdfast.chain import calls
from holdfast.chain.contracts import ADDRESSES
from holdfast.chain.errors import ChainError, RpcError
from holdfast.chain.posted_commitments import MOST_FOR_ONE_OPERATION, PostedCommitments, creates
from holdfast.chain.user_operations import UserOperation
from holdfast.world.commitments import MOST_IN_A_MINUTE, DevelopmentPoster, Rate

REGISTRY = ADDRESSES["DIDRegistry"]
on_chain = pytest.mark.asyncio(loop_scope="session")


def claims(count):
    return [
        calls.register_alias(REGISTRY, secrets.token_hex(8), "did:web:x", secrets.token_bytes(32)) for _ in range(count)
    ]


def test_a_rate_counts_a_minute():
    clock = Clock(0.0)
    rate = Rate(5, clock)
    rate.spend(3)
    clock.now = 30
    rate.spend(2)
    with pytest.raises(RpcError, match="at most 5 commitments a minute") as refused:
        rate.spend(1)
    assert refused.value.code == -32005
    clock.now = 60
    rate.spend(3)
    for _ in range(3):
        with pytest.raises(RpcError):
            rate.spend(1)
    clock.now = 90
    rate.spend(2)  # what was refused does not count


@on_chain
async def test_an_account_that_is_not_created_gets_no_commitment(world, bundler):
    """An account that does not exist gets no commitment, whether an unsigned request has one claim or hundreds."""
    height = await world.rpc.block_number()
    stranger = UserOperation(sender=secrets.token_bytes(20), nonce=0, call_data=calls.execute(claims(1)[0]))
    with pytest.raises(ChainError, match="the sender is not an account of the factory"):
        await bundler.sponsored(stranger)
    with pytest.raises(ChainError, match="at most 4 claims"):
        await bundler.sponsored(replace(stranger, call_data=calls.execute_batch(claims(300))))
    assert await world.rpc.block_number() == height


@on_chain
async def test_factory_data_must_create_the_sender(world, bundler, newcomer):
    height = await world.rpc.block_number()
    mine, other = newcomer().registration(), newcomer().registration()
    for operation in (
        replace(mine, sender=other.sender),
        replace(mine, factory=secrets.token_bytes(20)),
        replace(mine, factory_data=(mine.factory_data or b"") + b"\0"),
    ):
        with pytest.raises(ChainError, match="is not the account that the operation's factory data create"):
            await bundler.sponsored(operation)
    assert await world.rpc.block_number() == height
    assert creates(mine) == mine.sender


@on_chain
async def test_an_operation_may_claim_a_few_things_and_not_more(world, bundler, newcomer):
    person = newcomer()
    height = await world.rpc.block_number()
    with pytest.raises(ChainError, match="at most 4 claims"):
        await bundler.sponsored(person.first_operation(*claims(MOST_FOR_ONE_OPERATION + 1)))
    assert await world.rpc.block_number() == height
    await bundler.sponsored(person.registration())
    assert await world.rpc.block_number() > height


@on_chain
async def test_the_rate_holds_for_all_senders_together(world, newcomer):
    clock, posted = Clock(0.0), []

    class Chain:
        rpc = world.rpc

        async def transact(self, *arguments):
            posted.append(arguments)

    poster = DevelopmentPoster(Chain(), world.accounts.sponsor.address, clock)
    commitments = PostedCommitments(world.rpc, poster)
    for _ in range(MOST_IN_A_MINUTE // MOST_FOR_ONE_OPERATION):
        await commitments.prepare(newcomer().first_operation(*claims(MOST_FOR_ONE_OPERATION)))
    with pytest.raises(RpcError, match="commitments a minute"):
        await commitments.prepare(newcomer().registration())
    assert len(posted) == MOST_IN_A_MINUTE
    clock.now = 61
    await commitments.prepare(newcomer().registration())
    assert len(posted) == MOST_IN_A_MINUTE + 1
