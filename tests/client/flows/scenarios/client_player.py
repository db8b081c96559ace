"""Plays the scenarios of registrations and payments, at the level of HTTP requests and of calls to the vault."""

import asyncio
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import httpx2
import msgspec
from tests.client.flows.scenarios.files import DEFAULTS
from tests.client.flows.scenarios.script import SCRIPT, Killed, Player, Script, misuse, told
from tests.client.flows.scenarios.world import FACTS, USUAL, World
from tests.support.direct_sql import in_store

from holdfast.chain.packed_operations import operation_hash
from holdfast.chain.user_operations import UserOperation
from holdfast.client.async_client import AsyncClient, chosen_identifier
from holdfast.client.flows.gas import GasPolicy
from holdfast.client.storage.vault_store import VaultStore
from holdfast.client.types import ExecOutput, PaymentParams, SignUserOpResult
from holdfast.client.types.persistence import SnapshotConfig
from holdfast.client.vault.own_key import OwnKey
from holdfast.wire.client_errors import PluginCallError, ServiceError
from holdfast.wire.encoding import to_hex


class SkippingLoop(asyncio.SelectorEventLoop):
    """An event loop whose clock advances by the waiting times that are skipped."""

    skipped_s = 0.0

    def time(self):
        """Return the loop's time, in seconds."""
        return super().time() + self.skipped_s


async def play(scenario, folder):
    """Return what each event led to."""
    with VaultStore(directory=folder) as store:
        return await _Player(store, scenario).outcomes(scenario)


class _Vault:
    """A vault of one key, whose calls that sign are effects."""

    listeners: tuple[Any, ...] = ()
    curve = "P-256"
    snapshot_config = None

    def __init__(self, store, world):
        self.store, self.world, self.listeners, self.is_locked = store, world, [], False
        self.passkeys = [FACTS["credential"]]

    async def status(self):
        return SimpleNamespace(locked=self.is_locked, did=FACTS["did"], initialized=True)

    async def query(self):
        return SimpleNamespace(
            did=FACTS["did"], credentials=[SimpleNamespace(credential_id=it) for it in self.passkeys]
        )

    async def own_key(self):
        return OwnKey(self.curve, int(FACTS["x"], 16), int(FACTS["y"], 16))

    async def create_registration(self, given, *, step, **_):
        other = f" of {given.alias}" if given.alias not in {"", FACTS["alias"]} else ""
        await self._used(step + other, "create_registration")
        return SimpleNamespace(call_data=FACTS[step])

    async def sign_user_op(self, operation, entry_point, chain_id):
        rpc = UserOperation.from_rpc(operation.to_json())
        signed = to_hex(operation_hash(rpc, entry_point=entry_point, chain_id=chain_id))
        await self._used(f"sign nonce {rpc.nonce}", "sign_user_op", lambda: self.world.signed.append(signed))
        return SignUserOpResult(signature="0x" + "01" * 64, user_op_hash=signed, enclave_id="", public_key="")

    async def mint_invocation(self, *_, audience, **_options):
        other = "" if audience == "did:web:service.example" else f" for {audience}"
        await self._used(f"token{other}", "mint_invocation")
        return SimpleNamespace(container="token")

    async def exec(self, _filter, question):
        answer = await self.world.performed("vault: verify", _asked_about(question), lambda: None)
        if isinstance(answer, dict) and "error" in answer:
            return ExecOutput(success=False, error=answer["error"])
        return ExecOutput(success=True, result=DEFAULTS["answers"]["vault: verify"] if answer is USUAL else answer)

    async def _used(self, what, function, then=lambda: None):
        if self.is_locked:
            raise PluginCallError(function, "the vault is locked", "vault_locked")
        await self.world.performed(f"vault: {what}", "", then)


class _Player(Player):
    def __init__(self, store, scenario):
        self.store = store
        self.world = World(scenario.get("given", {}))
        for name, note in scenario.get("given", {}).get("notes", {}).items():
            store.set_note(f"{name}:{FACTS['did']}", note)

    async def turn(self, event, stop_after=None):
        """Perform one event with a new client, which knows only what is stored."""
        script = self.script = Script(event.get("answers"), stop_after)
        vault = _Vault(self.store, self.world)
        vault.is_locked, vault.curve = event.get("locked", False), event.get("curve", "P-256")
        vault.passkeys = event.get("passkeys", vault.passkeys)
        client = AsyncClient(
            "https://service.example",
            vault=vault,
            gas=GasPolicy(**event.get("policy", {})),
            account=FACTS.get(event.get("account"), event.get("account")),
            snapshots=SnapshotConfig(automatic=False, service_did=event.get("service_did")),
            transport=httpx2.MockTransport(self.world.answer),
        )
        result, error = None, None
        with _skipping():
            try:
                result = await script.run(lambda: getattr(self, f"do_{event['do']}")(client, event))
            except (ServiceError, Killed, *misuse(event)) as raised:
                error = raised
        ending = {name: self.world.named(text) for name, text in told(error).items()}
        return {"effects": script.effects, "state": self.state(), "result": self.shown(result), **ending}

    async def do_register(self, client, event):
        codes = event.get("codes", ["111111"])
        codes = codes and list(codes)
        chosen = chosen_identifier(*(event.get(channel) for channel in ("handle", "email", "sms")))
        now = FACTS["now_s"] + event.get("clock_s", 0)

        async def code(message):
            await SCRIPT.get().perform(f"ask: {message}")
            return codes.pop(0) if codes else None

        return await client._registrar().register(*chosen, None if codes is None else code, self.tell, now=lambda: now)

    async def do_pay(self, client, event):
        to = event.get("to", "payee")
        to = FACTS.get(to, to)
        chain_id = event.get("chain_id", 84532)
        asked = PaymentParams(
            to=to, amount=event["amount"], token=event.get("token", "native"), chain_id=chain_id, ucan=event.get("ucan")
        )
        for _ in range(1, event.get("payments", 1)):
            await client.pay(asked, on_progress=self.tell)
        return await client.pay(asked, on_progress=self.tell)

    async def do_set_did_active(self, client, event):
        await client.set_did_active(active=event["active"], on_progress=self.tell)

    async def tell(self, step):
        await SCRIPT.get().perform(f"tell: {step}")

    def state(self):
        """Return what the device stores: the registration's progress, the open operation, and what was spent."""
        notes = {name: text for name, text in _notes(self.store).items() if text}
        progress = next((json for name, json in notes.items() if name.startswith("registration:")), None)
        signed = msgspec.json.decode(next((it for name, it in notes.items() if name.startswith("signed:")), "null"))
        spent = {name.partition(":")[2]: text for name, text in notes.items() if name.startswith("spent:")}
        return {
            "registration": progress and self._row(msgspec.json.decode(progress)),
            "signed": signed and self._signed(signed),
            "fees": signed and signed["fees"],
            "spent": spent,
        }

    def _row(self, row):
        shown = {_camel(name): self.world.symbol(value) for name, value in row.items() if value}
        return {name: isinstance(value, dict) or value for name, value in shown.items()}

    def _signed(self, note):
        return {"nonce": note["nonce"], "operations": [self.world.symbol(name) for name in note["calls"]]}

    def shown(self, result):
        return None if result is None else {name: self.world.named(it) for name, it in _fields(result).items()}


def _asked_about(question):
    """Return the totals that a question about a delegation contains: the invocation's own, and that of each delegation."""
    totals = [f"{it['total']} of {cid}" for cid, it in question.get("added_args", {}).items()]
    args = question.get("args", {})
    own = [f"a total of {args['total']}"] if "total" in args else []
    told = [*totals, *own, *(["for this vault"] if question.get("audience") else [])]
    return f": {', '.join(told)}" if told else ""


def _fields(result):
    return {_camel(name): value for name, value in msgspec.structs.asdict(result).items()}


def _notes(store):
    return dict(in_store(store, "SELECT name, value FROM notes"))


@contextmanager
def _skipping():
    """Let waiting times pass at once, and record them as effects."""
    sleep = asyncio.sleep

    async def skip(seconds, *_):
        if seconds > 0:
            await SCRIPT.get().perform(f"wait {seconds:g}")
        loop = asyncio.get_running_loop()
        assert isinstance(loop, SkippingLoop)
        loop.skipped_s += seconds
        await sleep(0)

    with patch("asyncio.sleep", skip):
        yield


def _camel(name):
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)
