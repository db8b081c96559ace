"""The vault classes with the real enclave: life cycle, keys, storage, boot, and calls at the wrong time."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.support.direct_sql import in_store
from tests.support.payments import new_vault
from tests.support.vaults import AUTHENTICATOR, GIVEN, PASSKEY, SECRET
from tests.support.vector_files import vectors

from holdfast.chain.contracts.addresses import DEFAULT_CONTRACT_SET
from holdfast.client import types
from holdfast.client.blocking.vault import Vault
from holdfast.client.flows.accounts import account_address
from holdfast.client.passkeys import PasskeyKey
from holdfast.client.storage.vault_store import VaultStore
from holdfast.client.vault.boot import BootLog
from holdfast.client.vault.keeping import revision_of
from holdfast.client.vault.keys import KeyringKey, PasswordKey, SecretKey
from holdfast.client.vault.module import checked_module, module_file
from holdfast.content.cids import raw_block
from holdfast.enclave.module import bundled, bundled_sha256
from holdfast.rules.identifiers import Channel, parse_identifier
from holdfast.wire.client_errors import ClientStateError, PluginCallError, StorageError, WasmLoadError
from holdfast.wire.encoding import to_base64url
from holdfast.wire.keccak import did_of_key, keccak256
from holdfast.world.software_key import SoftwareKey

STRONG = "nine lives of a tall cat"
BOOTS = vectors("service/boot")["cases"]
LIST_ACCOUNTS = "resource:accounts action:list"


@pytest.fixture
def vault(store):
    with Vault(store) as made:
        yield made


@pytest.fixture
def did(vault):
    return vault.generate(GIVEN, SECRET).did


def hashed(data):
    return "0x" + keccak256(data).hex()


def test_a_new_vault_certifies_itself_and_is_stored(vault, store):
    made = vault.generate(GIVEN, SECRET)
    assert made.did == did_of_key(int(made.pubkey_x, 16), int(made.pubkey_y, 16))
    assert store.load().sealed == made.database
    assert store.load().manifest.wasm_version == bundled_sha256()
    assert (vault.status().locked, vault.status().did) == (False, made.did)
    found = vault.query()
    assert [c.credential_id for c in found.credentials] == [PASSKEY.credential_id]
    short = made.result()
    assert (short.did, short.shares.enclave_id) == (made.did, made.enclave_id)
    assert short.parsed_credential["credential_id"] == PASSKEY.credential_id
    shown = {made.accounts[0].address, short.address, found.accounts[0].address, vault.derive_address().address}
    assert shown == {smart_account(made, types.ContractSet.from_json(DEFAULT_CONTRACT_SET))}


def test_a_vault_that_could_not_be_stored_is_not_in_the_way(vault, store, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(VaultStore, "save", refuse)
        with pytest.raises(StorageError, match="full"):
            vault.generate(GIVEN, SECRET)
    assert vault.generate(GIVEN, SECRET).did == store.load().manifest.did


def refuse(*_, **__):
    raise StorageError("full")


def smart_account(made, contracts):
    return account_address(contracts, int(made.pubkey_x, 16), int(made.pubkey_y, 16))


def test_a_vault_shows_the_account_of_the_services_contracts(vault):
    contracts = types.ContractSet.from_json({**DEFAULT_CONTRACT_SET, "chainId": 31337, "appFactory": "0x" + "77" * 20})
    made = vault.generate(GIVEN, SECRET, **contracts.for_vault(foreign=True))
    assert made.accounts[0].address == smart_account(made, contracts)
    assert made.accounts[0].chain_id == "31337"


def test_locking_and_unlocking_here_and_in_another_process(vault, did, store):
    locked = vault.lock()
    assert locked.success
    assert vault.status().locked
    assert store.load().sealed == locked.database
    for refused in (lambda: vault.sign(b"d" * 32), vault.did_key):
        with pytest.raises(PluginCallError) as caught:
            refused()
        assert caught.value.code == "vault_locked"
    assert vault.unlock(SecretKey(b"x" * 32)).success is False
    assert vault.unlock(SECRET) == types.UnlockOutput(success=True, did=did)
    vault.set_auto_lock(3600)
    assert vault.status().locked is False
    with Vault(store) as second:
        assert second.load().did == did
        assert second.status().locked
        assert second.unlock(SECRET).did == did


class FullStore(VaultStore):
    is_full, stored = False, threading.Event()

    def save(self, *given, **options):
        if self.is_full:
            self.is_full = False
            raise StorageError("the disk is full")
        super().save(*given, **options)
        self.stored.set()


def test_a_revision_that_could_not_be_stored_is_stored_when_the_vault_locks_itself(tmp_path):
    with FullStore(directory=tmp_path) as store, Vault(store) as vault:
        vault.generate(GIVEN, SECRET)
        store.is_full = True
        store.stored.clear()
        with pytest.raises(StorageError, match="full"):
            vault.add_key(PasswordKey(lambda: "correct horse"))
        vault.set_auto_lock(1)
        assert store.stored.wait(60)
        assert vault.status().locked
        with Vault(store) as second:
            assert second.unlock(PasswordKey(lambda: "correct horse")).success


def test_several_keys_open_one_vault(vault, did):
    others = [
        PasswordKey(lambda: "correct horse"),
        PasskeyKey(AUTHENTICATOR, PASSKEY.credential_id),
        KeyringKey(keyring=Ring()),
    ]
    for key in others:
        vault.add_key(key)
    assert len(vault.keys().wraps) == 4
    for key in [SECRET, *others]:
        vault.lock()
        assert vault.unlock(key).did == did
    vault.remove_key("secret", "secret")
    vault.lock()
    assert vault.unlock(SECRET).success is False
    assert vault.unlock(others[1]).did == did
    for wrap in vault.keys().wraps[1:]:
        vault.remove_key(wrap["kind"], wrap["id"])
    with pytest.raises(PluginCallError) as caught:
        vault.remove_key(kind="password", key_id="password")
    assert caught.value.code == "last_wrap"


def test_an_older_copy_is_refused(vault, did, store):
    old = store.load().sealed
    vault.lock()
    assert revision_of(store.load().sealed) > revision_of(old)
    with Vault(store) as fresh:
        assert fresh.unlock(SECRET, old).success is False
        assert fresh.load(old).success is False
        assert fresh.unlock(SECRET, store.load().sealed).did == did


def test_an_export_does_not_replace_the_stored_vault_whose_changes_it_lacks(vault, did, store):
    note = {"id": "a", "kind": "b", "value": "c"}
    taken = types.VaultImportOptions(data=vault.export(types.VaultExportOptions(password=STRONG)).data, password=STRONG)
    assert vault.exec("resource:tokens action:create", note).success
    with Vault(store) as other:
        with pytest.raises(StorageError, match="a vault of this DID is stored here already"):
            other.import_(taken, SecretKey(bytes([9]) * 32))
        assert not other.status().initialized
        assert other.unlock(SECRET).success
        for _ in range(3):  # each change is a revision
            other.exec("resource:tokens action:create", {**note, "id": f"a{_}"})
        assert len(other.exec("resource:tokens action:list").result) == 4
        store.delete(did)
    with Vault(store) as other:
        assert other.import_(taken, SecretKey(bytes([9]) * 32)).success
        assert store.load(did) is not None


def test_the_interfaces_inputs_are_taken_as_they_are(vault, did, store):
    sealed = types.Octets(store.load().sealed)
    with Vault() as fresh:
        assert fresh.load(types.LoadInput(database=sealed)).did == did
        assert fresh.unlock(SECRET, types.UnlockInput(database=sealed)).did == did
        assert fresh.query(types.QueryInput(did=did)) == fresh.query() == vault.query(did)
        listed = types.ExecInput(filter=LIST_ACCOUNTS)
        assert fresh.exec(listed).result == fresh.exec(LIST_ACCOUNTS).result
        asked = types.ExecInput(filter=LIST_ACCOUNTS, token="none")
        assert fresh.exec(asked) == fresh.exec(LIST_ACCOUNTS, token="none")
        assert fresh.exec(asked).success is False


def test_addresses_hashes_and_credentials(vault, did):
    assert vault.derive_address("ethereum").address.startswith("0x")
    assert vault.keccak256(b"abc") == hashed(b"abc")
    assert vault.parse_webauthn(PASSKEY.credential).parsed["credential_id"] == PASSKEY.credential_id
    with pytest.raises(PluginCallError, match=r"^derive_address: ") as caught:
        vault.derive_address("bitcoin")
    assert caught.value.code == "unsupported_chain"


def claim(vault, alias):
    return types.CreateRegistrationInput(sender=vault.derive_address().address, alias=alias)


@pytest.mark.parametrize("alias", ["ÄDA", "\uff21\uff24\uff21", "ADA", "Straße", "A\u0308da"])
def test_an_alias_has_the_hash_that_the_service_knows(vault, did, alias):
    wanted = hashed(parse_identifier(alias, Channel.HANDLE).key.encode())
    assert vault.create_registration(claim(vault, alias)).alias_hash == wanted
    assert vault.alias_hash(alias) == vault.alias_hash(alias, hashed) == wanted


@pytest.mark.parametrize("alias", ["a b", "\u202eada", "x" * 65, "x" * 321, "a\ufffdb"])
def test_what_cannot_be_a_handle_is_no_alias(vault, did, alias):
    for refused in (lambda: vault.create_registration(claim(vault, alias)), lambda: vault.alias_hash(alias)):
        with pytest.raises(ValueError, match=r"^this handle cannot be registered: choose another$"):
            refused()


def test_the_secret_of_a_claim_outlives_the_process(vault, did, store):
    """A vault without a seed gets one, which is stored before a commitment can be sent."""
    given = claim(vault, "ada")
    before = vault.create_registration(given).call_data
    vault.close()
    with Vault(store) as again:
        assert again.unlock(SECRET).success
        assert again.create_registration(given).call_data == before


def test_calls_at_the_wrong_time_are_state_errors():
    vault = Vault()
    with pytest.raises(ClientStateError, match="not been booted"):
        vault.status()
    vault.boot()
    with pytest.raises(ClientStateError, match="has been booted"):
        vault.boot()
    with pytest.raises(ClientStateError, match="no vault is stored"):
        vault.load()
    vault.close()
    for ask in (vault.status, vault.boot):
        with pytest.raises(ClientStateError, match="closed"):
            ask()


def test_boot_tells_its_progress(store):
    events = []
    vault = Vault(store, on_event=events.append)
    assert vault.boot() == types.BootStatus(enclave=True, helia=True, libp2p=True, ready=True)
    told = [(subsystem, status) for subsystem in ("enclave", "helia", "libp2p") for status in ("booting", "ready")]
    assert [(event.subsystem, event.status) for event in events] == told
    assert list(vault.boot_log) == events
    assert events[0].to_json() == {"type": "boot-progress", "subsystem": "enclave", "status": "booting"}
    vault.close()
    assert vault.boot_status == types.BootStatus(enclave=False, helia=False, libp2p=False, ready=False)


def test_without_libp2p_or_a_working_store_boot_is_not_ready(store, monkeypatch):
    absent = {"libp2p"}
    monkeypatch.setattr("holdfast.client.installed.find_spec", lambda name: None if name in absent else name)
    with Vault(store) as vault:
        assert vault.boot_status == types.BootStatus(enclave=True, helia=True, libp2p=False, ready=False)
        assert "pip install '" in vault.boot_log.events[-1].error
        assert vault.generate(GIVEN, SECRET).did  # the enclave alone suffices
    absent.clear()
    store.try_block()
    assert in_store(store, "SELECT count(*) FROM blocks") == [(0,)], "trying the store leaves nothing"
    in_store(store, "CREATE TRIGGER full BEFORE INSERT ON blocks BEGIN SELECT RAISE(ABORT, 'full'); END")
    with Vault(store) as vault:
        assert vault.boot_status == types.BootStatus(enclave=True, helia=False, libp2p=True, ready=False)
        assert next(e.error for e in vault.boot_log if e.status == "failed").startswith("Storage: ")
    store.close()
    with Vault(store) as vault:
        assert (vault.boot_status.enclave, vault.boot_status.helia) == (True, False)
        assert [e.status for e in vault.boot_log if e.subsystem == "helia"] == ["booting", "failed"]


@pytest.mark.parametrize("case", BOOTS, ids=lambda case: ", ".join(case["steps"]))
def test_starts_and_reports_give_these_boot_events(case):
    told = []
    log = BootLog(lambda event: told.append(event.status))
    for step in case["steps"]:
        match step:
            case "begin":
                starting = log.starting("helia", required=False)
                starting.__enter__()
            case "finish":
                starting.__exit__(None, None, None)
            case "break":
                starting.__exit__(OSError, OSError("broken"), None)
            case "end":
                log.ended()
            case _:
                log.report("helia", "no answer" if step == "fail" else None)
    assert (told, log.status.helia) == (case["events"], case["ready"])


def test_boot_moves_only_as_documented():
    with pytest.raises(ValueError, match="cannot become"):
        BootLog().emit("enclave", "ready")


def test_a_broken_module_is_a_load_error(tmp_path):
    broken = tmp_path / "broken.wasm"
    broken.write_bytes(b"\0asm\1\0\0\0broken")
    vault = Vault(module=broken)
    with pytest.raises(WasmLoadError, match=r"^WASM load failed: "):
        vault.boot()
    assert vault.boot_status.enclave is False
    vault.close()


def test_the_services_module_is_verified_and_kept(tmp_path):
    module, asked = bundled().read_bytes(), []

    def fetch():
        asked.append(1)
        return module

    file = module_file(bundled_sha256(), fetch, directory=tmp_path)
    assert module_file(bundled_sha256(), fetch, directory=tmp_path) == file
    assert (file.read_bytes(), len(asked)) == (module, 1)
    file.write_bytes(module[:-1])
    assert module_file(bundled_sha256(), fetch, directory=tmp_path).read_bytes() == module
    assert [path.name for path in tmp_path.iterdir()] == [file.name]
    with pytest.raises(WasmLoadError, match="not the expected one"):
        checked_module(module + b"x", bundled_sha256())


class Ring:
    """A keyring in memory, whose collection may be locked."""

    def __init__(self, *, locked=False):
        self.texts, self.locked = {}, locked

    def get_password(self, service, name):
        if self.locked:
            raise RuntimeError("locked collection /secret/path")
        return self.texts.get((service, name))

    def set_password(self, service, name, text):
        self.texts[service, name] = text


def test_keyring_keys_are_made_once():
    ring = Ring()
    with pytest.raises(StorageError, match="has no key"):
        KeyringKey("work", create=False, keyring=ring).host_key()
    first = KeyringKey("work", keyring=ring).host_key()
    assert first == KeyringKey("work", create=False, keyring=ring).host_key()
    assert (len(first.secret), first.id) == (32, "keyring:work")
    assert first.secret != KeyringKey("home", keyring=ring).host_key().secret
    with pytest.raises(StorageError, match="is it there and unlocked") as caught:
        KeyringKey(keyring=Ring(locked=True)).host_key()
    assert "path" not in str(caught.value) and "RuntimeError" not in str(caught.value)


def test_keys_that_are_none_are_refused():
    for key in (SecretKey(b"short"), PasswordKey(""), PasswordKey(lambda: "")):
        with pytest.raises(ValueError, match=r"."):
            key.host_key()
    shown = repr([SecretKey(b"s" * 32), PasswordKey("hunter2"), SecretKey(b"s" * 32).host_key()])
    assert "hunter2" not in shown
    assert "ssss" not in shown


def test_snapshots_are_taken_and_fetched(vault, did, store):
    taken = vault.snapshot()
    assert store.load().manifest.root_cid == taken.root_cid
    assert vault.fetch_snapshot(taken.root_cid) == taken
    following = vault.snapshot()
    assert following.manifest.root_cid == taken.root_cid
    with pytest.raises(StorageError, match="no gateway"):
        vault.fetch_snapshot(raw_block(b"elsewhere").cid)
    with Vault() as opened:
        assert opened.unlock(SECRET, following.sealed).did == did


def test_many_threads_change_one_vault(vault, did, store):
    given = types.DelegationOptions(to=vault.did_key(), command="/accounts/list")
    with ThreadPoolExecutor(8) as pool:
        minted = list(pool.map(lambda _: vault.mint_delegation(given), range(24)))
    assert len({delegation.cid for delegation in minted}) == 24
    with Vault(store) as again:
        again.unlock(SECRET)
        assert len(again.exec("resource:delegations action:list").result) == 24


def test_a_changed_statement_about_keys_changes_no_key(tmp_path):
    with VaultStore(directory=tmp_path) as store, new_vault(store) as vault:
        before, stranger = vault.did_key(), SoftwareKey.generate()
        (method,) = vault.query().verification_methods
        vault.exec("resource:verification_methods action:delete", {"id": method.id})
        point = to_base64url(b"\x04" + stranger.x.to_bytes(32) + stranger.y.to_bytes(32))
        row = {"id": method.id, "type": method.type, "controller": method.controller, "purpose": "authentication"}
        vault.exec("resource:verification_methods action:create", {**row, "public_key": point})
        vault.exec("resource:enclaves action:create", {"curve": "P-256"})
        assert vault.query().verification_methods[0].public_key == point
        assert vault.did_key() == before
        own = vault.own_key()
        assert did_of_key(own.x, own.y) == vault.status().did
