"""Plays the scenarios of moves to another service. Effects are what the new passkey, the services and the account do."""

import base64
import json
from functools import partial
from types import SimpleNamespace
from typing import NamedTuple
from unittest.mock import patch

import msgspec
from tests.client.flows.scenarios.script import Killed, Player, Script, told

from holdfast.chain.account_messages import ChangeKind
from holdfast.chain.account_reads import Owner
from holdfast.client.flows.second_key import SecondKeyMissing
from holdfast.client.moving.move import Move
from holdfast.client.moving.owner import owned
from holdfast.client.moving.values import noted_move
from holdfast.client.storage.vault_store import VaultStore
from holdfast.client.types import DidRecord, ExecOutput
from holdfast.wire.client_errors import ServiceError, WebAuthnError
from holdfast.wire.encoding import to_base64url

DID = "did:new:0x01"
_WITHOUT_KEY = "passkey without key"
"""A passkey whose signatures accounts do not verify."""


class _Contracts(msgspec.Struct):
    chain_id: int = 8453
    did_registry: str = "0xBB"


async def play(scenario, folder):
    """Return what each attempt led to."""
    with VaultStore(directory=folder) as store:
        return await _Player(store, scenario.get("given", {})).outcomes(scenario)


class _Player(Player):
    """One person's vault, the passkeys that are made, and the services, which differ in their hosts."""

    origin, rp_id = "https://new.example", "new.example"

    def __init__(self, store, given):
        self.store, self.made = store, 0
        self.credentials, self.wraps, self.owners = ["former"], ["former"], given.get("owners", ["vault"])
        self.expired = given.get("expired", [])  # owners until a time that is over
        self.flags, self.has_chain = given.get("flags", 5), given.get("chain", True)
        self.threshold, self.deployed = given.get("threshold", 1), given.get("deployed", True)
        self.place = 3 if self.deployed else 0
        self.history = []
        self.held = None
        self.others = {name: list(self.owners) for name in given.get("chains", [])}
        self.name, self.channel = given.get("name", "ada"), given.get("channel", "handle")
        self.services = {host: _Service(self, host) for host in ("old", "new", "gone")}
        if given.get("registered", True):
            self.services["old"].names = dict.fromkeys((self.name, *given.get("others", [])), DID)
            self.services["old"].passkeys = ["former"]
        self.services["new"].names = dict(given.get("taken", {}))

    async def turn(self, event, stop_after=None):
        """Make one attempt, which knows only what is stored."""
        script = self.script = Script(event.get("answers"), stop_after)
        self.ends_former, self.wants_owner = event.get("endFormer"), event.get("owner", True)
        self.key_count = 2 if event.get("second") else 1
        self.lost = event.get("lost", [])  # the JavaScript client makes another passkey in each attempt
        url = event.get("to", "https://new.example")
        new = self.services[url.partition("//")[2].partition(".")[0]]
        new.base_url = url
        result, error = None, None
        places = {name: getattr(new, name) for name in ("copy_to", "continue_there")}
        with patch.multiple("holdfast.client.moving.move", **places), patch("asyncio.sleep", _at_once):
            try:
                result = await script.run(lambda: self.move(new))
            except (ServiceError, Killed) as raised:
                error = raised
        return {"effects": script.effects, "state": self.state(), "result": self.shown(result), **told(error)}

    async def move(self, new):
        old, registrar = self.services["old"], lambda passkey, _known: SimpleNamespace(register=new.registers(passkey))
        person = SimpleNamespace(vault=self, **old.person_methods())
        places = {"there": new, "connect": None, "registrar": registrar}
        asked = None if self.ends_former is None else lambda: self.ends_former
        change = partial(owned, _Account(self, "new"), _Account(self, "old"), asked)
        places["owner"] = change if self.wants_owner else None
        return await Move(old, new, person, self, **places).run()

    def state(self):
        """Return what the services have of the person, which passkeys open the vault, and whether a move is noted."""
        services = {host: it.of_the_person() for host, it in self.services.items()}
        noted = noted_move(self.store, DID) is not None
        lists = {"opens": self.wraps, "records": self.credentials, "owners": self.owners}
        named = {name: [self.symbol(it) for it in them] for name, them in {**lists, **self.others}.items()}
        return {**services, **named, "noted": noted}

    def takes(self, change):
        """Let the account take a change, if enough keys have signed it for this sequence."""
        if change.place != self.place or change.keys < self.threshold:
            return
        self.place, self.history, self.deployed = self.place + 1, [*self.history, change], True
        owners = dict.fromkeys([*self.owners, *change.named(ChangeKind.ADD_OWNER)])
        self.owners = [it for it in owners if it not in change.named(ChangeKind.REMOVE_OWNER)]

    def shown(self, result):
        if result is None:
            return None
        behind, passkey = list(result.left_behind), self.symbol(result.credential_id)
        owned = {
            "isOwner": result.is_owner,
            "formerIsOwner": result.former_is_owner,
            "missingOn": list(result.missing_on),
        }
        of = {"identifier": result.identifier, "channel": result.channel}
        return {**of, "passkey": passkey, "leftBehind": behind, **owned}

    def symbol(self, credential_id):
        """Return the name of a passkey: how many attempts it took differs between the clients."""
        return "new passkey" if credential_id == f"passkey {self.made}" else credential_id

    def create_passkey(self, _person):
        self.made += 1
        name = self.script.scripted("passkey made") or f"passkey {self.made}"
        return SimpleNamespace(credential=name, credential_id=name)

    def assertion(self, challenge, credential_ids):
        if credential_ids[0] in self.lost:
            raise WebAuthnError("the security key has no such passkey")
        client = json.dumps({"type": "webauthn.get", "challenge": to_base64url(challenge)}, separators=(",", ":"))
        data = bytes(32) + bytes([self.flags]) + bytes(4)
        response = {"authenticatorData": to_base64url(data), "clientDataJSON": to_base64url(client.encode())}
        return base64.b64encode(json.dumps({"id": credential_ids[0], "response": response}).encode()).decode()

    def prf(self, _credential_id):
        return bytes(32)

    async def query(self):
        return SimpleNamespace(did=DID, credentials=[SimpleNamespace(credential_id=it) for it in self.credentials])

    async def keys(self):
        return SimpleNamespace(wraps=[{"kind": "prf", "id": it} for it in self.wraps])

    async def add_key(self, key):
        self.wraps.append(key.host_key().id)

    async def remove_key(self, _kind, credential_id):
        self.wraps.remove(credential_id)

    async def publishing_key(self):
        return SimpleNamespace(user_handle=b"handle")

    async def parse_webauthn(self, credential):
        return SimpleNamespace(parsed={"cose_key": _public_key(credential)})

    async def exec(self, what, args=None):
        if args is None:
            rows = [{"credential_id": it, "public_key": _public_key(it)} for it in self.credentials]
            rows = [row | {"public_key": None} if row["credential_id"] == _WITHOUT_KEY else row for row in rows]
            return ExecOutput(success=True, result=rows)
        if what.endswith("verify"):
            usual = {"valid": True, "credential_id": json.loads(base64.b64decode(args["assertion"]))["id"]}
            return ExecOutput(success=True, result=await self.answer("passkey signs") or usual)
        if what.endswith("create") and args["credential_id"] in self.credentials:
            return ExecOutput(success=False, error="exists")
        change = self.credentials.append if what.endswith("create") else self.credentials.remove
        change(args["credential_id"])
        return ExecOutput(success=True, result=None)


class _Account:
    """The account on the main chain, as one service shows it, and on the service's other chains."""

    def __init__(self, player, host):
        self.player, self.host = player, host

    def said(self, what, truth):
        answer = self.player.script.scripted(f"{self.host} says: {what}")
        return truth if answer is None else answer

    async def knows_chain(self):
        return bool(self.player.has_chain)

    async def chains(self):
        others = [SimpleNamespace(name=it, chain_id=it, main=False, payments=True) for it in self.player.others]
        return SimpleNamespace(chains=[SimpleNamespace(main=True, payments=True), *others])

    async def account_view(self):
        owners = dict.fromkeys(self.player.expired, 1) | dict.fromkeys(self.said("owners", self.player.owners), 0)
        return SimpleNamespace(owners=[Owner(_signer(it), end, is_primary=False) for it, end in owners.items()])

    async def sign_account_changes(self, changes):
        """Sign with as many keys as this service says, for the place that it says."""
        keys = self.said("threshold", self.player.threshold)
        if keys > self.player.key_count:
            raise SecondKeyMissing("0x01", [])
        names = [(change.kind, change.signer.rstrip(b"\0").decode()) for change in changes]
        return _Change(self.said("place", self.player.place), keys, names)

    async def account_history(self):
        return self.player.history

    async def account_origin(self):
        return None

    async def bring_account_changes(self, signed, *, chain_id=None, **_origin):
        if chain_id is None:
            await self._changed(signed[0])
        else:
            there = {chain_id: list(self.player.owners)}
            await self.player.answer(f"{chain_id}: bring", then=lambda: self.player.others.update(there))

    async def _changed(self, change):
        """Change the owners. A change that ends passkeys of earlier attempts has no effect to compare: the clients make other ones."""
        player, (adds, ends) = self.player, (change.named(it) for it in (ChangeKind.ADD_OWNER, ChangeKind.REMOVE_OWNER))
        how = player.script.scripted("account")
        begun = "account" if player.deployed else "account, created"
        if player.held is not None and how == "held first":
            player.takes(player.held)
        if how == "elsewhere":
            player.takes(_Change(player.place, 2, [(ChangeKind.ADD_OWNER, "another")]))

        def then():
            if how == "held":
                player.held = change
            else:
                player.takes(change)

        if set(ends) <= {"former"}:
            told = [f"add {player.symbol(it)}" for it in adds] + [f"end {it}" for it in ends]
            await player.answer("account", f": {', '.join(told)}", then, begun)
        else:
            then()


class _Change(NamedTuple):
    place: int
    keys: int
    names: list[tuple[ChangeKind, str]]

    def named(self, wanted):
        return [it for kind, it in self.names if kind is wanted]


async def _at_once(_seconds):
    """Wait for nothing."""


def _signer(name):
    return name.encode().ljust(64, b"\0")


def _public_key(credential_id):
    return base64.b64encode(b"\x04" + _signer(credential_id)).decode()


class _Service:
    """A service with names and passkeys. What it says of them may be scripted; it is no effect."""

    def __init__(self, player, host):
        self.player, self.host, self.base_url = player, host, f"https://{host}.example"
        self.names = {}
        self.passkeys = []

    def of_the_person(self):
        names = [name for name, did in self.names.items() if did == DID]
        return names + [self.player.symbol(it) for it in self.passkeys]

    def said(self, what, truth):
        return {**truth, **(self.player.script.scripted(f"{self.host} says: {what}") or {})}

    async def _call(self, *_):
        return self.said("DID", {"id": f"did:web:{self.host}.example"})

    async def contracts(self):
        return msgspec.convert(self.said("contracts", {}), _Contracts)

    async def lookup_did(self, credential_id):
        if credential_id not in self.passkeys:
            return None
        known = {"found": True, "identifier": self.player.name, "channel": self.player.channel, "did": DID}
        return DidRecord.from_json(self.said("passkey", {**known, "txHash": "0x02", "createdAt": "2023"}))

    async def check_session(self, name):
        return SimpleNamespace(**self.said("name", {"available": name not in self.names, "reason": "taken"}))

    async def check_alias(self, name):
        return SimpleNamespace(did=self.names.get(name))

    def registers(self, passkey):
        async def register(name, *_):
            def then():
                self.names[name] = DID
                self.passkeys += [] if passkey in self.passkeys else [passkey]

            await self.player.answer(f"{self.host}: register", f" {name}", then)

        return register

    async def copy_to(self, *_):
        await self.player.answer(f"{self.host}: copy")
        return SimpleNamespace(snapshot=SimpleNamespace(root_cid="root"))

    async def continue_there(self, *_):
        await self.player.answer(f"{self.host}: continue")

    async def take_back_passkey(self, passkey):
        """Take back an earlier attempt's passkey: no effect to compare, because the JavaScript client makes more of them."""
        self.passkeys.remove(passkey)

    def person_methods(self):
        async def free_identifier(name, _channel):
            await self.player.answer(f"{self.host}: free", f" {name}", lambda: self.names.pop(name, None))

        async def take_back_passkey(passkey):
            kept = [it for it in self.passkeys if it != passkey]
            await self.player.answer(f"{self.host}: take back", f" {passkey}", lambda: setattr(self, "passkeys", kept))

        async def export_person():
            return {"identifiers": [{"given": name} for name in self.names]}

        methods = (free_identifier, take_back_passkey, export_person)
        return {it.__name__: it for it in methods}
