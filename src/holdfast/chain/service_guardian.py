"""Whether changes of guardians let a service alone recover an account, which needs the person's consent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.chain.account_messages import ChangeKind
from holdfast.wire.client_errors import ServiceError

if TYPE_CHECKING:
    from collections.abc import Collection

    from holdfast.chain.account_messages import Change


class ServiceAlone(ServiceError):
    """After these changes the service alone could give the account new owners, and the person has not agreed."""

    name = "ServiceAlone"

    def __init__(self) -> None:
        super().__init__(
            "the service alone could then give the account new owners: the person must agree to that, or the same "
            "changes state how many must sign"
        )


CHANGES_GUARDIANS = frozenset({ChangeKind.ADD_GUARDIAN, ChangeKind.REMOVE_GUARDIAN, ChangeKind.SET_QUORUM})


def gives_service_alone(
    keys: Collection[bytes], present: Collection[bytes], quorum: int, changes: Collection[Change]
) -> bool:
    """Return whether the service alone is a quorum after the changes and was not before (vectors/accounts).

    Where they make the service a guardian, only the quorum that they state counts, or one: the chain's endpoint, which
    may be the service's, could name another.

    Args:
        keys: all keys of the service as a guardian.
        present: those of them that are guardians of the account now.
        quorum: how many guardians must sign now; 0: none can.
        changes: in their order.
    """
    adds = any(change.kind is ChangeKind.ADD_GUARDIAN and change.signer in keys for change in changes)
    held, needed = set(present), 1 if adds else quorum
    for change in changes:
        if change.kind is ChangeKind.SET_QUORUM:
            needed = change.value
        elif change.kind is ChangeKind.ADD_GUARDIAN and change.signer in keys:
            held.add(change.signer)
        elif change.kind is ChangeKind.REMOVE_GUARDIAN:
            held.discard(change.signer)
    return 0 < needed <= len(held) and (adds or not 0 < quorum <= len(present))
