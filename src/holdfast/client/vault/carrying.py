"""Transfers a vault's passkeys and passwords during a pairing: the new device keeps the vault's data key and its wraps.

A key's wrap can be made only with that key, so existing wraps are transferred unchanged, in the unencrypted header of a
sealed vault. To transfer the wraps, the sending device seals its vault once more, with an additional wrap for a key
that it generates for the pairing. The pairing's key is sent as a row of the vault that the enclaves encrypt for each
other; the row's ID is the session ID. Neither the key nor the row is ever stored.
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any, Protocol

from holdfast.client.vault.keys import SECRET_BYTES, HostKey
from holdfast.wire.client_errors import PluginCallError

if TYPE_CHECKING:
    from collections.abc import Mapping


class Call(Protocol):
    """Calls one function of the enclave. Nothing else may call the enclave during a transfer."""

    def __call__(self, function: str, /, **fields: object) -> dict[str, Any]:
        """Return the response. Raises PluginCallError."""
        ...


PASSAGE = "pairing-passage"
# The keys of a person. Keys of kind "secret" belong to one device: to its keyring or its unlock period.
CARRIED = ("prf", "password")
_SESSION_DIGITS = 8


class NotCarried(PluginCallError):
    """The vault arrived without its keys, because a message was modified in transit."""

    def __init__(self) -> None:
        super().__init__("sync_complete", "the vault's other keys did not come with it", "sync_rejected")


def give(call: Call, session_id: str, code: str) -> tuple[dict[str, object], bool]:
    """Respond to the six digits with the encrypted vault and with `sealed_vault`, which contains the vault's wraps.

    Returns:
        the enclave's response to `sync_respond`, and whether the vault had changes that are not stored. The enclave
        no longer reports such changes, so the caller has to store them.

    Raises PluginCallError if the vault has no room for one more key.
    """
    unsaved = bool(call("status").get("unsaved"))
    passage = HostKey("secret", PASSAGE, secret=secrets.token_bytes(SECRET_BYTES))
    try:
        sealed = _sealed_for(call, passage)
        answer = _released(call, session_id, code, passage)
    finally:
        call("save")  # what was added is gone again: there is nothing to store
    return ({**answer, "sealed_vault": sealed} if answer.get("success") else answer), unsaved


def take(call: Call, given: Mapping[str, Any], key: HostKey) -> dict[str, Any]:
    """Open a received vault, wrap it for `key`, and keep the wraps of the person's other keys.

    Args:
        call: see Call.
        given: the fields of `sync_complete`, and `sealed_vault`: "" if the other device did not send it, None if the
            caller takes the vault alone, by the interface's three steps.
        key: opens the vault on this device from now on.

    Raises:
        NotCarried: discard the enclave, which holds a vault without its keys.
    """
    fields = {name: value for name, value in given.items() if name != "sealed_vault"}
    interim = HostKey("secret", PASSAGE, secret=secrets.token_bytes(SECRET_BYTES))
    done = call("sync_complete", **fields, key=interim.fields())
    if not done.get("success"):
        return done
    passage, sealed = _passage(call, given["session_id"]), given.get("sealed_vault")
    if passage is not None and sealed is None:
        _row(call, "delete", {"id": given["session_id"]})
    elif passage is not None and sealed:
        _reopen(call, sealed, passage, done["did"])
    elif passage is not None or sealed:
        raise NotCarried
    _own(call, key, given["session_id"])
    return done


def _sealed_for(call: Call, passage: HostKey) -> str:
    call("add_wrap", key=passage.fields())
    try:
        return str(call("save")["database"])
    finally:
        call("remove_wrap", kind=passage.kind, id=passage.id)


def _released(call: Call, session_id: str, code: str, passage: HostKey) -> dict[str, Any]:
    assert passage.secret is not None
    row = {"id": session_id, "kind": PASSAGE, "value": passage.secret.hex()}
    if not _row(call, "create", row).get("success"):
        raise PluginCallError("sync_respond", "the vault has no room for the keys' passage", "value_too_large")
    try:
        return call("sync_respond", session_id=session_id, code=code)
    finally:
        _row(call, "delete", {"id": session_id})


def _passage(call: Call, session_id: str) -> HostKey | None:
    """Return the key that unlocks the received sealed vault, or None if the other device does not send wraps."""
    found = _row(call, "get", {"id": session_id}).get("result")
    if not isinstance(found, dict) or found.get("kind") != PASSAGE:
        return None
    return HostKey("secret", PASSAGE, secret=bytes.fromhex(str(found["value"])))


def _reopen(call: Call, sealed: str, passage: HostKey, did: str) -> None:
    """Replace the received vault with the same vault under its original data key and with its wraps."""
    call("lock")
    try:
        opened = call("unlock", database=sealed, key=passage.fields())
    except PluginCallError as error:
        raise NotCarried from error
    if not opened.get("success") or opened.get("did") != did:
        raise NotCarried


def _own(call: Call, key: HostKey, session_id: str) -> None:
    """Wrap the vault for this device's key, and drop the keys that belong to the other device."""
    wraps = call("list_wraps")["wraps"]
    taken = {"kind": key.kind, "id": key.id} in wraps
    if taken and key.kind == "password":
        # Whether or not this password equals the other device's, both passwords unlock the vault, whatever their wraps'
        # IDs.
        key = HostKey(key.kind, f"{key.id}-{session_id[:_SESSION_DIGITS]}", password=key.password)
    elif taken:
        call("remove_wrap", kind=key.kind, id=key.id)
    call("add_wrap", key=key.fields())
    for wrap in wraps:
        if wrap["kind"] not in CARRIED and (wrap["kind"], wrap["id"]) != (key.kind, key.id):
            call("remove_wrap", **wrap)


def _row(call: Call, action: str, args: dict[str, str]) -> dict[str, Any]:
    return call("exec", filter=f"resource:tokens action:{action}", args=args)
