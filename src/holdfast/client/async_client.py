"""`holdfast.AsyncClient`: one service and, if given, one vault. `holdfast.Client` is generated from it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from holdfast.client.async_service_client import DEFAULT_BASE_URL, AsyncServiceClient
from holdfast.client.flows.delegation_budget import DelegationBudget
from holdfast.client.flows.gas import GasPolicy
from holdfast.client.flows.operations import SmartAccount
from holdfast.client.flows.payment import Payments
from holdfast.client.flows.receipts import receipt_of
from holdfast.client.flows.registration import Registrar
from holdfast.client.http.chain_transport import ChainTransport
from holdfast.client.http.transport import DEFAULT_TIMEOUT_S
from holdfast.client.vault.module import module_file
from holdfast.wire.client_errors import ClientStateError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    import httpx

    from holdfast.client.flows.receipts import UserOperationReceipt
    from holdfast.client.flows.registration import Registration
    from holdfast.client.http.calls import Retries
    from holdfast.client.types import PaymentParams, PaymentResult
    from holdfast.client.vault.async_vault import AsyncVault


class AsyncClient(AsyncServiceClient):
    """A client of one service, with an optional vault on this machine.

    Takes the arguments of AsyncServiceClient, and:

    Args:
        vault: the vault whose key registers and pays; it must be unlocked when it does.
        gas: who pays for gas and where its price is read. By default the service's sponsor pays, else the account.
    """

    def __init__(
        self,
        base_url: str = DEFAULT_BASE_URL,
        *,
        vault: AsyncVault | None = None,
        gas: GasPolicy | None = None,
        timeout: float | httpx.Timeout = DEFAULT_TIMEOUT_S,
        retries: Retries | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(base_url, timeout=timeout, retries=retries, transport=transport, headers=headers)
        self._vault = vault
        self._gas = gas or GasPolicy()
        self._budget: DelegationBudget | None = None
        self._sent: dict[str, int] = {}
        # One operation at a time, because an account's nonces are consecutive.
        self._operating = asyncio.Lock()

    @property
    def vault(self) -> AsyncVault:
        """The vault. Raises ClientStateError if the client has none."""
        if self._vault is None:
            raise ClientStateError("the client has no vault: pass `vault` when you make it")
        return self._vault

    async def enclave_module(self, sha256: str | None = None) -> Path:
        """Return the file of the service's enclave module, checked against a SHA-256 (hex) and cached on disk.

        The default hash is that of the module of this release. Raises WasmLoadError for a module with another hash.
        """
        module = await self.enclave_wasm()
        return await asyncio.to_thread(module_file, sha256 or expected_module(), lambda: module)

    async def register(
        self,
        *,
        handle: str | None = None,
        email: str | None = None,
        sms: str | None = None,
        code: Callable[[str], Any] | None = None,
        on_progress: Callable[[str], Any] | None = None,
    ) -> Registration:
        """Register the vault's DID under one identifier: on the service's chain, if it has one, and with the service.

        A call after an interruption continues with the first step that is missing and repeats none.

        Args:
            handle: a chosen name, or
            email: an address, or
            sms: a phone number in E.164 form. Exactly one of the three.
            code: called with a sentence when a code was sent; returns the code, or "" or None to give up.
            on_progress: called with a sentence for each step.

        Raises:
            RequestRefused: the service refused (IdentifierTaken, IdentifierReserved, ...).
            RegistrationRefused: no correct code was given, the passkey or DID is registered for something else, or the
            service requires an on-chain registration and has no bundler.
            OperationFailed: the registration failed on the chain.
        """
        identifier, channel = chosen_identifier(handle, email, sms)
        async with self._operating:
            return await self._registrar().register(identifier, channel, code, on_progress)

    async def pay(self, params: PaymentParams, *, on_progress: Callable[[str], Any] | None = None) -> PaymentResult:
        """Pay from the vault's smart account, and wait until the payment is on the chain.

        With `params.ucan` the delegation must allow `/accounts/pay` with {to, amount, token, chainId, total}. The
        enclave checks that before anything is signed. `total` includes what was spent under the delegation before.

        Raises:
            ValueError: the parameters cannot be a payment on the service's chain.
            PaymentRefused: the delegation does not allow it, or the payee's DID is not registered.
            OperationFailed: the payment was refused, or was mined and failed.
        """
        async with self._operating:
            return await self._payments().pay(params, on_progress)

    async def user_operation_receipt(self, user_op_hash: str, *, within_s: float = 0.0) -> UserOperationReceipt | None:
        """Return the receipt of a user operation: its transaction, block and cost.

        Args:
            user_op_hash: such as `PaymentResult.user_op_hash`, 0x-hex.
            within_s: seconds to wait for the receipt.

        Returns:
            The receipt, also of an operation that reverted; None if there is none yet.

        Raises:
            ValueError: `user_op_hash` is not a hash.
            NetworkError: no usable answer arrived.
        """
        return await receipt_of(self, ChainTransport(self._http), user_op_hash, within_s)

    async def smart_account_address(self) -> str:
        """Return the address of the vault's smart account on this service's chain, deployed or not."""
        account = self._account()
        await account.open()
        return account.key.address

    def _account(self) -> SmartAccount:
        return SmartAccount(self, self.vault, ChainTransport(self._http), self._gas, self._sent)

    def _registrar(self) -> Registrar:
        return Registrar(self, self.vault, self._account(), self.vault.store)

    def _payments(self) -> Payments:
        self._budget = self._budget or DelegationBudget(self.vault.store)
        return Payments(self, self.vault, self._account(), self._budget)


def chosen_identifier(handle: str | None, email: str | None, sms: str | None) -> tuple[str, str]:
    """Return identifier and channel. Raises ValueError unless exactly one is given."""
    given = [(value, channel) for value, channel in ((handle, "handle"), (email, "email"), (sms, "sms")) if value]
    if len(given) != 1:
        raise ValueError("pass exactly one of handle, email and sms")
    return given[0]


def expected_module() -> str:
    """Return the SHA-256 of the module that belongs to this release."""
    from holdfast.enclave.module import bundled_sha256  # imports the WebAssembly runtime

    return bundled_sha256()
