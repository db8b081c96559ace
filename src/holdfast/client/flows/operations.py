"""One user operation of the vault's smart account: sponsored, signed by the enclave, sent once, waited for."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from holdfast.chain import calls
from holdfast.chain.bundler import Bundler, OperationReceipt
from holdfast.chain.errors import ChainError, UserOperationError
from holdfast.chain.rpc import RpcClient
from holdfast.chain.user_operations import UserOperation
from holdfast.client.types import UserOp
from holdfast.wire.client_errors import NetworkError, PluginCallError, ServiceError
from holdfast.wire.encoding import from_hex, to_hex

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.client.flows.faces import CarrierTransport, Face

RECEIPT_WITHIN_S = 120.0
STATE_AGE_S = 2.1  # the service keeps an account's state for at most two seconds
_STALE = ("AA25", "AA10")  # ERC-4337: invalid nonce; sender already constructed


class OperationFailed(ServiceError):
    """The operation was refused, or was mined and failed. `reason` is the decoded revert, where there is one."""

    def __init__(self, message: str, reason: str | None) -> None:
        super().__init__(message)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class AccountKey:
    """The vault's P-256 key and the account that the factory gives it."""

    x: int
    y: int
    address: str


class SmartAccount:
    """The vault's account at one service's chain. `sent`: the next nonce after each account's last operation."""

    def __init__(
        self, client: Face, vault: Face, transport: CarrierTransport, base_url: str, sent: dict[str, int]
    ) -> None:
        self._client, self._vault = client, vault
        self._transport, self._base_url = transport, base_url
        self._sent = sent

    async def open(self) -> None:
        """Learn the contracts and the account's address."""
        self.contracts = await self._client.contracts()
        self.key = await self._account_key()
        rpc = RpcClient(f"{self._base_url}/api/bundler", self._transport, batches=False)
        self._bundler = Bundler(
            rpc, entry_point=self.contracts.entry_point, chain_id=self.contracts.chain_id, errors=_known_errors()
        )

    async def prepared(self, call: calls.Call) -> UserOperation:
        """The account's operation for one call, sponsored; the first one also deploys the account.

        The service may answer with a state of two seconds ago, so what this client sent since counts as well, and an
        operation refused for its nonce is prepared once more.
        """
        try:
            return await self._sponsored(call)
        except OperationFailed as error:
            if not any(code in str(error) for code in _STALE):
                raise
        await asyncio.sleep(STATE_AGE_S)
        return await self._sponsored(call)

    async def _sponsored(self, call: calls.Call) -> UserOperation:
        state = await self._client.get_account_state(self.key.address)
        nonce = max(int(state.nonce), self._sent.get(self.key.address, 0))
        deployed = nonce > 0 or int(state.pub_key_x, 16) != 0
        operation = UserOperation(
            sender=from_hex(self.key.address),
            nonce=nonce,
            call_data=calls.execute(call),
            factory=None if deployed else from_hex(self.contracts.app_factory),
            factory_data=None if deployed else calls.create_account(self.key.x, self.key.y),
        )
        with chain_errors():
            return await self._bundler.sponsored(operation)

    async def signed(self, operation: UserOperation) -> UserOperation:
        """The operation with the enclave's signature. Raises PluginCallError where it signed another hash than ours."""
        unsigned = UserOp.from_json(operation.to_rpc())
        signed = await self._vault.sign_user_op(unsigned, self.contracts.entry_point, self.contracts.chain_id)
        if from_hex(signed.user_op_hash) != self.hash(operation):
            raise PluginCallError("sign_user_op", "the enclave signed another operation")
        return operation.signed(from_hex(signed.signature))

    def hash(self, operation: UserOperation) -> bytes:
        """The operation's name at the entry point."""
        return self._bundler.hash(operation)

    async def send(self, operation: UserOperation) -> bytes:
        """Hand the signed operation over, once. Raises OperationFailed, NetworkError."""
        with chain_errors():
            sent = await self._bundler.send(operation)
        self._sent[self.key.address] = operation.nonce + 1
        return sent

    async def wait(self, operation_hash: bytes, within_s: float = RECEIPT_WITHIN_S) -> OperationReceipt:
        """The receipt. Raises OperationFailed where the operation failed inside, or never came."""
        with chain_errors():
            return await self._bundler.wait(operation_hash, within_s)

    async def _account_key(self) -> AccountKey:
        signed = await self._vault.query()
        x, y = _coordinates(signed.verification_methods[0].public_key)
        address = await self._client.get_smart_account_address(hex(x), hex(y))
        return AccountKey(x, y, address)


def _coordinates(public_key: str) -> tuple[int, int]:
    from cryptography.hazmat.primitives.asymmetric import ec

    from holdfast.wire.encoding import from_base64url

    point = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), from_base64url(public_key)).public_numbers()
    return point.x, point.y


def _known_errors() -> list[Any]:
    from holdfast.chain.contracts import load
    from holdfast.chain.reverts import errors_of

    return [error for name in ("DIDRegistry", "VaultAccount", "DevUSDC") for error in errors_of(load(name).abi)]


@contextmanager
def chain_errors() -> Iterator[None]:
    """Turns the chain's errors into the client's: failed operations and unreachable endpoints."""
    try:
        yield
    except UserOperationError as error:
        raise OperationFailed(str(error), error.reason) from error
    except ChainError as error:
        raise NetworkError(str(error)) from error


def hash_text(operation_hash: bytes) -> str:
    """0x-hex."""
    return to_hex(operation_hash)
