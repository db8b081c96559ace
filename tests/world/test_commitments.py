"""For unsigned requests, the sponsor posts few commitments, and only for accounts of Holdfast's factory."""

import secrets
from dataclasses import replace

import pytest
from tests.support.api import Clock

from holdfast.chain import calls
from holdfast.chain.contracts import ADDRESSES
from holdfast.chain.errors import ChainError, RpcError
from holdfast.chain.posted_commitments import MOST_FOR_ONE_OPERATION, PostedCommitments
from holdfast.chain.user_operations import UserOperation
from holdfast.world.commitments import MOST_IN_A_MINUTE, DevelopmentPoster

REGISTRY = ADDRESSES["DIDRegistry"]
on_chain = pytest.mark.asyncio(loop_scope="session")


def claims(count):
    return [
        calls.register_alias(REGISTRY, secrets.token_hex(8), "did:web:x", secrets.token_bytes(32)) for _ in range(count)
    ]


@on_chain
async def test_only_an_operation_that_creates_its_sender_gets_a_few_commitments(world, bundler, newcomer):
    """An account that does not exist gets no commitment, whether an unsigned request has one claim or hundreds."""
    height, person = await world.rpc.block_number(), newcomer()
    stranger = UserOperation(sender=secrets.token_bytes(20), nonce=0, call_data=calls.execute(claims(1)[0]))
    mine, few, no_account = person.registration(), "at most 4 claims", "the sender is not an account of the factory"
    another = "is not the account that the operation's factory data create"
    for operation, told in (
        (stranger, no_account),
        (replace(stranger, call_data=calls.execute_batch(claims(300))), few),
        (person.first_operation(*claims(MOST_FOR_ONE_OPERATION + 1)), few),
        (replace(mine, sender=newcomer().registration().sender), another),
        (replace(mine, factory=secrets.token_bytes(20)), another),
        (replace(mine, factory_data=(mine.factory_data or b"") + b"\0"), another),
    ):
        with pytest.raises(ChainError, match=told):
            await bundler.sponsored(operation)
    assert await world.rpc.block_number() == height
    await bundler.sponsored(mine)
    assert await world.rpc.block_number() > height


@on_chain
async def test_the_rate_of_a_minute_holds_for_all_senders_together(world, newcomer):
    clock, posted = Clock(0.0), []

    class Chain:
        rpc = world.rpc

        async def transact(self, *arguments):
            posted.append(arguments)

    poster = DevelopmentPoster(Chain(), world.accounts.sponsor.address, clock)
    commitments = PostedCommitments(world.rpc, poster)
    for _ in range(MOST_IN_A_MINUTE // MOST_FOR_ONE_OPERATION):
        await commitments.prepare(newcomer().first_operation(*claims(MOST_FOR_ONE_OPERATION)))
    for _ in range(2):  # what is refused does not count
        with pytest.raises(RpcError, match=f"at most {MOST_IN_A_MINUTE} commitments a minute") as refused:
            await commitments.prepare(newcomer().registration())
    assert refused.value.code == -32005
    assert len(posted) == MOST_IN_A_MINUTE
    clock.now = 61
    await commitments.prepare(newcomer().registration())
    assert len(posted) == MOST_IN_A_MINUTE + 1
