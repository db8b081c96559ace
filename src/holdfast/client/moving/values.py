"""What a move notes and returns, and why it is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from holdfast.client.storage.notes import read_note, write_note
from holdfast.client.types import DidRecord, Record
from holdfast.wire.client_errors import ServiceError

if TYPE_CHECKING:
    from holdfast.client.passkeys import Person
    from holdfast.client.storage.vault_store import VaultStore
    from holdfast.client.types import CreatePasskeyResult


class MoveRefused(ServiceError):
    """The move stopped. The previous service still has the name, the passkeys and the vault's copy.

    Attributes:
        code: same_service, insecure_service, other_service, other_chain, other_contracts, not_registered, name_taken,
            no_proof, other_registration, other_copy or not_owner.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class Moved(Record, frozen=True, kw_only=True):
    """A finished move.

    Attributes:
        did: the vault's DID, which stays.
        identifier: the name, address or number, with its `channel`.
        credential_id: the new passkey.
        root_cid: the copy of the vault that was read back from the new service.
        left_behind: other names and addresses that the DID still has at the previous service.
        is_owner: whether the new passkey is an owner of the account.
        former_is_owner: whether the passkey of the previous service still is.
        missing_on: names of the previous service's other chains that do not have the owner change yet.
    """

    did: str
    identifier: str
    channel: str
    credential_id: str
    root_cid: str
    left_behind: tuple[str, ...] = ()
    is_owner: bool = False
    former_is_owner: bool = False
    missing_on: tuple[str, ...] = ()


class Noted(Record, frozen=True, kw_only=True):
    """What an unfinished move has done. It contains no secret.

    Attributes:
        to: the new service's address.
        registration: that of the previous service, by the passkey `former`.
        credential_id: the new passkey, once it is in the vault.
        replaced: the new passkeys of interrupted attempts that did not sign again, and make way for this one.
        signers: the passkeys that have signed in all attempts, as 0x-hex, of which some may own the account.
    """

    to: str
    registration: DidRecord
    former: str
    credential_id: str | None = None
    replaced: tuple[str, ...] = ()
    signers: tuple[str, ...] = ()


class NewPasskeys(Protocol):
    """Makes passkeys for the new service and uses them. `Authenticator` is an implementation."""

    @property
    def origin(self) -> str:
        """The new service's address."""
        ...

    @property
    def rp_id(self) -> str:
        """The relying party's ID: the address's host."""
        ...

    def create_passkey(self, person: Person) -> CreatePasskeyResult:
        """Create a passkey. Raises WebAuthnError."""
        ...

    def assertion(self, challenge: bytes, credential_ids: tuple[str, ...]) -> str:
        """Sign a challenge, and return the serialised assertion. Raises WebAuthnError."""
        ...

    def prf(self, credential_id: str) -> bytes:
        """Return the secret that opens the vault. Raises WebAuthnError."""
        ...


def noted_move(store: VaultStore, did: str) -> Noted | None:
    """Return the unfinished move, if one exists."""
    return read_note(store, _name(did), Noted)


def note_move(store: VaultStore, did: str, move: Noted | None) -> None:
    """Store an unfinished move; None deletes it."""
    write_note(store, _name(did), move)


def _name(did: str) -> str:
    return f"moving:{did}"
