"""Types of the service's responses: shared JSON types with the client's conversions, and the indexer's records."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

import msgspec

from holdfast.chain.contracts.addresses import APP_FACTORY
from holdfast.client.types.base import Record, Wire
from holdfast.wire import models
from holdfast.wire.client_errors import ServiceError

# Forms of texts. If a text has another form, the client reports that the service did not answer as documented.
Decimal = Annotated[str, msgspec.Meta(pattern=r"^[0-9]{1,78}$(?!\n)")]
Coordinate = Annotated[str, msgspec.Meta(pattern=r"^0x[0-9a-fA-F]{1,64}$(?!\n)")]
Hex = Annotated[str, msgspec.Meta(pattern=r"^0x([0-9a-fA-F]{2})*$(?!\n)")]
Address = Annotated[str, msgspec.Meta(pattern=r"^0x[0-9a-fA-F]{40}$(?!\n)")]


class ForeignContracts(ServiceError):
    """The service's account factory is not this release's. Its code decides which key its accounts obey."""


class ContractSet(models.ContractSet, Wire, frozen=True, kw_only=True):
    """GET /api/contracts."""

    entry_point: Address = msgspec.field(name="entryPoint")
    did_registry: Address = msgspec.field(name="didRegistry")
    app_factory: Address = msgspec.field(name="appFactory")

    def checked(self, *, foreign: bool = False) -> Self:
        """Return the contracts. `foreign`: the factory may be another than this release's.

        Raises ForeignContracts.
        """
        if not foreign and self.app_factory.lower() != APP_FACTORY.lower():
            raise ForeignContracts(
                f"the service's account factory {self.app_factory} is not the one of this release: an account that it "
                "creates may obey another key than yours"
            )
        return self

    def for_vault(self, *, foreign: bool = False) -> dict[str, str | int]:
        """Return arguments for `Vault.generate` that make the vault derive its account on the service's chain.

        `foreign`: the service's factory may be another than this release's. Raises ForeignContracts.
        """
        return {"factory": self.checked(foreign=foreign).app_factory, "chain_id": self.chain_id}


class Status(models.Status, Wire, frozen=True, kw_only=True):
    """GET /api/status."""


class ServedChain(models.ServedChain, Wire, frozen=True, kw_only=True):
    """A chain of GET /api/chains."""


class ServedChains(models.ServedChains, Wire, frozen=True, kw_only=True):
    """GET /api/chains, the main chain first."""


class PredictedAddress(models.PredictedAddress, Wire, frozen=True, kw_only=True):
    """GET /api/accounts/predict."""

    address: Address


class AccountState(models.AccountState, Wire, frozen=True, kw_only=True):
    """GET /api/accounts/state."""

    nonce: Decimal
    did: Hex
    pub_key_x: Coordinate = msgspec.field(name="pubKeyX")
    pub_key_y: Coordinate = msgspec.field(name="pubKeyY")


class Balance(models.Balance, Wire, frozen=True, kw_only=True):
    """GET /api/balance."""


class RegistrationCounters(models.RegistrationCounters, Wire, frozen=True, kw_only=True):
    """GET /api/sessions/status."""


class PersonRemoved(models.PersonRemoved, Wire, frozen=True, kw_only=True):
    """POST /api/person/removals: how many were removed of each kind."""


class AddressAdded(models.AddressAdded, Wire, frozen=True, kw_only=True):
    """POST /api/person/identifiers: the address that the DID holds."""


class SessionCreated(models.SessionCreated, Wire, frozen=True, kw_only=True):
    """POST /api/sessions."""


class CodeSent(models.CodeSent, Wire, frozen=True, kw_only=True):
    """POST /api/verify/send."""


class Attestation(models.Attestation, Wire, frozen=True, kw_only=True):
    """Proof that an e-mail address or phone number was verified.

    An attestation can be used in only one POST /api/dids request.
    """


class VerificationStatus(models.VerificationStatus, Wire, frozen=True, kw_only=True):
    """GET /api/verify/status."""


class DidRegistered(models.DidRegistered, Wire, frozen=True, kw_only=True):
    """POST /api/dids."""


class DidRecord(Record, frozen=True, kw_only=True):
    """GET /api/dids/lookup, found."""

    found: bool
    identifier: str
    channel: str
    did: str
    tx_hash: str = msgspec.field(name="txHash")
    block_number: int | None = msgspec.field(name="blockNumber", default=None)
    smart_account: str | None = msgspec.field(name="smartAccount", default=None)
    created_at: str = msgspec.field(name="createdAt")


class Availability(Record, frozen=True, kw_only=True):
    """GET /api/sessions/check. `message` is present when the reason is "reserved"."""

    available: bool
    reason: Literal["taken", "reserved"] | None
    message: str | None = None


class AliasAvailability(Record, frozen=True, kw_only=True):
    """GET /api/aliases/check. `did` is the alias's holder when it is not available."""

    available: bool
    did: str | None = None


class CodeCheck(Record, frozen=True, kw_only=True):
    """POST /api/verify/check: `attestation` if the code was correct, otherwise `message` with the reason."""

    ok: bool
    verified: bool
    attestation: Attestation | None = None
    message: str | None = None


class RecoveryTerms(models.RecoveryTerms, Wire, frozen=True, kw_only=True):
    """GET /api/recovery."""

    guardian: Hex | None
    guardians: list[Hex]


class RecoveryCodeSent(models.RecoveryCodeSent, Wire, frozen=True, kw_only=True):
    """POST /api/recovery/send."""


class RecoverySigned(models.RecoverySigned, Wire, frozen=True, kw_only=True):
    """POST /api/recovery/sign."""

    signer: Hex
    signature: Hex


class RecoveryStopped(models.RecoveryStopped, Wire, frozen=True, kw_only=True):
    """POST /api/recovery/stop."""


class RecoveryCheck(Record, frozen=True, kw_only=True):
    """POST /api/recovery/check: `ready_at` if the code was correct, otherwise `message` with the reason."""

    ok: bool
    verified: bool
    account: str | None = None
    ready_at: str | None = msgspec.field(name="readyAt", default=None)
    message: str | None = None


# If an endpoint has several kinds of response bodies, the client has one type for all of them.
MERGED: dict[tuple[type[models.Answer], ...], type[Record]] = {
    (models.CodeAccepted, models.CodeRefused): CodeCheck,
    (models.RecoveryConfirmed, models.CodeRefused): RecoveryCheck,
}


class IndexerAlias(Record, frozen=True, kw_only=True):
    """An alias on the chain."""

    found: bool
    alias_hash: str | None = None
    did_hash: str | None = None
    active: bool | None = None
    controller: str | None = None


class IndexerDid(Record, frozen=True, kw_only=True):
    """A DID on the chain."""

    found: bool
    did_hash: str | None = None
    controller: str | None = None
    metadata_cid: str | None = None
    active: bool | None = None
    block_number: str | None = None
    tx_hash: str | None = None


class IndexerAccount(Record, frozen=True, kw_only=True):
    """An account on the chain."""

    found: bool
    account_address: str | None = None
    owner_address: str | None = None
    block_number: str | None = None
    tx_hash: str | None = None


class IndexerAccounts(Record, frozen=True, kw_only=True):
    """A page of accounts on the chain; the query parameter `cursor` continues it."""

    accounts: list[IndexerAccount]
    next_cursor: str | None = None


class IndexerEvents(Record, frozen=True, kw_only=True):
    """A page of events, each with the fields of its kind; the query parameter `cursor` continues it."""

    events: list[dict[str, Any]]
    next_cursor: str | None = None


class IndexerStats(Record, frozen=True, kw_only=True):
    """What the indexer has counted."""

    total_dids: int | None = None
    active_dids: int | None = None
    total_aliases: int | None = None
    total_accounts: int | None = None
    last_block_number: int | None = None


class IndexerHealth(Record, frozen=True, kw_only=True):
    """Whether the indexer is healthy, and which chain it follows."""

    ok: bool | None = None
    chain: int | None = None
