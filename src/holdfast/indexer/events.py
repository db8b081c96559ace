"""The table of indexed events, and the decoder from logs to events (Solidity ABI specification, "Events")."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from holdfast.indexer.rows import Event
from holdfast.wire import abi
from holdfast.wire.keccak import keccak256

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from holdfast.chain.values import Log

_REGISTRY, _FACTORY, _ACCOUNT = "registry", "factory", "account"
KEY_OWNER_BYTES = 20
_KEY_BYTES = 2 * abi.WORD


class EventKind(NamedTuple):
    """One kind of event: the emitting contract, the signature, and the field of `rows.Event` for each parameter."""

    emitter: str
    signature: str
    indexed: tuple[str | None, ...]
    data: tuple[str | None, ...]

    @property
    def name(self) -> str:
        """The event's name in Solidity."""
        return self.signature.partition("(")[0]

    @property
    def topic(self) -> bytes:
        """The first topic of this event's logs."""
        return keccak256(self.signature.encode())

    @property
    def types(self) -> tuple[str, ...]:
        """The parameters' types in the order of the signature, in which indexed parameters come first."""
        return tuple(self.signature.partition("(")[2].removesuffix(")").split(","))


# The registry's event `Committed` is not indexed: it identifies no one, and anyone can trigger it any number of times.
EVENT_KINDS = (
    EventKind(_REGISTRY, "DidRegistered(bytes32,address,string)", ("did_hash", "controller"), ("metadata_cid",)),
    EventKind(_REGISTRY, "DidMetadataUpdated(bytes32,string)", ("did_hash",), ("metadata_cid",)),
    EventKind(
        _REGISTRY,
        "DidControllerChanged(bytes32,address,address)",
        ("did_hash", "previous_controller", "controller"),
        (),
    ),
    EventKind(
        _REGISTRY,
        "DidControllerProposed(bytes32,address,address)",
        ("did_hash", "controller", "proposed_controller"),
        (),
    ),
    EventKind(_REGISTRY, "DidStatusChanged(bytes32,bool)", ("did_hash",), ("active",)),
    EventKind(_REGISTRY, "AliasRegistered(bytes32,bytes32,address)", ("alias_hash", "did_hash", "controller"), ()),
    EventKind(_REGISTRY, "AliasStatusChanged(bytes32,bool)", ("alias_hash",), ("active",)),
    EventKind(
        _FACTORY,
        "AccountCreated(address,address,uint256,uint256,uint256)",
        ("account_address", "owner_address"),
        (None, None, None),
    ),
    # Emitted by accounts. Any contract can emit these events; the rows of the table `accounts` show which emitters are
    # accounts. A signer's bytes and a recovery's new owners are in the logs of the chain.
    EventKind(_ACCOUNT, "PublicKeyChanged(uint256,uint256)", (), (None, None)),
    EventKind(_ACCOUNT, "OwnerAdded(bytes32,bytes,uint48)", (None,), (None, None)),
    EventKind(_ACCOUNT, "OwnerRemoved(bytes32)", (None,), ()),
    EventKind(_ACCOUNT, "GuardianAdded(bytes32,bytes)", (None,), (None,)),
    EventKind(_ACCOUNT, "GuardianRemoved(bytes32)", (None,), ()),
    EventKind(_ACCOUNT, "RecoveryStarted(uint32,uint48,bytes[])", (None,), (None, None)),
    EventKind(_ACCOUNT, "RecoveryCancelled(uint32)", (None,), ()),
    EventKind(_ACCOUNT, "RecoveryFinished(uint32)", (None,), ()),
)

KIND_NAMES = frozenset(kind.name for kind in EVENT_KINDS)
ACCOUNT_KINDS = frozenset(kind.name for kind in EVENT_KINDS if kind.emitter == _ACCOUNT)


def key_owner(key: bytes) -> bytes:
    """Return the address of a 64-byte public key X ‖ Y, derived as the factory derives the address of an owner."""
    return keccak256(key)[-KEY_OWNER_BYTES:]


def _of_account(log: Log) -> dict[str, Any]:
    return {"account_address": log.address}


def _of_key(log: Log) -> dict[str, Any]:
    """Name the key of an owner or guardian: the end of its ID, which for a P-256 key is `key_owner` of the key."""
    return {"account_address": log.address, "key_owner": log.topics[1][-KEY_OWNER_BYTES:]}


def _of_public_key(log: Log) -> dict[str, Any]:
    return {"account_address": log.address, "key_owner": key_owner(log.data[:_KEY_BYTES])}


# Fields that are not parameters of an event but follow from it: a registered DID or alias is active.
_IMPLIED: dict[str, Callable[[Log], dict[str, Any]]] = {
    "DidRegistered": lambda _: {"active": 1},
    "AliasRegistered": lambda _: {"active": 1},
    "PublicKeyChanged": _of_public_key,
    **dict.fromkeys(("OwnerAdded", "OwnerRemoved", "GuardianAdded", "GuardianRemoved"), _of_key),
    **dict.fromkeys(("RecoveryStarted", "RecoveryCancelled", "RecoveryFinished"), _of_account),
}


class Decoder:
    """Decodes logs of one registry and one factory into events."""

    def __init__(self, registry: bytes, factory: bytes) -> None:
        emitters = {_REGISTRY: registry, _FACTORY: factory}
        ours = [kind for kind in EVENT_KINDS if kind.emitter in emitters]
        self._kinds = {(emitters[kind.emitter], kind.topic): kind for kind in ours}
        self._accounts_kinds = {kind.topic: kind for kind in EVENT_KINDS if kind.emitter == _ACCOUNT}
        self.addresses = tuple(dict.fromkeys((registry, factory)))
        self.topics = tuple(kind.topic for kind in ours)
        self.account_topics = tuple(self._accounts_kinds)

    def created(self, logs: Iterable[Log]) -> list[bytes]:
        """Return the addresses of the accounts whose creation `logs` report."""
        found = (event for event in self.events(logs) if event.kind == "AccountCreated")
        return [event.account_address for event in found if event.account_address is not None]

    def events(self, logs: Iterable[Log]) -> list[Event]:
        """Return the events in `logs`, in chain order. Logs of other contracts and malformed logs are left out.

        Accounts' events are returned from any contract, because only the stored rows show which contracts are accounts.

        Only other contracts can emit malformed logs, which must not stop the index.
        """
        found = [event for log in logs if (event := self._event(log)) is not None]
        return sorted(found)

    def _event(self, log: Log) -> Event | None:
        kind = self._kind(log)
        if kind is None or len(log.topics) != 1 + len(kind.indexed):
            return None
        try:
            fields = _fields(kind, log)
        except ValueError:
            return None
        position = (log.block_number, log.index, log.block_hash, log.transaction_hash)
        implied = _IMPLIED[kind.name](log) if kind.name in _IMPLIED else {}
        return Event(*position, kind.name, **{**implied, **fields})

    def _kind(self, log: Log) -> EventKind | None:
        if not log.topics:
            return None
        return self._kinds.get((log.address, log.topics[0])) or self._accounts_kinds.get(log.topics[0])


def _fields(kind: EventKind, log: Log) -> dict[str, Any]:
    """Return the indexed parameters. Raises ValueError for data of other ABI types than the kind's."""
    split = len(kind.indexed)
    words = [*log.topics[1:], *(abi.word(log.data, index) for index in range(len(kind.data)))]
    names = kind.indexed + kind.data
    return {
        name: _READERS[kind.types[index]](word, log.data if index >= split else b"")
        for index, (name, word) in enumerate(zip(names, words, strict=True))
        if name is not None
    }


def _string(word: bytes, data: bytes) -> str:
    """Return a dynamic string. Invalid UTF-8 and NUL are replaced with U+FFFD."""
    return abi.content(data, word).decode("utf-8", errors="replace").replace("\0", "\ufffd")


_READERS: dict[str, Callable[[bytes, bytes], Any]] = {
    "address": lambda word, _: abi.address(word),
    "bool": lambda word, _: int(abi.boolean(word)),
    "bytes32": lambda word, _: word,
    "string": _string,
}
