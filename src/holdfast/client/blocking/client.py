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
    """One service, and perhaps a vault on this machine.

    As ServiceClient, and:

    Args:
        vault: the vault whose key registers and pays; it must be unlocked then.
        gas: who pays for gas and where its price is read; unless given, the service's sponsor, else the account.

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
        """The vault. Raises ClientStateError where none was given."""
        return kept(self._vault, self._asynchronous.vault)

    def enclave_module(self, sha256: str | None = None) -> Path:
        """The file of the service's enclave module, verified against a SHA-256 (hex) and kept on disk.

        Unless given, the hash is that of this release's own module. Raises WasmLoadError for any other module.
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
        """Register the vault's DID under one identifier; where the service has a chain, there first.

        An interrupted registration goes on where it stopped, and nothing is registered twice.

        Args:
            handle: a chosen name, or
            email: an address, or
            sms: a phone number in E.164 form. Exactly one of the three.
            code: asked for the code that was sent, with a sentence for the person; "" or None gives up.
            on_progress: told each step.

        Raises:
            RequestRefused: the service says no (IdentifierTaken, IdentifierReserved, ...).
            RegistrationRefused: no right code was given, the passkey or DID is registered otherwise, or the service
                demands proof on the chain and has no bundler.
            OperationFailed: the chain refused the registration.
        """
        return run(self._asynchronous.register(handle=handle, email=email, sms=sms, code=code, on_progress=on_progress))

    def pay(self, params: PaymentParams, *, on_progress: Callable[[str], Any] | None = None) -> PaymentResult:
        """Pay from the vault's smart account, and wait until the payment is on the chain.

        With `params.ucan` the delegation must allow `/accounts/pay` with {to, amount, token, chainId, total}; that is
        checked by the enclave before anything is signed, and `total` counts what was spent under it before.

        Raises:
            ValueError: the parameters cannot be a payment on the service's chain.
            PaymentRefused: the delegation does not allow it, or the payee's DID is not registered.
            OperationFailed: the payment was refused, or was mined and failed.
        """
        return run(self._asynchronous.pay(params, on_progress=on_progress))

    def user_operation_receipt(self, user_op_hash: str, *, within_s: float = 0.0) -> UserOperationReceipt | None:
        """What became of a user operation: the transaction that carried it, its block, what it cost.

        Args:
            user_op_hash: such as `PaymentResult.user_op_hash`, 0x-hex.
            within_s: how long to wait for it, in seconds.

        Returns:
            The receipt, also of an operation that failed inside; None while there is none.

        Raises:
            ValueError: not a hash.
            NetworkError: no usable answer.
        """
        return run(self._asynchronous.user_operation_receipt(user_op_hash, within_s=within_s))

    def smart_account_address(self) -> str:
        """The vault's smart account at this service's chain, whether it is deployed yet or not."""
        return run(self._asynchronous.smart_account_address())
