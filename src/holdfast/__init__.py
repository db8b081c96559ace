"""Holdfast: a self-hosted registration and identity vault."""

from __future__ import annotations

from typing import TYPE_CHECKING

__version__ = "0.2.0"

if TYPE_CHECKING:
    from holdfast.client.app_signatures import AppSignatureRefused as AppSignatureRefused
    from holdfast.client.app_signatures import verify_app_signature as verify_app_signature
    from holdfast.client.async_client import AsyncClient as AsyncClient
    from holdfast.client.blocking.client import Client as Client
    from holdfast.client.blocking.vault import Vault as Vault
    from holdfast.client.flows.failures import AccountNotFunded as AccountNotFunded
    from holdfast.client.flows.failures import GasTooDear as GasTooDear
    from holdfast.client.flows.failures import OperationFailed as OperationFailed
    from holdfast.client.flows.failures import PaymentRefused as PaymentRefused
    from holdfast.client.flows.failures import RegistrationRefused as RegistrationRefused
    from holdfast.client.flows.gas import GasPolicy as GasPolicy
    from holdfast.client.flows.receipts import UserOperationReceipt as UserOperationReceipt
    from holdfast.client.flows.registration import Registration as Registration
    from holdfast.client.http.calls import Retries as Retries
    from holdfast.client.http.json_rpc import JsonRpcError as JsonRpcError
    from holdfast.client.http.refusals import RequestRefused as RequestRefused
    from holdfast.client.passkeys import Authenticator as Authenticator
    from holdfast.client.passkeys import PasskeyKey as PasskeyKey
    from holdfast.client.passkeys import Person as Person
    from holdfast.client.passkeys import device_capabilities as device_capabilities
    from holdfast.client.software_authenticator import SoftwareAuthenticator as SoftwareAuthenticator
    from holdfast.client.storage.vault_store import VaultStore as VaultStore
    from holdfast.client.types.service import ForeignContracts as ForeignContracts
    from holdfast.client.vault.async_vault import AsyncVault as AsyncVault
    from holdfast.client.vault.keys import KeyringKey as KeyringKey
    from holdfast.client.vault.keys import PasswordKey as PasswordKey
    from holdfast.client.vault.keys import SecretKey as SecretKey
    from holdfast.wire.client_errors import ClientStateError as ClientStateError
    from holdfast.wire.client_errors import NetworkError as NetworkError
    from holdfast.wire.client_errors import PluginCallError as PluginCallError
    from holdfast.wire.client_errors import ServiceError as ServiceError
    from holdfast.wire.client_errors import StorageError as StorageError
    from holdfast.wire.client_errors import WasmLoadError as WasmLoadError
    from holdfast.wire.client_errors import WebAuthnError as WebAuthnError

# Public names are imported on first use, so `import holdfast` is quick and the service never loads the client's
# libraries.
_HOMES = {
    "holdfast.client.async_client": ("AsyncClient",),
    "holdfast.client.blocking.client": ("Client",),
    "holdfast.client.flows.failures": (
        "AccountNotFunded",
        "GasTooDear",
        "OperationFailed",
        "PaymentRefused",
        "RegistrationRefused",
    ),
    "holdfast.client.flows.gas": ("GasPolicy",),
    "holdfast.client.flows.receipts": ("UserOperationReceipt",),
    "holdfast.client.flows.registration": ("Registration",),
    "holdfast.client.http.calls": ("Retries",),
    "holdfast.client.http.json_rpc": ("JsonRpcError",),
    "holdfast.client.http.refusals": ("RequestRefused",),
    "holdfast.client.passkeys": ("Authenticator", "PasskeyKey", "Person", "device_capabilities"),
    "holdfast.client.software_authenticator": ("SoftwareAuthenticator",),
    "holdfast.client.storage.vault_store": ("VaultStore",),
    "holdfast.client.types.service": ("ForeignContracts",),
    "holdfast.client.vault.async_vault": ("AsyncVault",),
    "holdfast.client.vault.keys": ("KeyringKey", "PasswordKey", "SecretKey"),
    "holdfast.client.blocking.vault": ("Vault",),
    "holdfast.client.app_signatures": ("AppSignatureRefused", "verify_app_signature"),
    "holdfast.wire.client_errors": (
        "ClientStateError",
        "NetworkError",
        "PluginCallError",
        "ServiceError",
        "StorageError",
        "WasmLoadError",
        "WebAuthnError",
    ),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}
__all__ = sorted(_HOME_OF)  # noqa: PLE0605 - one table, which a test compares with the modules


def __getattr__(name: str) -> object:
    """Return the public object `name`, importing the module that defines it. Raises AttributeError for other names."""
    if name not in _HOME_OF:
        raise AttributeError(f"module 'holdfast' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOME_OF[name]), name)


def __dir__() -> list[str]:
    """Return the package's public names, including those not imported yet."""
    return [*globals(), *__all__]
