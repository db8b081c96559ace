"""The declarations of the admin port's endpoints: operators' tasks over HTTP.

Each is carried out by the method of `service.operations.operator_tasks.OperatorTasks` with its name, which commands
call, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from holdfast.wire.errors import ErrorRow

API = "/admin/api/"
ADMIN_DOCUMENT = "/openapi.json"
ADMIN_KEY_REFUSED = ErrorRow(401, "admin_key_refused")
ADMIN_SCOPE_MISSING = ErrorRow(403, "admin_scope_missing")
ADMIN_HOST_UNKNOWN = ErrorRow(403, "admin_host_unknown")
MAX_PAGE = 1000
Limit = Annotated[int, Meta(ge=1, le=MAX_PAGE)]
Reason = Annotated[str, Meta(max_length=1000)]
Uses = Annotated[int, Meta(ge=1, le=1000)]
Days = Annotated[int, Meta(ge=1, le=366)]
CountedDays = Annotated[int, Meta(ge=1, le=31)]


class Scope(StrEnum):
    """What a key may do; none contains another."""

    READ = "read"
    WRITE = "write"
    ERASE = "erase"


class AdminRequest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of all inputs, in which a wrong type or an unknown field is refused."""


class Nothing(AdminRequest, frozen=True, kw_only=True):
    """No input."""


class ListIdentifiers(AdminRequest, frozen=True, kw_only=True):
    """Filters, all of which must match. `after` is where the page before ended."""

    prefix: str | None = None
    did: str | None = None
    address: str | None = None
    day: str | None = None
    state: str | None = None
    channel: str | None = None
    limit: Limit = 50
    after: str | None = None


class ReadPage(AdminRequest, frozen=True, kw_only=True):
    """One page of a list; `after` is where the page before ended."""

    limit: Limit = 50
    after: str | None = None


class CountDays(AdminRequest, frozen=True, kw_only=True):
    """How many days, up to today (UTC); each costs a read of what was claimed on it."""

    days: CountedDays = 7


class OfIdentifier(AdminRequest, frozen=True, kw_only=True):
    """An identifier, as its owner writes it."""

    identifier: str
    channel: str = "handle"


class Transfer(OfIdentifier, frozen=True, kw_only=True):
    """`did`: the DID that gets it."""

    did: str


class Rename(AdminRequest, frozen=True, kw_only=True):
    """A handle and its new name."""

    identifier: str
    new: str


class OfCredential(AdminRequest, frozen=True, kw_only=True):
    """A credential ID, in base64 or base64url."""

    credential_id: str = msgspec.field(name="credentialId")


class OfBan(AdminRequest, frozen=True, kw_only=True):
    """`kind`: name, did, domain or network; `channel`: that of a name."""

    kind: str
    value: str
    channel: str = "handle"


class NewBan(OfBan, frozen=True, kw_only=True):
    """`reason`: for other operators."""

    reason: Reason = ""


class NewInvitation(AdminRequest, frozen=True, kw_only=True):
    """How many registrations it admits, and for how many days."""

    uses: Uses = 1
    days: Days = 14


class OfInvitation(AdminRequest, frozen=True, kw_only=True):
    """`code`: the code, or its number in the list."""

    code: str


class Reissue(OfInvitation, frozen=True, kw_only=True):
    """For how many days the new code is valid."""

    days: Days = 14


class OfPerson(AdminRequest, frozen=True, kw_only=True):
    """`person`: a DID, or an identifier of `channel` that it holds."""

    person: str
    channel: str = "handle"


@dataclass(frozen=True, slots=True, kw_only=True)
class AdminEndpoint:
    """One task.

    Attributes:
        name: the method's.
        path: below /admin/api/.
        input: its fields are those of the query (GET) or of the JSON body.
        lists: whether the response is a list, also as CSV with `format=csv`.
    """

    name: str
    method: str
    path: str
    scope: Scope
    summary: str
    input: type[AdminRequest] = Nothing
    lists: bool = False

    @property
    def key(self) -> tuple[str, str]:
        """The method and whole path that identify the endpoint."""
        return self.method, API + self.path


def _reads(name: str, path: str, summary: str, request: type[AdminRequest], *, lists: bool = False) -> AdminEndpoint:
    return AdminEndpoint(
        name=name, method="GET", path=path, scope=Scope.READ, summary=summary, input=request, lists=lists
    )


def _writes(
    name: str, path: str, summary: str, request: type[AdminRequest], scope: Scope = Scope.WRITE
) -> AdminEndpoint:
    return AdminEndpoint(name=name, method="POST", path=path, scope=scope, summary=summary, input=request)


ADMIN_ENDPOINTS = (
    _reads("identifiers", "identifiers", "a page of claimed identifiers", ListIdentifiers, lists=True),
    _reads("counts", "counts", "claims by day and channel", CountDays, lists=True),
    _reads("identifier", "identifier", "all that is stored about one", OfIdentifier),
    _writes("release", "identifiers/release", "free an identifier", OfIdentifier),
    _writes("transfer", "identifiers/transfer", "give an identifier to another DID", Transfer),
    _writes("rename", "identifiers/rename", "rename a handle", Rename),
    _writes("revoke_credential", "credentials/revoke", "remove a credential's registration", OfCredential),
    _reads("bans", "bans", "a page of bans", ReadPage, lists=True),
    _writes("ban", "bans", "ban a name, DID, mail domain or network", NewBan),
    _writes("lift", "bans/lift", "lift a ban", OfBan),
    _reads("invitations", "invitations", "a page of invitations", ReadPage, lists=True),
    _writes("invite", "invitations", "make an invitation code", NewInvitation),
    _writes("revoke_invitation", "invitations/revoke", "use up what is left of a code", OfInvitation),
    _writes("reissue_invitation", "invitations/reissue", "a new code for what is left of one", Reissue),
    _reads("export_person", "person", "all rows about a person", OfPerson),
    _writes("erase_person", "person/erase", "delete a person", OfPerson, Scope.ERASE),
    _reads("acts", "acts", "a page of what operators did", ReadPage, lists=True),
)
