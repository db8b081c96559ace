"""`Client`, the blocking form of `AsyncClient`.

Written by `tools/blocking_client.py` from `holdfast/client/async_client.py`;
not edited by hand.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.client.async_client import AsyncClient
from holdfast.client.async_service_client import DEFAULT_BASE_URL
from holdfast.client.blocking.loop import kept, run
from holdfast.client.blocking.service_client import ServiceClient
from holdfast.client.http.transport import DEFAULT_TIMEOUT_S

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    import httpx

    from holdfast.client.blocking.vault import Vault
    from holdfast.client.flows.gas import GasPolicy
    from holdfast.client.flows.receipts import UserOperationReceipt
    from holdfast.client.flows.registration import Registration
    from holdfast.client.http.calls import Retries
    from holdfast.client.types import PaymentParams, PaymentResult


class Client(ServiceClient):
    """A client of one service, with an optional vault on this machine.

    Takes the arguments of ServiceClient, and:

    Args:
        vault: the vault whose key registers and pays; it must be unlocked when it does.
        gas: who pays for gas and where its price is read. By default the service's sponsor pays, else the account.

    Safe to use from several threads, and where an event loop runs. Callbacks run in the calling thread.
    """

    _asynchronous: AsyncClient

    def __init__(
        self,
        base_url: str = DEFAULT_BASE_URL,
        *,
        vault: Vault | None = None,
        gas: GasPolicy | None = None,
        timeout: float | httpx.Timeout = DEFAULT_TIMEOUT_S,
        retries: Retries | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self._asynchronous = AsyncClient(
            base_url,
            vault=None if vault is None else vault._asynchronous,
            gas=gas,
            timeout=timeout,
            retries=retries,
            transport=transport,
            headers=headers,
        )
        self._vault = vault

    @property
    def vault(self) -> Vault:
        """The vault. Raises ClientStateError if the client has none."""
        return kept(self._vault, self._asynchronous.vault)

    def enclave_module(self, sha256: str | None = None) -> Path:
        """Return the file of the service's enclave module, checked against a SHA-256 (hex) and cached on disk.

        The default hash is that of the module of this release. Raises WasmLoadError for a module with another hash.
        """
        return run(self._asynchronous.enclave_module(sha256))

    def register(
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
        return run(self._asynchronous.register(handle=handle, email=email, sms=sms, code=code, on_progress=on_progress))

    def pay(self, params: PaymentParams, *, on_progress: Callable[[str], Any] | None = None) -> PaymentResult:
        """Pay from the vault's smart account, and wait until the payment is on the chain.

        With `params.ucan` the delegation must allow `/accounts/pay` with {to, amount, token, chainId, total}. The
        enclave checks that before anything is signed. `total` includes what was spent under the delegation before.

        Raises:
            ValueError: the parameters cannot be a payment on the service's chain.
            PaymentRefused: the delegation does not allow it, or the payee's DID is not registered.
            OperationFailed: the payment was refused, or was mined and failed.
        """
        return run(self._asynchronous.pay(params, on_progress=on_progress))

    def user_operation_receipt(self, user_op_hash: str, *, within_s: float = 0.0) -> UserOperationReceipt | None:
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
        return run(self._asynchronous.user_operation_receipt(user_op_hash, within_s=within_s))

    def smart_account_address(self) -> str:
        """Return the address of the vault's smart account on this service's chain, deployed or not."""
        return run(self._asynchronous.smart_account_address())
