"""Sends user operations of the vault's smart account: finds a payer, has the enclave sign, sends once, and waits."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Literal

from msgspec.structs import replace

from holdfast.chain import calls, gas, signers
from holdfast.chain.abi import call_data
from holdfast.chain.account_reads import has_expired, owner_state, owners_of, permissions_of, settings_of
from holdfast.chain.account_signatures import before_creation
from holdfast.chain.bundler import PLACEHOLDER_SIGNATURE, Bundler, OperationReceipt
from holdfast.chain.did_calls import read_alias
from holdfast.chain.errors import ChainError, NoReceipt, UserOperationError
from holdfast.chain.paymaster import Paymaster
from holdfast.chain.rpc import RpcClient
from holdfast.chain.two_keys import way_of, within_sum
from holdfast.chain.user_operations import UserOperation
from holdfast.chain.values import printable
from holdfast.client.callbacks import answered
from holdfast.client.flows.accounts import account_of, is_deployed
from holdfast.client.flows.chains import served_chain
from holdfast.client.flows.failures import OperationFailed, chain_errors, is_stale
from holdfast.client.flows.gas import NoEndpoint
from holdfast.client.flows.paying import Payer
from holdfast.client.flows.second_key import SecondKeyMissing
from holdfast.client.flows.signed_operations import NONCES
from holdfast.client.http.named_endpoint import endpoint_named
from holdfast.client.types import NATIVE, CreateRegistrationInput, UserOp
from holdfast.wire.client_errors import NetworkError, PluginCallError
from holdfast.wire.encoding import from_hex, to_hex
from holdfast.wire.keccak import alias_hash
from holdfast.wire.retries import CHAIN, OPERATIONS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from holdfast.chain.account_signatures import Message
    from holdfast.chain.reverts import ErrorAbi
    from holdfast.chain.two_keys import Transfer, Way
    from holdfast.client.async_service_client import AsyncServiceClient
    from holdfast.client.flows.gas import GasPolicy
    from holdfast.client.flows.second_key import SecondKey
    from holdfast.client.flows.signed_operations import Signed, SignedOperations
    from holdfast.client.http.chain_transport import ChainTransport
    from holdfast.client.types import SignUserOpResult
    from holdfast.client.types.service import AccountState, ContractSet
    from holdfast.client.vault.async_vault import AsyncVault
    from holdfast.wire.models import ServedChain

BUNDLER_WITHIN_S = 100.0  # the limits of single requests end all attempts earlier


class SmartAccount:
    """The vault's smart account on one service's chain.

    `foreign`: whether the service may use another factory than this release's. `address`: an account that exists and
    that the vault's key owns, instead of the key's first account.
    """

    second: SecondKey | None = None
    """Another owner's key, which signs too where two owners must."""

    def __init__(
        self,
        client: AsyncServiceClient,
        vault: AsyncVault,
        transport: ChainTransport,
        policy: GasPolicy,
        signed: SignedOperations,
        foreign: bool = False,  # noqa: FBT001, FBT002 - an internal class
        address: str | None = None,
    ) -> None:
        self._client, self._vault = client, vault
        self._transport, self._policy = transport, policy
        self._signed, self._foreign, self._address = signed, foreign, address
        self._signs_by_name, self._is_cosigned = False, False
        self._elsewhere: ServedChain | None = None
        self._not_used: str | None = None  # the endpoint that the service names for this machine or another network

    async def open(self) -> None:
        """Read the service's contract set and determine the account's address."""
        self.contracts = (await self._client.contracts()).checked(foreign=self._foreign)
        self.key = (await account_of(self._vault, self.contracts)).of(self._address)
        self._settle()

    async def other_chain(self, chain_id: int) -> ServedChain | None:
        """Return the service's row for a chain to which `move` may go; None for the main chain. Call `open` first.

        Raises ValueError for a chain on which the service has no bundler.
        """
        if chain_id == self.contracts.chain_id:
            return None
        there = await served_chain(self._client, chain_id)
        if there is None or not there.payments:
            raise ValueError(f"chainId: this service pays on chain {self.contracts.chain_id}, not on {chain_id}")
        return there

    def move(self, there: ServedChain | None) -> None:
        """From now on use the account at the same address on another chain, if one is given."""
        if there is not None:
            self.contracts, self._elsewhere = replace(self.contracts, chain_id=there.chain_id), there
            self._settle()

    def _settle(self) -> None:
        self._bundler = bundler_of(self._transport, self.contracts, main=self._elsewhere is None)
        self._slot = f"{self.contracts.chain_id}:{self.contracts.entry_point}:{self.key.address}".lower()

    async def state(self) -> AccountState:
        """Return the account's state on its chain."""
        if self._elsewhere is None:
            return await self._client.get_account_state(self.key.address)
        return await self._client.account_state_on(self._elsewhere.chain_id, self.key.address)

    async def registration_call(self, alias: str | None, step: Literal["commit", "register"]) -> calls.Call:
        """Return the call that registers the vault's DID, or the one that posts the commitment to its alias first.

        The enclave derives the commitment's secret from the vault's seed, so that an interrupted registration can be
        continued from another device (decision 0314). Raises PluginCallError.
        """
        contracts = self.contracts
        made = await self._vault.create_registration(
            CreateRegistrationInput(sender=self.key.address, alias=alias or ""),
            registry_addr=contracts.did_registry,
            entry_point=contracts.entry_point,
            factory=contracts.app_factory,
            step=step,
        )
        call = calls.executed(from_hex(made.call_data))
        if call is None:
            raise PluginCallError("create_registration", "the call data is not one call")
        return call

    async def prepared(self, call: calls.Call) -> UserOperation:
        """Return a user operation for one call, with gas limits, fees and payer.

        An account's first operation also deploys it. The account state that the service returns may be two seconds old.
        The nonce is therefore at least the next one after those that this device has seen mined, and an operation that
        is refused because of its nonce is prepared once more.

        Raises OperationFailed also if an earlier operation, of which the caller did not learn the outcome, was mined
        meanwhile: with the same call, or possibly with it.
        """
        try:
            return await self._paid(call)
        except OperationFailed as error:
            if not is_stale(error):
                raise
        self._signed.forget_next(self._slot)
        await asyncio.sleep(OPERATIONS.state_age_s)
        try:
            return await self._paid(call)
        except OperationFailed as error:
            known = self._signed.open_at(self._slot)
            if known is None or not is_stale(error):
                raise
            raise self._unsettled(known) from error

    async def _paid(self, call: calls.Call) -> UserOperation:
        call_data = calls.execute(call)
        state = await self.state()
        self._signs_by_name = self._address is not None or self.key.is_replaced(state)
        if self._signs_by_name:
            await self._check_owner()
        nonce = await self._nonce(int(state.nonce), call_data)
        deployed = self._signs_by_name or nonce > 0 or is_deployed(state)
        await self._settle_keys()
        operation = UserOperation(
            sender=from_hex(self.key.address),
            nonce=nonce,
            call_data=call_data,
            factory=None if deployed else from_hex(self.contracts.app_factory),
            factory_data=None if deployed else calls.create_account(self.key.x, self.key.y),
            signature=self._placeholder(),
        )
        return await (await self._payer()).paid(operation, call, self._signed.least_fees(self._slot))

    async def _settle_keys(self) -> None:
        """Find out whether the second key signs too. Raises SecondKeyMissing."""
        way = await self.way() if self.second is not None else None
        if way is not None and way.kind == "missing":
            raise SecondKeyMissing(self.key.address, way.keys)
        self._is_cosigned = way is not None and way.kind == "two"
        self._signs_by_name = self._signs_by_name or self._is_cosigned

    async def way(self, transfer: Transfer | None = None) -> Way:
        """Return which keys sign an operation of the account, or a payment. Raises NetworkError."""
        second, chain = self.second.signer if self.second else None, await self.known_chain()
        address, own = self.key.address, self.key.signer
        with chain_errors():
            # The service's account state may be older than the account.
            exists = await chain.get_code(address)
            threshold = (await settings_of(chain, address)).threshold if exists else 1
            two = threshold > 1
            granted = await permissions_of(chain, address) if two and transfer else []
            below = within_sum(own, granted, transfer) if transfer else None
            owners = await owners_of(chain, address, [own]) if two and not below else []
        return below or way_of(threshold, own, second, owners, time.time())

    def _placeholder(self) -> bytes:
        if not self._signs_by_name:
            return b""
        own = (self.key.signer, PLACEHOLDER_SIGNATURE)
        if self.second is None or not self._is_cosigned:
            return signers.by_name(*own)
        return signers.named([own, (self.second.signer, self.second.placeholder)])

    async def _check_owner(self) -> None:
        """Raise OperationFailed unless the chain says that the vault's key alone may act for the account."""
        chain, address = await self.chain(), self.key.address
        is_owner, expiry = False, 0
        with chain_errors():
            if chain is not None:
                if self._address is not None and not await chain.get_code(address):
                    raise OperationFailed(f"the account {address} does not exist on this chain yet")
                is_owner, expiry, _ = await owner_state(chain, address, self.key.signer)
                if is_owner and self.second is None and (await settings_of(chain, address)).threshold > 1:
                    raise OperationFailed(f"two owners of the account {address} must sign")
        if not is_owner or has_expired(expiry, time.time()):
            raise OperationFailed(f"the account {address} is controlled by another key than this vault's")

    async def _nonce(self, reported: int, call_data: bytes) -> int:
        """Return the nonce for the next operation, which is that of an open operation if there is one."""
        if reported >= NONCES:
            raise OperationFailed(
                "the account's nonce has another key than 0: two signed operations could both be mined"
            )
        known = self._signed.open_at(self._slot)
        if known is None:
            return max(reported, self._signed.next_nonce(self._slot))
        with chain_errors():
            for name in known.calls:
                if (mined := await self._bundler.receipt(from_hex(name))) is not None:
                    return self._after(mined, known, reported, call_data)
        if reported <= known.nonce:
            return known.nonce
        raise self._unsettled(known)

    async def outcomes(self, names: Iterable[str]) -> dict[str, bool]:
        """Return which of these operations were mined with success (True), or failed or can never be mined (False).

        Others are open; those of this client can be replaced at a higher fee. Raises NetworkError.
        """
        found: dict[str, bool] = {}
        for name in names:
            with chain_errors():
                if (mined := await self._bundler.receipt(from_hex(name))) is not None:
                    found[name] = mined.succeeded
                    self._signed.mined(self._slot, name)
        return dict.fromkeys(self._signed.replaced(self._slot), False) | found

    def _unsettled(self, known: Signed) -> OperationFailed:
        """Forget an open operation whose nonce is of no use any more, and return the error that says so."""
        self._signed.forget(self._slot)
        return OperationFailed(
            f"an earlier operation ({', '.join(known.calls)}) may have been mined, although there is no receipt: its "
            "nonce is not accepted. Look at what the account has done before you try again",
            earlier="unknown",
        )

    def _after(self, mined: OperationReceipt, known: Signed, reported: int, call_data: bytes) -> int:
        name = to_hex(mined.operation_hash)
        self._signed.mined(self._slot, name)
        if mined.succeeded and known.calls_the_same(name, call_data):
            why = f"an earlier operation ({name}) with the same call has been mined meanwhile"
            raise OperationFailed(why, earlier="mined")
        return max(reported, known.nonce + 1)

    async def _payer(self) -> Payer:
        paymaster = None
        if self._policy.paymaster_url is not None:
            paymaster = Paymaster(
                RpcClient(self._policy.paymaster_url, self._transport, batches=False),
                entry_point=self._bundler.entry_point,
                chain_id=self._bundler.chain_id,
                context=self._policy.context,
                errors=known_errors(),
            )
        margin = gas.BY_NAME if self._signs_by_name else 0
        if self.second is not None and self._is_cosigned:
            margin = 2 * margin + self.second.verification_gas
        main = self._elsewhere is None
        return Payer(self._bundler, self._policy, await self.chain(), paymaster, margin, main=main)

    async def chain(self) -> RpcClient | None:
        """Return a client for the endpoint that the application (main chain) or the service names, or None."""
        url = self._policy.rpc_url if self._elsewhere is None else None
        if url is None:
            try:
                named = (await self._client.status()).rpc if self._elsewhere is None else self._elsewhere.rpc
            except NetworkError:
                return None
            url = endpoint_named(named, self._transport.base_url)
            self._not_used = None if url else named
        return RpcClient(url, self._transport, timeout_s=CHAIN.within_s) if url else None

    async def known_chain(self) -> RpcClient:
        """Return the same client. Raises NoEndpoint."""
        if (chain := await self.chain()) is not None:
            return chain
        named = self._not_used and f"the service names {printable(self._not_used)}, which this program may not call"
        raise NoEndpoint(named or "no endpoint of the chain is known", main=self._elsewhere is None)

    async def balance(self, token: str) -> int | None:
        """Return the account's balance in the token's smallest unit, or None if no endpoint returns it."""
        chain = await self.chain()
        if chain is None:
            return None
        with suppress(ChainError):
            if token == NATIVE:
                return await chain.get_balance(self.key.address)
            held = await chain.eth_call(token, call_data("balanceOf(address)", self.key.address))
            return int.from_bytes(held[:32]) if held else None
        return None

    async def require_free(self, alias: str) -> None:
        """Raise OperationFailed if the chain says that a DID has this alias. `alias`: in the canonical form.

        The registry says so only after a commitment. Without an endpoint of the chain that answers, nothing is raised.
        """
        chain, taken = await self.chain(), None
        with suppress(ChainError):
            if chain is not None:
                data = call_data("getAlias(bytes32)", alias_hash(alias))
                taken, _, _ = read_alias(await chain.eth_call(self.contracts.did_registry, data))
        if taken is not None:
            raise OperationFailed(f"the alias {alias} is taken on the chain: choose another", "AliasTaken")

    async def next_block(self, after: int | None) -> int:
        """Wait for a block above `after` (None: above the newest one), without an endpoint for three seconds.

        Return the newest block's number; `after` if there is no endpoint or no block came in time.
        """
        chain = await self.chain()
        if chain is None:
            await asyncio.sleep(OPERATIONS.block_s)
        else:
            with suppress(ChainError, TimeoutError):
                async with asyncio.timeout(OPERATIONS.block_within_s):
                    return await _block_above(chain, after)
        return after or 0

    async def signed(self, operation: UserOperation) -> UserOperation:
        """Return the operation with the vault's signature, and the second key's over the same hash if two must sign.

        Raises PluginCallError if the enclave signed another hash.
        """
        contracts, digest = self.contracts, self.hash(operation)
        unsigned = UserOp.from_json(operation.to_rpc())
        own = signature_in(await self._vault.sign_user_op(unsigned, contracts.entry_point, contracts.chain_id), digest)
        if self.second is None or not self._is_cosigned:
            return operation.signed(signers.by_name(self.key.signer, own) if self._signs_by_name else own)
        other: bytes = await answered(self.second.sign, digest)
        return operation.signed(signers.named([(self.key.signer, own), (self.second.signer, other)]))

    def hash(self, operation: UserOperation) -> bytes:
        """Return the operation's hash, as the service's entry point defines it."""
        return self._bundler.hash(operation)

    async def signed_message(self, message: Message) -> bytes:
        """Return the account's signature of a message (ERC-1271); before the account exists, as ERC-6492 says.

        Raises OperationFailed if the vault's key alone may not sign for the account.
        """
        state = await self._client.get_account_state(self.key.address)
        by_name = self._address is not None or self.key.is_replaced(state)
        if by_name:
            await self._check_owner()
        digest = message.digest(self.key.address, self.contracts.chain_id)
        own = bytes((await self._vault.sign(digest)).signature)
        made = message.signature(signers.by_name(self.key.signer, own) if by_name else own)
        if by_name or is_deployed(state):
            return made
        return before_creation(made, self.contracts.app_factory, calls.create_account(self.key.x, self.key.y))

    async def send(self, operation: UserOperation) -> bytes:
        """Send the signed operation once. Raises OperationFailed, NetworkError; it may be mined nevertheless."""
        self._signed.note(self._slot, operation, self.hash(operation))
        with chain_errors():
            return await self._bundler.send(operation)

    async def wait(self, operation_hash: bytes, within_s: float = OPERATIONS.receipt_within_s) -> OperationReceipt:
        """Return the receipt. Raises OperationFailed if the operation reverted or was not mined in time."""
        with chain_errors():
            try:
                receipt = await self._bundler.wait(operation_hash, within_s)
            except NoReceipt:
                raise
            except UserOperationError:
                self._signed.mined(self._slot, to_hex(operation_hash))
                raise
        self._signed.mined(self._slot, to_hex(operation_hash))
        return receipt


def signature_in(signed: SignUserOpResult, operation_hash: bytes) -> bytes:
    """Return the signature in the enclave's answer. Raises PluginCallError if the enclave signed another hash."""
    if from_hex(signed.user_op_hash) != operation_hash:
        raise PluginCallError("sign_user_op", "the enclave signed another operation")
    return from_hex(signed.signature)


async def _block_above(chain: RpcClient, number: int | None) -> int:
    least = await chain.block_number() if number is None else number
    while (newest := await chain.block_number()) <= least:  # noqa: ASYNC110 - another process
        await asyncio.sleep(OPERATIONS.block_look_s)
    return newest


def bundler_of(transport: ChainTransport, contracts: ContractSet, *, main: bool = True) -> Bundler:
    """Return a client for the service's bundler. `main`: whether the chain is the service's main chain."""
    url = f"{transport.base_url}/api/bundler" + ("" if main else f"/{contracts.chain_id}")
    rpc = RpcClient(url, transport, batches=False, timeout_s=BUNDLER_WITHIN_S, delays_s=())  # `transport` repeats them
    return Bundler(rpc, entry_point=contracts.entry_point, chain_id=contracts.chain_id, errors=known_errors())


def known_errors() -> list[ErrorAbi]:
    """Return the Solidity errors with which the contracts may revert a user operation."""
    from holdfast.chain.contracts import load
    from holdfast.chain.reverts import errors_of

    return [error for name in ("DIDRegistry", "VaultAccount", "DevUSDC") for error in errors_of(load(name).abi)]
