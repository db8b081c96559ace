"""Posts commitments by transactions of the sponsor's own address, each of which counts in the operation's budgets.

Whatever keeps a commitment from being posted is only logged: the operation's estimate then reverts with `NotCommitted`,
and the client posts the commitment itself, in a separate operation.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from itertools import chain, count
from typing import TYPE_CHECKING

from holdfast.chain import values
from holdfast.chain.abi import call_data
from holdfast.chain.errors import RpcError, chain_words
from holdfast.chain.fees import Fees, base_fee_in, fees_of_chain
from holdfast.chain.posted_commitments import REGISTRY
from holdfast.chain.sent_transactions import mined, send_raw
from holdfast.chain.transactions import Transaction
from holdfast.rules.sponsoring import NotSponsored, in_gwei
from holdfast.service.store.sponsorships import SponsorshipKey
from holdfast.wire.encoding import from_hex, to_hex

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence

    from eth_keys.datatypes import PrivateKey

    from holdfast.chain.rpc import RpcClient
    from holdfast.service.clock import Clock
    from holdfast.service.store.port import Store

    Reserve = Callable[[SponsorshipKey, int], Awaitable[int]]

COMMIT_GAS = 80_000  # the call takes 46,000 (docs/contracts.md)
COMMITMENT = "commitment "  # what the nonce in a commitment's key begins with
_MINED_WITHIN_S, _BLOCK_WITHIN_S, _LOOK_S = 8.0, 5.0, 0.25
_LEASE_S, TURN_WITHIN_S = 10.0, 3.0
_log = logging.getLogger("holdfast.sponsor")


@dataclass(slots=True)
class CommitmentTransactions:
    """Sends transactions of one address on one chain, in one process at a time, so that no nonce is used twice."""

    store: Store
    key: PrivateKey = field(repr=False)
    chain_id: int
    connect: Callable[[], RpcClient]
    clock: Clock
    max_fee: int
    _holder: str = field(default_factory=lambda: secrets.token_hex(8))
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    _offered: dict[int, Fees] = field(default_factory=dict)  # by nonce

    @property
    def address(self) -> str:
        """The address that pays."""
        return str(self.key.public_key.to_checksum_address())

    def within(self, reserve: Reserve) -> BudgetedPoster:
        """Return what posts commitments after `reserve` has reserved their cost in wei."""
        return BudgetedPoster(self, reserve)

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Exclude the other processes. Raises TimeoutError if they take too long."""
        name = f"sponsor {self.chain_id}"
        async with asyncio.timeout(TURN_WITHIN_S):
            await self._turn.acquire()
        try:
            async with asyncio.timeout(TURN_WITHIN_S):
                while not await self.store.take_lease(name, self._holder, self.clock(), _LEASE_S):  # noqa: ASYNC110 - no notice comes
                    await asyncio.sleep(_LOOK_S)
            yield
        finally:  # a lease may also have been taken if no response arrived
            try:
                await self.store.end_lease(name, self._holder)
            finally:
                self._turn.release()

    async def nonces(self, fees: Fees) -> Iterator[int]:
        """Return the nonces of transactions of this process that wait below the base fee, then new ones.

        The first would hold up all later ones; its client has posted that commitment itself meanwhile. Raises RpcError.
        """
        counts = (self.connect().call("eth_getTransactionCount", [self.address, tag]) for tag in ("latest", "pending"))
        mined, first = map(values.quantity, await asyncio.gather(*counts))
        self._offered = {nonce: offered for nonce, offered in self._offered.items() if mined <= nonce < first}
        stuck = [nonce for nonce, offered in self._offered.items() if offered.max_fee_per_gas < base_fee_in(fees)]
        return chain(stuck, count(first))

    async def send(self, commitment: bytes, nonce: int, fees: Fees) -> str:
        """Send one commitment and return the transaction's hash. Raises RpcError."""
        waiting = self._offered.get(nonce)
        if waiting is not None:
            fees = fees.at_least(Fees(0, waiting.max_priority_fee_per_gas * 5 // 4 + 1))
        self._offered[nonce] = fees
        transaction = Transaction(
            chain_id=self.chain_id,
            nonce=nonce,
            max_priority_fee_per_gas=fees.max_priority_fee_per_gas,
            max_fee_per_gas=fees.max_fee_per_gas,
            gas=COMMIT_GAS,
            to=from_hex(REGISTRY),
            data=call_data("commit(bytes32)", commitment),
        )
        try:
            return await send_raw(self.connect(), transaction.signed(self.key))
        except RpcError as error:
            if waiting is not None and error.code is not None:  # refused, so what waits still does
                self._offered[nonce] = waiting
            raise


@dataclass(frozen=True, slots=True)
class BudgetedPoster:
    """Implements Poster for one operation."""

    transactions: CommitmentTransactions
    reserve: Reserve

    async def post(self, commitments: Sequence[bytes]) -> None:
        """See Poster. Posts nothing if a budget has no room. Raises RpcError if the chain does not respond."""
        tx = self.transactions
        fees = await fees_of_chain(tx.connect(), tx.chain_id)
        if fees.max_fee_per_gas > tx.max_fee:
            return
        keys = [SponsorshipKey(tx.chain_id, tx.address.lower(), _nonce(each)) for each in commitments]
        ends: dict[SponsorshipKey, int] = {}
        try:
            for key in keys:
                ends[key] = await self.reserve(key, COMMIT_GAS * fees.max_fee_per_gas)
        except NotSponsored as refused:
            _log.warning("a commitment was not posted", extra={"why": str(refused)})
            for key, end in ends.items():
                await tx.store.sponsorships.settle(key, end, 0)
            return
        sent = await self._sent(commitments, fees)
        for (key, end), transaction in zip(ends.items(), sent, strict=True):
            await self._settle(key, end, transaction, fees)

    async def _sent(self, commitments: Sequence[bytes], fees: Fees) -> list[str | None]:
        """Return the transactions' hashes; None for what was not sent, "" for what may have been."""
        sent: list[str | None] = []
        tx = self.transactions
        try:
            async with tx.turn():
                for commitment, nonce in zip(commitments, await tx.nonces(fees), strict=False):
                    sent.append("")
                    sent[-1] = await tx.send(commitment, nonce, fees)
        except (RpcError, TimeoutError) as error:
            if sent and isinstance(error, RpcError) and error.code is not None:
                sent[-1] = None
            _log.warning("a commitment was not posted", extra={"why": chain_words(error)})
        return sent + [None] * (len(commitments) - len(sent))

    async def _settle(self, key: SponsorshipKey, end: int, transaction: str | None, fees: Fees) -> None:
        """Charge the cost of a commitment; if it is not seen mined, the reserved sum when the reservation ends."""
        used = 0
        if transaction == "":
            return
        if transaction is not None:
            try:
                used = (await mined(self.transactions.connect(), transaction, _MINED_WITHIN_S)).gas_used
            except TimeoutError:
                return
        await self.transactions.store.sponsorships.settle(key, end, in_gwei(used * fees.max_fee_per_gas))

    async def next_block(self, after: int) -> None:
        """See Poster."""
        rpc = self.transactions.connect()
        with suppress(TimeoutError):
            async with asyncio.timeout(_BLOCK_WITHIN_S):
                while await rpc.block_number() <= after:  # noqa: ASYNC110 - no notice comes
                    await asyncio.sleep(_LOOK_S)


def _nonce(commitment: bytes) -> str:
    """Return a name that no other posting has: each one costs, also of the same commitment."""
    return COMMITMENT + to_hex(commitment) + " " + secrets.token_hex(8)
