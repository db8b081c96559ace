"""The service's own sponsor: approves operations of DIDs that are known here, within budgets.

It answers `pm_sponsorUserOperation`, and the two methods of ERC-7677. Nothing is approved before its greatest cost is
reserved in every budget, in one step of the store.

Nothing in a request is signed, so a stranger can send one in a person's name. It reserves for the nonce that the
person's own next operation has, of which one amount counts (`rules.sponsoring.first_full`), and a client's address can
reserve little at a time.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import msgspec

from holdfast.chain import values
from holdfast.chain.abi import call_data
from holdfast.chain.approvals import ANSWERED, margin_in
from holdfast.chain.contracts import predict_account
from holdfast.chain.contracts.commitments import inner_calls
from holdfast.chain.errors import RpcError, UserOperationError, chain_words
from holdfast.chain.fees import fees_of_chain
from holdfast.chain.next_nonces import has_next_nonce, nonce_key
from holdfast.chain.posted_commitments import REGISTRY, PostedCommitments, key_in, require_account
from holdfast.chain.user_operations import UserOperation
from holdfast.rules.abi import PUBLIC_KEY
from holdfast.rules.limits import PROXY_TIMEOUT_S
from holdfast.rules.sponsoring import (
    DATA,
    INVALID_PARAMS,
    SPONSOR,
    STUB,
    VALID_FOR_S,
    NotSponsored,
    address_budgets,
    budgets_for,
    commitments_budget,
    day_of,
    in_gwei,
    no_room,
    require_fee,
    require_possible,
    turn_of,
    waits_to_be_used,
)
from holdfast.service.operations.sponsor_charges import SponsorCharges
from holdfast.service.store.sponsorships import NewSponsorship, SponsorshipKey, address_key
from holdfast.service.telemetry import metrics
from holdfast.wire.encoding import to_hex
from holdfast.wire.errors import BUNDLER_ERROR, Refused
from holdfast.wire.keccak import checksum_address, did_hash, did_of_key

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from holdfast.chain.approvals import Approver
    from holdfast.chain.bundler import Bundler
    from holdfast.chain.rpc import RpcClient
    from holdfast.rules.pseudonyms import Pseudonyms
    from holdfast.rules.sponsoring import Budget, SponsorLimits
    from holdfast.service.clock import Clock
    from holdfast.service.operations.commitment_transactions import CommitmentTransactions
    from holdfast.service.store.sponsorships import Full, SponsorshipStore
    from holdfast.wire.requests import CallBundler

_PAYMASTER_FIELDS = ANSWERED[:4]
_NO_DID = bytes(32)
# Decoding takes time on the event loop, so larger operations are not sponsored. A registration has 600 bytes.
MAX_PARAMS_BYTES, MAX_CALL_DATA_BYTES = 32 * 1024, 8 * 1024
_MOST_CALLS = MAX_CALL_DATA_BYTES // (5 * 32)  # more only fit if they share their data
_log = logging.getLogger("holdfast.sponsor")


@dataclass(frozen=True, slots=True)
class Sponsor:
    """Pays for operations on one chain, at one entry point.

    Attributes:
        connect: returns the client of the chain's endpoint.
        bundler: returns the client of the chain's bundler, which estimates gas.
        commitments: posts the commitments of registrations.
        names: hashes DIDs, so that the budgets contain none.
    """

    store: SponsorshipStore
    approver: Approver
    chain_id: int
    entry_point: str
    limits: SponsorLimits
    connect: Callable[[], RpcClient]
    bundler: Callable[[], Bundler]
    commitments: CommitmentTransactions
    names: Pseudonyms
    clock: Clock
    within_s: float = field(default=PROXY_TIMEOUT_S)

    @property
    def charges(self) -> SponsorCharges:
        """What it approved and has not charged yet."""
        return SponsorCharges(self.store, self.connect, self.chain_id, self.entry_point, self.approver.paymaster)

    async def answer(self, request: CallBundler, address: str) -> bytes:
        """Return the JSON-RPC response to one request with one of the three methods.

        Args:
            request: the request that the client sent.
            address: the client address in whose budget approvals count until they are used.

        Raises Refused(BUNDLER_ERROR) if the chain or the bundler does not respond; StoreUnavailable.
        """
        outcome = "failed"
        try:
            async with asyncio.timeout(self.within_s):
                result = await self._result(request, address)
            outcome = "approved"
            return _response(request, {"result": result})
        except NotSponsored as refusal:
            outcome = "refused"
            return _response(request, {"error": {"code": refusal.code, "message": str(refusal)}})
        except UserOperationError as error:
            outcome = "refused"
            return _response(request, {"error": _estimates_error(error)})
        except (RpcError, TimeoutError) as error:
            _log.warning("sponsor failed", extra={"why": chain_words(error)})
            raise Refused(BUNDLER_ERROR) from None
        finally:
            metrics.SPONSORED.add(outcome)

    async def _result(self, request: CallBundler, address: str) -> dict[str, Any]:
        operation, context = self._read(request)
        operation = await self._priced(operation)
        budgets = await self._budgets(operation, context)
        if request.method == DATA:
            return await self._approved(operation, budgets, address, _PAYMASTER_FIELDS[:2])
        await self._commit(operation, budgets)
        stub = self.approver.stubbed(operation)
        if request.method == STUB:
            form = stub.to_rpc()
            return {name: form[name] for name in _PAYMASTER_FIELDS} | {"isFinal": False}
        estimated = await self.bundler().estimated(stub, margin_in(context))
        return await self._approved(estimated, budgets, address, ANSWERED)

    def _read(self, request: CallBundler) -> tuple[UserOperation, Mapping[str, Any]]:
        """Return the operation and the context of a request. Raises NotSponsored for malformed parameters."""
        most = 3 if request.method == SPONSOR else 4
        try:
            given = msgspec.json.decode(_small(request.params))
            form, entry_point, *more = given
            chain_id = self.chain_id if request.method == SPONSOR else int(more.pop(0), 16)
            context = (more[0] if more else None) or {}
            operation = UserOperation.from_rpc(form)
            margin_in(context)
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
            raise NotSponsored(f"expected a user operation and {most - 1} more parameters", INVALID_PARAMS) from None
        if len(operation.call_data) > MAX_CALL_DATA_BYTES:
            raise NotSponsored(f"the sponsor pays for at most {MAX_CALL_DATA_BYTES} bytes of call data")
        if not isinstance(entry_point, str) or entry_point.lower() != self.entry_point.lower():
            raise NotSponsored(f"the sponsor pays at the entry point {self.entry_point} alone", INVALID_PARAMS)
        if chain_id != self.chain_id:
            raise NotSponsored(f"the sponsor pays on chain {self.chain_id}", INVALID_PARAMS)
        return operation, context

    async def _priced(self, operation: UserOperation) -> UserOperation:
        """Return the operation with fees. Raises NotSponsored above the ceiling."""
        fees = await fees_of_chain(self.connect(), self.chain_id)
        if operation.max_fee_per_gas == 0:
            operation = operation.priced(fees)
        require_fee(operation.max_fee_per_gas, self.limits, fees.max_fee_per_gas)
        return operation

    async def _budgets(self, operation: UserOperation, context: Mapping[str, Any]) -> list[Budget]:
        """Return what the operation counts in. Raises NotSponsored for an account or DID that is not known here."""
        sender = to_hex(operation.sender)
        calls = inner_calls(operation.call_data)
        if len(calls) > _MOST_CALLS:
            raise NotSponsored(f"the sponsor pays for at most {_MOST_CALLS} calls in one operation")
        targets = [target for target, _ in calls] or [sender]
        await self._require_next(operation)
        did = await self._did(operation, context.get("did"))
        if did is None or not await self.store.knows(did):
            raise NotSponsored("the sponsor pays for DIDs that are registered at this service: open a session first")
        by_permission = nonce_key(operation) != 0
        return budgets_for(self.limits, self.names.of_did(did), sender, targets, by_permission=by_permission)

    async def _require_next(self, operation: UserOperation) -> None:
        """Raise NotSponsored unless the operation can be the next one of an account of Holdfast's."""
        rpc = self.connect()
        try:
            _, is_next = await asyncio.gather(
                require_account(rpc, operation), has_next_nonce(rpc, self.entry_point, operation)
            )
        except ValueError as error:
            raise NotSponsored(str(error)) from None
        if not is_next:  # clients know the code of ERC-4337, and prepare the operation once more
            raise NotSponsored("AA25 invalid account nonce: the sponsor pays for the account's next operation")

    async def _did(self, operation: UserOperation, named: object) -> str | None:
        """Return the DID of the sender: that of its key, or the named one if the registry says so."""
        if (key := key_in(operation)) is not None:
            x, y, salt = key
            return did_of_key(x, y) if salt == 0 else None  # a key has an account for each of 2^256 salts
        account, rpc = checksum_address(operation.sender), self.connect()
        registered, words = await asyncio.gather(
            rpc.eth_call(REGISTRY, call_data("didOf(address)", account)),
            rpc.eth_call(account, PUBLIC_KEY, at_least=0),
        )
        x, y = int.from_bytes(words[:32]), int.from_bytes(words[32:64])
        did = named if isinstance(named, str) else did_of_key(x, y)
        if registered[:32] == _NO_DID:
            return did if named is None and predict_account(x, y, 0) == account else None
        return did if registered[:32] == did_hash(did) else None

    async def _commit(self, operation: UserOperation, budgets: Sequence[Budget]) -> None:
        shared = [*budgets, commitments_budget(budgets)]
        poster = self.commitments.within(lambda key, wei: self._reserved(key, wei, shared))
        try:
            await PostedCommitments(self.connect(), poster).prepare(operation)
        except ValueError as error:
            raise NotSponsored(str(error)) from None

    async def _approved(
        self, operation: UserOperation, budgets: Sequence[Budget], address: str, names: Sequence[str]
    ) -> dict[str, Any]:
        """Reserve the greatest cost, then approve. Raises NotSponsored."""
        stub = self.approver.stubbed(operation)
        key = SponsorshipKey(self.chain_id, to_hex(stub.sender), hex(stub.nonce))
        valid_until = await self._reserved(key, stub.greatest_cost, budgets, address)
        form = self.approver.approved(stub, self.entry_point, valid_until).to_rpc()
        return {name: form[name] for name in names}

    async def _reserved(
        self, key: SponsorshipKey, wei: int, budgets: Sequence[Budget], address: str | None = None
    ) -> int:
        """Reserve an amount and return until when. Raises NotSponsored if a budget has no room.

        `address`: the client address that reserves it, None for what is spent at once.
        """
        require_possible(budgets, in_gwei(wei))
        block = await self.connect().call("eth_getBlockByNumber", ["latest", False])
        number, time = (values.count(values.field(block, name)) for name in ("number", "timestamp"))
        now = self.clock()
        new = NewSponsorship(
            key=key,
            day=day_of(now),
            gwei=in_gwei(wei),
            budgets=budgets,
            valid_until=max(int(now), time) + VALID_FOR_S,
            block=number,
        )
        if address is not None:
            await self._reserve_for(address, new)
        full = await self._room_for(new, key.sender, address)
        if full is not None:
            raise no_room(budgets[full.budget_index], full.spent, new.gwei)
        return new.valid_until

    async def _reserve_for(self, address: str, new: NewSponsorship) -> None:
        """Reserve the amount in the budget of the client address first, so that what is refused holds nothing else."""
        key = address_key(new.key, address, turn_of(new.valid_until))
        budgets = address_budgets(self.limits, address, new.budgets)
        if await self._room_for(replace(new, key=key, budgets=budgets), new.key.sender, address) is not None:
            raise waits_to_be_used()

    async def _room_for(self, new: NewSponsorship, account: str, address: str | None) -> Full | None:
        """Reserve an amount, if need be after the account's used approvals were charged; or return what is full."""
        full = await self.store.reserve(new)
        if full is not None and await self.charges.settle_used(account, address):
            return await self.store.reserve(new)
        return full


def _small(params: msgspec.Raw | msgspec.UnsetType) -> bytes:
    """Return the parameters' JSON. Raises ValueError if it is absent or too large."""
    if params is msgspec.UNSET or len(params) > MAX_PARAMS_BYTES:
        raise ValueError("no parameters, or too large")
    return bytes(params)


def _estimates_error(error: UserOperationError) -> dict[str, Any]:
    """Return the bundler's own error object, so that clients find the revert's data in it."""
    cause = error.__cause__
    if isinstance(cause, RpcError) and cause.code is not None:
        return {"code": cause.code, "message": str(cause)} | ({} if cause.data is None else {"data": cause.data})
    return {"code": INVALID_PARAMS, "message": str(error)}


def _response(request: CallBundler, outcome: dict[str, Any]) -> bytes:
    identity = msgspec.Raw(b"null") if request.id is msgspec.UNSET else request.id
    return msgspec.json.encode({"jsonrpc": "2.0", "id": identity, **outcome})
