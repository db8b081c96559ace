"""Plays the scenarios of uploading, comparing and recovering snapshots."""

import asyncio
import struct
from contextlib import asynccontextmanager
from functools import partial
from types import SimpleNamespace
from unittest.mock import patch

import msgspec
from tests.client.flows.scenarios.script import Killed, Player, Script, told

from holdfast.client.moving.copying import continue_there, copy_to
from holdfast.client.snapshots.publishing import Publisher
from holdfast.client.snapshots.recovery import Recovery
from holdfast.client.snapshots.state import SnapshotState, read_state, record_name, write_state
from holdfast.client.snapshots.versions import OtherKeys, compare_vaults
from holdfast.client.storage import snapshots
from holdfast.client.storage.name_records import Failed, NameAnswers
from holdfast.client.storage.vault_store import VaultStore
from holdfast.client.types import PinStatus, VaultManifest
from holdfast.client.vault.keys import DiscoveredPasskey, SecretKey
from holdfast.content.cars import write_car
from holdfast.content.cids import raw_block
from holdfast.content.records import Record
from holdfast.wire.client_errors import NetworkError, PluginCallError, ServiceError

DID = "did:new:0x" + "11" * 32
NAME = "k51qzi5uqu5dlvj2baxnqndepeb86cbk3ng7n3i46uzyxzyqj2xjonzllnv0v8"
DELEGATION = b"\xa0"
SERVICE = "did:web:here.example"
OTHER_DID = DID.replace("1", "2")
UPDATED_AT = 1_700_000_000_000
FAR_FUTURE_NS = 2**62
PUBLIC_KEY = bytes(32)
WRAP_REST = 88  # bytes of a wrap after the key's ID (docs/formats.md)


async def play(scenario, folder):
    """Return what each event led to."""
    with VaultStore(directory=folder) as store:
        return await _Player(store, scenario).outcomes(scenario)


class _Player(Player):
    """One device: its store is real, its enclave and its servers are scripted."""

    def __init__(self, store, scenario):
        self.store, self.script = store, Script()
        self.roots = dict(scenario.get("roots", {}))
        self.records = {}
        self.found = []  # what gateways return: the newest snapshot, and the one before it
        given = scenario.get("given", {})
        self.published, self.locked, self.is_new = given.get("published"), False, False
        self.start_anew()
        if given.get("vault"):
            self.save(**given["vault"])
        if "state" in given:
            state = {_snake(key): self.roots.get(value, value) for key, value in given["state"].items()}
            write_state(self.store, SnapshotState(did=DID, **{"service": SERVICE} | state))

    def start_anew(self):
        """Start the client anew: what it has only in memory is lost."""
        self.place = SimpleNamespace(
            gateway=SimpleNamespace(record=self.record, snapshot=self.snapshot, answers=self.name_answers),
            upload=self.upload,
            publish=self.publish,
            pinning=None,
            config=SimpleNamespace(pinned=10),
            service=SERVICE,
            close=_closed,
        )
        self.vault = _Vault(
            status=self.status,
            publishing_key=self.publishing_key,
            publishing_delegation=self.publishing_delegation,
            publish=self.sign,
            unlock=self.unlock,
            save=self.save_next,
            changing=_Turn(self.changed_while_waiting),
        )
        self.publisher = Publisher(self.vault, self.store, self.place)

    async def turn(self, event, stop_after=None):
        self.script, result, error = Script(event.get("answers"), stop_after), None, None
        self.locked, self.meanwhile = event.get("locked", False), event.get("while_waiting_for_its_turn")
        pinning = SimpleNamespace(add=self.pin, wait=self.wait_for_pin, list=self.pins, delete=self.unpin)
        self.place.pinning = pinning if event.get("pinning", True) else None
        try:
            result = await self.script.run(lambda: getattr(self, "do_" + event["do"])(event))
        except (ServiceError, Killed) as raised:
            error = raised
        state = read_state(self.store, DID)
        return {"effects": self.script.effects, "state": self.shown(state), "result": result, **told(error)}

    def shown(self, state):
        """Return all fields of a state under their JSON names, and which record is stored."""
        fields = {_camel(name): self.symbol(value) for name, value in msgspec.structs.asdict(state).items()}
        record = self.store.note(record_name(DID))
        return {**fields, "record": bytes.fromhex(record).decode() if record else "none"}

    async def do_publish(self, event):
        if "imported" in event:
            self.imported(event["imported"])
        await self.publisher.publish()

    async def do_overrule(self, _event):
        await self.publisher.overrule()

    async def do_change(self, event):
        before = self.store.load(DID)
        root = before.manifest.root_cid
        forgets = event.get("forgets", False)
        named = None if root is None or forgets else self.symbol(root)
        self.save(event["revision"], named, forget_older=forgets)
        self.publisher.changed()

    def imported(self, revision):
        """Delete the vault and import another version of it, whose snapshots are not known."""
        self.store.delete(DID)
        self.store.save(self.manifest(None), sealed(revision, ["imported"]), revision)
        self.publisher.changed()

    async def do_compare(self, event):
        found = await compare_vaults(*(_Version(event[it]) for it in ("here", "there")))
        return [
            {_camel(name): it if name == "table" else list(it) for name, it in msgspec.structs.asdict(one).items()}
            for one in found
        ]

    async def do_copy(self, _event):
        """Put the vault's copy at another service, read it back from there, and continue from it."""
        with patch("holdfast.client.moving.copying.opened_beside", self.opened_beside):
            made = await copy_to(self.vault, self.store, self.connect, SecretKey(b"k" * 32))
        await continue_there(self.vault, self.store, made)

    def connect(self, **_):
        """Return another connection to the same hosts."""
        return self.place

    async def do_recover(self, event):
        """Recover the vault from the CAR file of a snapshot."""
        delegation = DELEGATION if event.get("forged_delegation") else None
        taken = snapshots.take(self.manifest(event["on"]), sealed(event["revision"]), delegation)
        assert delegation or taken.root_cid == self.roots[event["root"]]
        more = [raw_block(b"another's")] if event.get("extra") else []
        car = write_car(taken.root_cid, [*taken.blocks, *more])
        await self.recovered(event, car=bytes(_spoilt(car, event.get("spoil"))))

    async def do_recover_name(self, event):
        """Recover the vault from what is published under a name; the check of its delegation is replaced."""
        self.found = [self.publish_snapshot(it) for it in (*filter(None, [event.get("before")]), event)]
        module = "holdfast.client.snapshots.recovery"
        with patch(f"{module}.check_binding"), patch(f"{module}.opened_beside", self.opened_beside):
            await self.recovered(event, name=NAME)

    async def do_recover_passkey(self, event):
        """Recover the vault that a passkey opens, which returns a secret if `secret` says so."""
        self.is_new = True
        secret = b"k" * 32 if event["secret"] else None
        handle = bytes.fromhex(event.get("user_handle", ""))
        passkey = SimpleNamespace(discover=lambda: DiscoveredPasskey("AA", handle, secret))
        await Recovery(self.vault, self.store, self.place).recover(passkey=passkey)

    def publish_snapshot(self, it):
        wraps = it.get("wraps", [])
        manifest = self.manifest(it.get("on"), UPDATED_AT + it.get("later_ms", 0))
        did = OTHER_DID if it.get("of_another") else DID
        whole = sealed(it["revision"], wraps).replace(DID.encode(), did.encode())
        taken = snapshots.take(msgspec.structs.replace(manifest, did=did), whole, DELEGATION)
        self.roots[it["root"]] = taken.root_cid
        return taken

    async def recovered(self, event, **source):
        self.is_new = True
        accept = None if event.get("accept") == "no one" else partial(self.asked, event)
        recovery = Recovery(self.vault, self.store, self.place, accept=accept)
        try:
            await recovery.recover(key=SecretKey(b"k" * 32), **source)
        finally:
            self.is_new = False

    async def asked(self, event, question):
        await self.script.perform(f"ask: {question.removeprefix('Storage: ')}")
        return bool(event.get("accept"))

    def save(self, revision, root, *, forget_older=False):
        self.store.save(self.manifest(root), sealed(revision), revision, forget_older=forget_older)

    async def save_next(self):
        await self.answer("vault: save")
        self.save(self.store.load(DID).revision + 1, None)

    def manifest(self, root, updated_at=UPDATED_AT):
        root_cid = None if root is None else self.roots[root]
        return VaultManifest(root_cid=root_cid, did=DID, updated_at=updated_at, wasm_version="1", schema_version=1)

    def symbol(self, value):
        """Return the scenario's name for a root CID, and any other value unchanged."""
        return next((name for name, cid in self.roots.items() if cid == value), value)

    async def status(self):
        return SimpleNamespace(locked=self.locked or self.is_new, did=DID, initialized=not self.is_new)

    async def publishing_key(self):
        await self.answer("vault: publishing key")
        return SimpleNamespace(name=NAME)

    async def publishing_delegation(self):
        await self.answer("vault: delegation")
        return SimpleNamespace(signed_dag_cbor=DELEGATION)

    async def sign(self, root_cid, sequence, *_):
        await self.answer("vault: sign record", f" {sequence} of {self.symbol(root_cid)}")
        record = f"record {sequence}"
        self.records[record] = self.symbol(root_cid)
        return SimpleNamespace(record=record.encode())

    async def unlock(self, *_):
        answer = _thrown(await self.answer("vault: unlock"))
        return SimpleNamespace(success=answer is None, error=(answer or {}).get("error"))

    @asynccontextmanager
    async def opened_beside(self, *_):
        if (answer := _thrown(await self.answer("second vault: unlock"))) is not None:
            raise OtherKeys(answer["error"])
        yield self.vault

    def as_record(self, it):
        validity_ns = 0 if it.get("expired") else FAR_FUTURE_NS
        return Record(
            PUBLIC_KEY, self.roots[it["root"]], it["sequence"], validity_ns, 0, f"record {it['sequence']}".encode()
        )

    async def record(self, _name):
        answer = await self.answer("read record") or self.published
        return None if answer in (None, "none") else self.as_record(answer)

    async def name_answers(self, name):
        answer = await self.answer("read record" if name == NAME else "read another record") or {}
        record = answer.get("record", self.published)
        silent = answer.get("silent", [])
        failed = tuple(Failed(SimpleNamespace(host=host), NetworkError("no answer")) for host in silent)
        has_main = "service.example" not in silent
        newest = None if record in (None, "none") else self.as_record(record)
        return NameAnswers(newest, failed, has_main=has_main, at_main=has_main and not answer.get("elsewhere"))

    async def snapshot(self, root_cid):
        if await self.answer("read snapshot", f" {self.symbol(root_cid)}") == "another vault":
            return snapshots.take(self.manifest(None), sealed(9))
        return next((it for it in self.found if it.root_cid == root_cid), SimpleNamespace(blocks=()))

    async def upload(self, taken):
        revision = int.from_bytes(taken.sealed[8:16])
        before = "nothing" if taken.manifest.root_cid is None else self.symbol(taken.manifest.root_cid)
        self.roots[f"{revision} after {before}"] = taken.root_cid
        await self.answer("upload", f" {revision} after {before}", lambda: self.found.append(taken))

    async def pin(self, pin):
        answer = await self.answer("pin", f" {self.symbol(pin.cid)}")
        return SimpleNamespace(status=answer or PinStatus.PINNED, request_id="1")

    async def wait_for_pin(self, _request_id, **_):
        assert not self.vault.changing.locked(), "other flows need not wait for a pin too"
        self.changed_by_another(await self.answer("wait for pin"))

    def changed_while_waiting(self):
        changed, self.meanwhile = self.meanwhile, None
        self.changed_by_another(changed)

    def changed_by_another(self, changed):
        """Change the state as another flow does."""
        if changed:
            state = {_snake(key): self.roots.get(value, value) for key, value in changed["state"].items()}
            write_state(self.store, msgspec.structs.replace(read_state(self.store, DID), **state))

    async def pins(self, **_):
        answer = await self.answer("list pins") or {}
        if "removed" in answer:
            await self.do_change({"revision": answer["removed"], "forgets": True})
        return [self.listed(it, is_first=at == 0) for at, it in enumerate(answer.get("pins", []))]

    def listed(self, it, *, is_first):
        """Return a pin of this vault, the first one of its newest snapshot; or one whose `root` or `meta` is stated."""
        newest = read_state(self.store, DID).acknowledged_root
        told = it if isinstance(it, dict) else {"id": it, "newest": is_first}
        pin = SimpleNamespace(cid=newest if told.get("newest") else "", meta=told.get("meta", {"vault": DID}))
        return SimpleNamespace(request_id=told["id"], pin=pin)

    async def unpin(self, request_id):
        await self.answer("unpin", f" {request_id}")

    async def publish(self, _name, record):
        text = record.decode()
        found = {"root": self.records[text], "sequence": int(text.split()[1])}
        answer = await self.answer("publish", f" {text}", lambda: setattr(self, "published", found))
        if answer is not None:
            self.imported(answer["imported"])


class _Vault(SimpleNamespace):
    __hash__ = object.__hash__


class _Turn(asyncio.Lock):
    """The turn of all flows, for which others may have to be waited for."""

    def __init__(self, others):
        super().__init__()
        self._others = others

    async def acquire(self):
        self._others()
        return await super().acquire()


class _Version:
    """An unlocked version of a vault: the rows of its tables, and the keys that open it."""

    def __init__(self, tables):
        self.tables = tables

    async def exec(self, words, _args):
        rows = self.tables.get(words.split(maxsplit=1)[0].partition(":")[2], [])
        failed = isinstance(rows, str)
        return SimpleNamespace(success=not failed, result=None if failed else rows, error=rows)

    async def keys(self):
        return SimpleNamespace(wraps=[{"kind": kind, "id": key_id} for kind, key_id in self.tables.get("keys", [])])


def _thrown(answer):
    """Return an enclave's answer. Raises the error with which a scripted enclave fails."""
    if answer is not None and "throws" in answer:
        raise PluginCallError("unlock", "not a vault", answer["throws"])
    return answer


async def _closed():
    pass


def sealed(revision, wraps=None):
    """Return the clear header of a sealed vault, followed by nothing. Each text stands for the wrap of a secret."""
    wraps = wraps or []
    header = b"HFDB\x01" + bytes([len(wraps)]) + struct.pack(">HQ", len(DID), revision) + bytes(28) + DID.encode()
    return header + b"".join(b"\x01\x06secret" + it.encode().ljust(WRAP_REST, b"\0") for it in wraps)


def _spoilt(car, how):
    if how == "cut":
        return car[:-10]
    return bytes([*car[:-1], car[-1] ^ 1]) if how == "changed" else car


def _snake(name):
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)


def _camel(name):
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)
