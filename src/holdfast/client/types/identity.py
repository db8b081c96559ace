"""Types for what the enclave generates and stores: interface section "Client-side types", Identity."""

from __future__ import annotations

from typing import Any, Literal

from holdfast.client.types.base import Octets, Record
from holdfast.client.types.crypto import EncryptedShares
from holdfast.client.types.operations import UserOp  # noqa: TC001 - msgspec reads annotations at run time


class GenerateInput(Record, frozen=True, kw_only=True):
    """The input for a new vault. `credential`: base64 of the serialised WebAuthn credential.

    `verification_proof`: the service's attestation as JSON text. The enclave refuses an attestation that has expired or
    is for a different identifier or channel. Only the service that issued an attestation can check its signature.
    """

    credential: str
    identifier: str | None = None
    channel: Literal["email", "sms"] | None = None
    verification_proof: str | None = None


class AccountInfo(Record, frozen=True, kw_only=True):
    """An account's main fields.

    For a P-256 key, `address` is that of its smart account, even before the account is deployed.
    """

    address: str
    chain_id: str


class GenerateOutput(Record, frozen=True, kw_only=True):
    """A new vault. `database`: the sealed SQLite bytes, which the caller stores."""

    did: str
    database: Octets
    enclave_id: str
    public_key: str
    pubkey_x: str | None = None
    pubkey_y: str | None = None
    accounts: tuple[AccountInfo, ...]


class GenerateOutputWithShares(GenerateOutput, frozen=True, kw_only=True):
    """A new vault together with the shares of its key."""

    encrypted_shares: EncryptedShares | None = None
    public_key_hex: str | None = None


class SharesOfEnclave(EncryptedShares, frozen=True, kw_only=True):
    """A key's two shares, and the ID of the enclave to which they belong."""

    enclave_id: str


class GenerateResult(Record, frozen=True, kw_only=True):
    """The result of creating a vault, with the credential as the enclave parsed it."""

    success: bool
    did: str
    address: str
    shares: SharesOfEnclave
    parsed_credential: dict[str, Any]


class Account(Record, frozen=True, kw_only=True):
    """An account of the vault. `coin_type` is SLIP-44's, the indexes are BIP-44's (0 for a key that is not derived)."""

    address: str
    chain_id: str
    coin_type: int
    account_index: int
    address_index: int
    label: str
    is_default: bool


class VerificationMethod(Record, frozen=True, kw_only=True):
    """A verification method of the DID document. `public_key` in base64."""

    id: str
    type: str
    controller: str
    public_key: str
    purpose: str


class Credential(Record, frozen=True, kw_only=True):
    """A passkey listed in the vault. `credential_id` in base64url, times in ISO 8601."""

    credential_id: str
    device_name: str
    device_type: Literal["platform", "cross-platform"]
    authenticator: str
    transports: tuple[str, ...]
    created_at: str
    last_used: str


class CreateRegistrationInput(Record, frozen=True, kw_only=True):
    """The input for an on-chain registration.

    `sender`: the vault's smart account; `alias`: a handle, or "" for none; `cid`: of the metadata; `did`: a DID of
    another method than did:new, to register instead of the vault's.
    """

    sender: str
    alias: str
    cid: str | None = None
    did: str | None = None


class RegistrationResult(Record, frozen=True, kw_only=True):
    """A prepared registration. `user_op` is None if no transaction is needed; hashes are Keccak-256.

    The enclave cannot know whether the DID is already on the chain, so the caller states this in `registered`.
    """

    user_op: UserOp | None
    did_hash: str
    alias_hash: str
    metadata_cid: str
    call_data: str
    entry_point: str
    registry_addr: str
