"""`holdfast vault exit` on a chain without any service: everything is moved through a bare node, or a bundler."""

import json
import secrets
from copy import copy
from unittest.mock import Mock

import httpx2
import pytest
from eth_keys.datatypes import PrivateKey
from tests.support.chain_service import NOWHERE, chain_service
from tests.support.nfts import mint, mint_pieces, owner_of, pieces_of
from tests.support.paymasters import Paymaster, failure
from tests.support.payments import someone
from tests.support.running_service import json_server
from tests.support.security_keys import plugged_in
from tests.support.silent_host import hanging_host
from tests.support.soak import cases
from tests.support.software_authenticator import SoftwareAuthenticator
from tests.support.terminal import Terminal

from holdfast.chain.abi import call_data
from holdfast.chain.account_messages import Change, ChangeKind
from holdfast.chain.contracts import ADDRESSES
from holdfast.chain.entry_points import ENTRY_POINTS
from holdfast.cli import client_vault, exit_steps
from holdfast.cli.exit_steps import payer_of
from holdfast.cli.exits import Exit
from holdfast.cli.vault_exit import _send
from holdfast.client import passkeys
from holdfast.client.passkeys import Authenticator
from holdfast.wire import waiting
from holdfast.wire.encoding import from_hex

pytestmark = pytest.mark.timeout(600)
ETH, DOLLAR = 10**18, 10**6
NODE = ("--rpc", NOWHERE)


@pytest.fixture(scope="module")
def slow_chain(tmp_path_factory):
    """A chain without the precompile for P-256, on which no service runs."""
    with chain_service(tmp_path_factory.mktemp("slow"), served=False, hardfork="prague") as world:
        yield world


class Person:
    """Someone with a vault on this machine, whose service is gone."""

    def __init__(self, folder, key="passkey"):
        self.terminal = Terminal(folder, NOWHERE, key=key)
        self.account = self.terminal.json("vault", "create", "--software")["account"]
        self.signer = from_hex(self.terminal.json("vault", "exit")["key"])
        self.key = int.from_bytes(self.signer[:32]), int.from_bytes(self.signer[32:])

    def exit(self, chain, *words, **more):
        given = ("vault", "exit", *words, "--rpc", chain.rpc_url, "--token", chain.usdc)
        told = self.terminal.run(*given, "--yes", "--json", **more)
        return json.loads(told.stdout or "null")


@pytest.fixture
def ada(tmp_path):
    return Person(tmp_path / "ada")


@pytest.fixture(scope="module")
def old_computer(tmp_path_factory):
    """A person, and what is left of the vault on another computer; a password opens it."""
    folder = tmp_path_factory.mktemp("old computer")
    who, car, export = Person(folder, "password"), str(folder / "vault.car"), str(folder / "vault.export")
    who.terminal.json("vault", "snapshot", "--car", car)
    who.terminal.json("vault", "export", export)
    return who, car, export


@pytest.fixture
def left(old_computer, tmp_path):
    """The same at a new computer, which has no vault."""
    who = copy(old_computer[0])
    who.terminal = Terminal(who.terminal.folder, NOWHERE)
    who.terminal.environment["HOLDFAST_VAULT_DIR"] = str(tmp_path / "new computer")
    return who, *old_computer[1:]


@pytest.fixture
def sender(tmp_path, chain):
    file, secret = tmp_path / "sender.key", secrets.token_bytes(32)
    file.write_text(secret.hex() + "\n")
    file.chmod(0o600)
    address = str(PrivateKey(secret).public_key.to_checksum_address())
    chain.fund(address, ETH)
    return address, str(file)


def deploy(chain, who):
    chain.send(ADDRESSES["AppFactory"], call_data("createAccount(uint256,uint256,uint256)", *who.key, 0))


def change(chain, who, *changes):
    """Change the account's owners, as an operation of the account does."""
    listed = [(int(each.kind), each.signer, each.value) for each in changes]
    chain.send(who.account, call_data("changeOwners((uint8,bytes,uint256)[])", listed), sender=who.account)


def shared(chain, who, *changes, dollars=1):
    """Create the account, with coin and dollars, for several owners."""
    deploy(chain, who)
    change(chain, who, *changes)
    chain.give(who.account, dollars * DOLLAR)
    chain.fund(who.account, ETH)


def register(chain, who):
    signature = "register(uint256,uint256,uint256,bytes32,bytes32,string)"
    data = call_data(signature, *who.key, 0, bytes(32), bytes(32), "")
    chain.send(ADDRESSES["DIDRegistry"], data, sender=who.account)
    return chain.read("DIDRegistry", "didOf(address)", who.account)


@pytest.mark.parametrize("version", cases({one.version: one for one in ENTRY_POINTS}, ENTRY_POINTS[0].version))
def test_a_funded_key_moves_everything_from_an_account_that_does_not_exist_yet(chain, ada, sender, version):
    to, (payer, key_file) = someone(), sender
    chain.give(ada.account, 25 * DOLLAR)
    chain.fund(ada.account, ETH)
    chain.send(version.address, call_data("depositTo(address)", ada.account), sender=someone(), value=3)
    number = secrets.randbits(200)
    art, pieces = mint(chain, "Nft", ada.account, number), mint_pieces(chain, ada.account, {number: 3})
    named = ("--nft", f"{art}:{number}", "--nft", f"{pieces}:{number}")
    words = ("--to", to, "--sender-key", key_file, *named, "--entry-point", version.address)
    said = ada.exit(chain, *words)
    assert (chain.usdc_of(to), chain.coin_of(to)) == (25 * DOLLAR, ETH + 3)
    assert (owner_of(chain, art, number), pieces_of(chain, pieces, to, number)) == (int(to, 16), 3)
    assert (chain.usdc_of(ada.account), chain.coin_of(ada.account)) == (0, 0)
    assert [move["kind"] for move in said["moves"]] == ["token", "nft", "nft", "deposit", "coin"]
    assert (said["payer"], said["sender"], said["deployed"]) == ("sender", payer, False)
    assert ETH - int(said["maxCost"]) <= chain.coin_of(payer) < ETH
    assert chain.receipt(said["transactionHash"]).succeeded


@pytest.mark.parametrize("way", ["--sender-key", "--bundler"])
def test_coin_alone_goes_to_an_address_that_does_not_exist_yet(chain, ada, sender, way):
    """A call that sends coin to a new address costs 25,000 gas more than a transaction that does."""
    to = someone()
    chain.fund(ada.account, ETH)
    said = ada.exit(chain, "--to", to, way, sender[1] if way == "--sender-key" else chain.bundler_url)
    assert [move["kind"] for move in said["moves"]] == ["coin"]
    assert (chain.coin_of(to), chain.coin_of(ada.account)) == (int(said["moves"][0]["amount"]), 0)


def test_a_paymaster_pays_for_an_account_without_coin(chain, ada):
    to, paymaster = someone(), Paymaster(chain)
    paymaster.policy = None
    chain.give(ada.account, DOLLAR)
    with paymaster.served() as url:
        said = ada.exit(chain, "--to", to, "--bundler", chain.bundler_url, "--paymaster", url)
    assert (chain.usdc_of(to), said["payer"], said["maxCost"]) == (DOLLAR, "paymaster", "0")


def test_a_bundler_moves_everything_and_names_the_dids_next_controller_and_no_service_is_asked(chain, left):
    (ada, car, export), asked = left, []
    to, heir = someone(), someone()
    deploy(chain, ada)
    did = register(chain, ada)
    chain.give(ada.account, 25 * DOLLAR)
    chain.fund(ada.account, ETH)
    with json_server(lambda method, path, _: (asked.append((method, path)), (500, {}))[1]) as url:
        ada.terminal.environment["HOLDFAST_SERVICE_URL"] = url
        said = ada.exit(chain, export, "--to", to, "--did-to", heir, "--bundler", chain.bundler_url)
        told = ada.terminal.json("vault", "exit", car)
        ada.terminal.environment["HOLDFAST_VAULT_DIR"] = str(ada.terminal.folder)
        assert ada.terminal.json("vault", "exit") == told
    assert asked == []
    assert (chain.usdc_of(to), chain.coin_of(to)) == (25 * DOLLAR, ETH - int(said["maxCost"]))
    assert chain.coin_of(ada.account) == 0
    assert int.from_bytes(chain.read("DIDRegistry", "proposedController(bytes32)", did)) == int(heir, 16)
    assert [move["kind"] for move in said["moves"]] == ["token", "did", "coin"]
    assert (said["payer"], said["owners"][0]["primary"], said["holdsDid"]) == ("account", True, True)


def test_what_is_shown_before_anything_is_sent(chain, ada, sender, monkeypatch):
    to, (payer, key_file) = someone(), sender
    chain.give(ada.account, 25 * DOLLAR)
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("holdfast.cli.output.require_answer", lambda **_: None)
    words = ("vault", "exit", "--rpc", chain.rpc_url, "--token", chain.usdc)
    shown = ada.terminal.run(*words).stdout
    assert f"account {ada.account}" in shown
    assert "does not exist yet" in shown
    assert f"owner 0x{ada.signer.hex()} (primary, this vault's key)" in shown
    assert f"has 25 USDC (token {chain.usdc})" in shown
    monkeypatch.setattr("holdfast.cli.vault_exit.require_answer", lambda **_: None)
    asked = ada.terminal.run(*words, "--to", to, "--sender-key", key_file, typed="n\n", code=Exit.FAILED)
    assert f"  25 USDC (token {chain.usdc}) to {to}\nfees: at most 0.0" in asked.stdout
    assert f"paid by {payer}\nsign and send this?" in asked.stdout
    assert chain.usdc_of(to) == 0
    ada.terminal.run(*words, "--to", to, "--sender-key", key_file, typed="y\n")
    assert chain.usdc_of(to) == 25 * DOLLAR


def fails(who, code, *words):
    told = who.terminal.run("vault", "exit", *words, "--yes", code=code)
    assert told.stdout == ""
    assert told.stderr.count("\n") == 1
    return str(told.stderr)


def test_an_account_with_nothing_in_it_a_payer_without_coin_and_fees_above_the_limit(chain, ada, sender):
    to, (payer, key_file) = someone(), sender
    near = ("--rpc", chain.rpc_url, "--token", chain.usdc, "--to", to)
    ways = (*near, "--sender-key", key_file), (*near, "--bundler", chain.bundler_url)
    for way in ways:
        assert "nothing on this chain" in fails(ada, Exit.NOT_FOUND, *way)
    chain.give(ada.account, DOLLAR)
    chain.fund(payer, 10**9)
    assert f"the sender {payer} has 0.000000001 ETH of the 0.0" in fails(ada, Exit.FAILED, *ways[0])
    assert f"the account {ada.account} has 0 ETH" in fails(ada, Exit.FAILED, *ways[1])
    chain.fund(ada.account, ETH)
    for way in ways:
        told = fails(ada, Exit.FAILED, *way, "--max-cost", "0.000000000001")
        assert "more than the" in told and "0.000000000001 ETH" in told and "--max-cost sets the limit" in told
    assert chain.usdc_of(to) == 0


@pytest.mark.parametrize("way", ["sender", "bundler"])
def test_nothing_moves_if_the_account_has_changed_since_it_was_shown(chain, ada, sender, monkeypatch, way):
    to, thief = someone(), someone()
    deploy(chain, ada)
    chain.give(ada.account, 2 * DOLLAR)
    chain.fund(ada.account, ETH)

    def meanwhile(_question, **_):
        chain.send(chain.usdc, call_data("transfer(address,uint256)", thief, DOLLAR), sender=ada.account)
        chain.fund(ada.account, ETH)

    monkeypatch.setattr("holdfast.cli.vault_exit.confirm", meanwhile)
    words = ("--bundler", chain.bundler_url) if way == "bundler" else ("--sender-key", sender[1])
    told = fails(ada, Exit.FAILED, "--rpc", chain.rpc_url, "--token", chain.usdc, "--to", to, *words, "--json")
    assert "the operation was mined and failed" in told
    assert "CallFailed(index=0" in told
    assert (chain.usdc_of(to), chain.coin_of(to), chain.usdc_of(ada.account)) == (0, 0, DOLLAR)


def test_a_wrong_password_and_a_file_that_is_no_vault(left, tmp_path):
    ada, *files = left
    ada.terminal.environment |= dict.fromkeys(("HOLDFAST_VAULT_PASSWORD", "HOLDFAST_EXPORT_PASSWORD"), "a wrong one")
    for file in files:
        told = fails(ada, Exit.FAILED, file)
        assert "cannot be" in told and "a wrong one" not in told
    for content in (b"", b"no vault", b"MTRV and no more"):
        (tmp_path / "file").write_bytes(content)
        told = fails(ada, Exit.FAILED, str(tmp_path / "file"))
        assert ("cannot be opened" if content.startswith(b"MTRV") else "neither a snapshot") in told
    assert "cannot be read" in fails(ada, Exit.USAGE, str(tmp_path / "none"))
    with pytest.raises(ValueError, match="cannot be written"):  # which is an error of the command
        payer_of(tmp_path / ("k" * 300), as_json=False)


def node_of(chain, method, reply):
    """A node of the chain that answers one method in another way."""

    def answer(_method, _path, body):
        asked = json.loads(body)
        return 200, [one(request) for request in asked] if isinstance(asked, list) else one(asked)

    def one(request):
        if request["method"] == method:
            return reply(request)
        return httpx2.post(chain.rpc_url, json=request, timeout=30).json()

    return json_server(answer)


def without_history(chain):
    return node_of(chain, "eth_getLogs", lambda it: failure(it, -32005, "query exceeds the range of 10000 blocks"))


def test_a_receipt_that_a_node_does_not_give_may_be_of_what_was_sent(chain, ada, sender):
    deploy(chain, ada)
    near = ("vault", "exit", "--token", chain.usdc, "--to", someone(), "--sender-key", sender[1])
    chain.give(ada.account, DOLLAR)
    with node_of(chain, "eth_getTransactionReceipt", lambda it: {"jsonrpc": "2.0", "id": it["id"], "result": 7}) as url:
        told = ada.terminal.run(*near, "--rpc", url, "--yes", code=Exit.UNAVAILABLE).stderr
    assert "it may have been sent: look first what the account has" in told and chain.usdc_of(ada.account) == 0


def test_an_interrupt_while_it_waits_tells_that_it_may_have_been_sent(capsys):
    with pytest.raises(KeyboardInterrupt):
        _send(Mock(), Mock(), Mock(ask=Mock(side_effect=KeyboardInterrupt)), {}, as_json=False)
    assert "it may have been sent" in capsys.readouterr().err


def test_a_second_owner_moves_everything_alone_until_two_must_sign(chain, ada, sender, tmp_path):
    near = ("--rpc", chain.rpc_url, "--account", ada.account, "--to", someone(), "--sender-key", sender[1])
    bob = Person(tmp_path / "bob")
    assert f"the account {ada.account} does not exist on this chain" in fails(bob, Exit.FAILED, *near)
    deploy(chain, ada)
    assert "controlled by another key" in fails(bob, Exit.FAILED, *near)
    change(chain, ada, Change(ChangeKind.ADD_OWNER, bob.signer))
    chain.give(ada.account, DOLLAR)
    said = bob.exit(chain, *near[2:])
    assert ([owner["primary"] for owner in said["owners"]], chain.usdc_of(ada.account)) == ([True, False], 0)
    change(chain, ada, Change(ChangeKind.SET_THRESHOLD, value=2))
    told = fails(ada, Exit.FAILED, *near)
    assert f"two owners of the account {ada.account} must sign" in told
    assert f"as the second key 0x{bob.signer.hex()}: name it with --second-vault" in told
    stranger = Person(tmp_path / "eve").terminal.folder
    assert fails(ada, Exit.FAILED, *near, "--second-vault", str(stranger)) == told
    assert "must sign" in ada.terminal.run("vault", "exit", "--rpc", chain.rpc_url).stdout


@pytest.mark.parametrize("kind", ["vault", "passkey", "key"])
def test_a_second_key_signs_where_two_owners_must(chain, ada, sender, tmp_path, monkeypatch, kind):
    """By an ordinary transaction with another vault, else through a bundler, which the account pays."""
    to, (payer, key_file) = someone(), sender
    if kind == "vault":
        bob = Person(tmp_path / "bob")
        signer, words = bob.signer, ("--second-vault", str(bob.terminal.folder), "--sender-key", key_file)
    elif kind == "passkey":
        signer = plugged_in(monkeypatch, NOWHERE)
        words = ("--second-passkey", f"0x{signer.hex()}", "--bundler", chain.bundler_url)
    else:
        signer, words = from_hex(payer), ("--second-key", key_file, "--bundler", chain.bundler_url)
    shared(chain, ada, Change(ChangeKind.ADD_OWNER, signer), Change(ChangeKind.SET_THRESHOLD, value=2))
    assert ada.exit(chain, "--to", to, *words)["obstacle"] is None
    assert (chain.usdc_of(to), chain.usdc_of(ada.account)) == (DOLLAR, 0)


@pytest.mark.parametrize("version", cases({one.version: one for one in ENTRY_POINTS}, ENTRY_POINTS[0].version))
@pytest.mark.parametrize("where", ["chain", pytest.param("slow_chain", marks=pytest.mark.soak)])  # a chain of its own
@pytest.mark.parametrize("way", ["--sender-key", "--bundler", "--second-vault"])
def test_a_passkey_that_owns_the_account_suffices_without_a_vault(
    request, ada, tmp_path, monkeypatch, where, version, way
):
    chain, to, key_file = request.getfixturevalue(where), someone(), tmp_path / "new.key"
    terminal = Terminal(tmp_path / "new computer", NOWHERE)
    terminal.folder.mkdir()
    file = terminal.folder / "passkeys.json"
    signer = plugged_in(monkeypatch, NOWHERE, file if way == "--bundler" else None)
    if way != "--bundler":  # passkeys in the file that are not owners hide no security key
        site = NOWHERE if way == "--second-vault" else "https://other.example"
        Authenticator(site, SoftwareAuthenticator(file)).create_passkey(passkeys.Person("ada"))
    two = [Change(ChangeKind.SET_THRESHOLD, value=2)] if way == "--second-vault" else []
    shared(chain, ada, Change(ChangeKind.ADD_OWNER, signer), *two, dollars=3)
    words = ("vault", "exit", "--owner-passkey", "--account", ada.account, "--token", chain.usdc, "--to", to, "--yes")
    words += ("--sender-key", str(key_file)) if way == "--sender-key" else ("--bundler", chain.bundler_url)
    words += ("--second-vault", str(ada.terminal.folder)) if two else ()
    with without_history(chain) as url:
        words += ("--rpc", url, "--entry-point", version.address)
        if way == "--sender-key":
            told = terminal.run(*words, code=Exit.FAILED).stderr
            assert f"{key_file} is new" in told
            assert "has 0 ETH of the 0.0" in told
            chain.fund(str(PrivateKey(bytes.fromhex(key_file.read_text())).public_key.to_checksum_address()), ETH)
        said = terminal.json(*words)
    assert (said["did"], from_hex(said["key"]), said["owners"], said["openedBy"]) == (None, signer, None, [])
    assert (chain.usdc_of(to), chain.usdc_of(ada.account), chain.coin_of(ada.account)) == (3 * DOLLAR, 0, 0)


def test_a_passkey_that_is_no_owner_moves_nothing(chain, ada, tmp_path, monkeypatch, sender):
    signer, who = plugged_in(monkeypatch, NOWHERE), copy(ada)
    who.terminal = Terminal(tmp_path / "new computer", NOWHERE)
    near = ("--owner-passkey", "--account", ada.account, "--rpc", chain.rpc_url, "--to", someone(), "--sender-key")
    near += (sender[1],)
    assert f"the account {ada.account} does not exist on this chain" in fails(who, Exit.FAILED, *near)
    deploy(chain, ada)
    assert "no passkey of localhost on this security key is an owner" in fails(who, Exit.FAILED, *near)
    change(chain, ada, Change(ChangeKind.ADD_OWNER, signer, 1))
    assert "no passkey of localhost" in fails(who, Exit.FAILED, *near)
    two = Change(ChangeKind.SET_THRESHOLD, value=2)
    change(chain, ada, Change(ChangeKind.REMOVE_OWNER, signer), Change(ChangeKind.ADD_OWNER, signer), two)
    assert f"as the second key 0x{ada.signer.hex()}" in fails(who, Exit.FAILED, *near)
    assert "the node is of chain 84532, not 8453" in fails(who, Exit.CONFIGURATION, *near, "--chain", "8453")
    fails(who, Exit.UNAVAILABLE, *near, "--rpc", NOWHERE)
    assert "leave out FILE" in fails(who, Exit.USAGE, "file", *near)
    assert "needs the account" in fails(who, Exit.USAGE, "--owner-passkey")
    shown = who.terminal.run("vault", "exit", *near[:5]).stdout
    assert f"passkey 0x{signer.hex()}\naccount {ada.account}\n" in shown
    assert f"owner 0x{signer.hex()} (this passkey)" in shown


def test_a_node_that_hangs_ends_the_command_of_a_passkey_and_a_nodes_words_are_marked_as_its_own(tmp_path, monkeypatch):
    plugged_in(monkeypatch, NOWHERE)
    monkeypatch.setattr(exit_steps, "WITHIN_S", 0.2)
    monkeypatch.setattr(waiting, "SLOW_S", 0.0)

    def told(node):
        near = ("--owner-passkey", "--account", someone(), "--rpc", node, "--to", someone(), "--yes")
        words = ("vault", "exit", *near, "--bundler", NOWHERE)
        return Terminal(tmp_path, NOWHERE).run(*words, code=Exit.UNAVAILABLE).stderr.splitlines()

    with hanging_host() as port:
        assert set(told(f"http://127.0.0.1:{port}")) == {
            f"127.0.0.1:{port} has not answered yet: waiting for it",
            "holdfast: Network: the node or bundler: no answer in time",
        }
    monkeypatch.setattr(exit_steps, "WITHIN_S", 60)
    with json_server(lambda _method, _path, body: (200, failure(json.loads(body), 3, "send coin first"))) as node:
        said = "the node or bundler says, in its own words: \u201csend coin first\u201d"
        assert told(node)[-1] == f"holdfast: Network: {said}"


def test_a_move_that_the_chain_refuses_is_named(chain, ada, sender):
    art = mint(chain, "Nft", someone(), 7)
    near = ("--rpc", chain.rpc_url, "--to", someone(), "--sender-key", sender[1])
    assert "does not have the NFT 7" in fails(ada, Exit.FAILED, *near, "--nft", f"{art}:7")
    assert "is not an ERC-20 token" in fails(ada, Exit.FAILED, *near, "--token", someone())
    assert "has no DID" in fails(ada, Exit.FAILED, *near, "--did-to", someone())
    deploy(chain, ada)
    did = register(chain, ada)
    status = call_data("setDidActive(bytes32,bool)", did, False)
    chain.send(ADDRESSES["DIDRegistry"], status, sender=ada.account)
    told = fails(ada, Exit.FAILED, *near, "--did-to", someone())
    assert "the DID to 0x" in told
    assert "DidNotActive" in told or "DidInactive" in told


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--to", "0x12", "--yes"), "--to: not an address"),
        (("--to", "0xF39Fd6e51aad88F6F4ce6aB8827279cffFb92266", "--yes"), "typing error"),
        (("--nft", "7"), "--nft"),
        (("--max-cost", "much"), "not an amount"),
        (("--entry-point", "0x" + "11" * 20), "--entry-point"),
        (("--rpc", "ws://localhost"), "--rpc must start with http"),
        (("--to", "0x" + "11" * 20, "--yes"), "--rpc"),
        (("--to", "0x" + "11" * 20, "--yes", "--sender-key", "{new}"), "--rpc"),
        (("--to", "0x" + "11" * 20, *NODE, "--bundler", NOWHERE, "--yes", "--sender-key", "{new}"), ""),
        (("--to", "0x" + "11" * 20, *NODE, "--yes"), "name a bundler"),
        (("--to", "0x" + "11" * 20, *NODE, "--bundler", NOWHERE), "use --yes"),
    ],
)
def test_options_that_mean_nothing_are_refused_and_without_an_answer_nothing_is_sent(tmp_path, words, told):
    given = (word.format(new=tmp_path / "new.key") for word in words)
    assert told in Terminal(tmp_path, NOWHERE).run("vault", "exit", *given, code=Exit.USAGE).output
    assert not (tmp_path / "new.key").exists(), "a command that is refused makes no key"


def test_a_passkey_opens_a_snapshot(tmp_path, monkeypatch):
    key = Authenticator("http://localhost:8787", SoftwareAuthenticator())
    monkeypatch.setattr(client_vault, "security_key", lambda _service, _device=None: key)
    terminal, car = Terminal(tmp_path / "vault", NOWHERE), str(tmp_path / "vault.car")
    terminal.environment["HOLDFAST_VAULT_KEY"] = "passkey"
    made = terminal.json("vault", "create")
    terminal.json("vault", "snapshot", "--car", car)
    terminal.environment["HOLDFAST_VAULT_DIR"] = str(tmp_path / "new computer")
    said = terminal.json("vault", "exit", car)
    assert (said["did"], said["account"], said["openedBy"][0]["kind"]) == (made["did"], made["account"], "prf")
