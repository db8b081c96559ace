"""The exit page, opened from disk: it moves everything out of an account through a bare node, and asks no service."""

from __future__ import annotations

import secrets
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest
import pytest_asyncio
from eth_keys.datatypes import PrivateKey
from playwright.async_api import expect
from tests.support.chain_service import NOWHERE
from tests.support.clean_tree import ROOT
from tests.support.nfts import mint, mint_pieces, owner_of, pieces_of
from tests.support.payments import someone
from tests.support.software_authenticator import SoftwareAuthenticator
from tests.support.synced_passkeys import synced
from tests.support.terminal import Terminal

from holdfast.chain.abi import call_data
from holdfast.chain.account_messages import ChangeKind
from holdfast.chain.contracts import ADDRESSES
from holdfast.chain.signers import p256_signer
from holdfast.client.passkeys import Authenticator
from holdfast.wire.encoding import from_base64url, from_hex
from holdfast.world.anvil import CHAIN_ID

if TYPE_CHECKING:
    from pathlib import Path


pytestmark = pytest.mark.timeout(600)
ETH, DOLLAR = 10**18, 10**6
SITE = "http://localhost:8123/holdfast-exit.html"  # answered by the tests themselves
ANY_ORIGIN = {"access-control-allow-origin": "*"}
BUILT = ROOT / "build" / "exit" / "holdfast-exit.html"


@pytest.fixture(scope="module")
def file():
    subprocess.run([sys.executable, str(ROOT / "browser" / "build.py"), "exit"], check=True, capture_output=True)
    return BUILT


@dataclass
class Left:
    """What is left of a vault whose service is gone."""

    terminal: Terminal
    account: str
    car: Path
    export: Path
    password: str
    export_password: str

    @property
    def key(self):
        return from_hex(self.terminal.json("vault", "exit")["key"])


@pytest.fixture
def left(tmp_path):
    return left_in(tmp_path)


def left_in(folder):
    terminal = Terminal(folder, NOWHERE)
    account = terminal.json("vault", "create", "--password")["account"]
    car, export = folder / "vault.car", folder / "vault.export"
    terminal.json("vault", "snapshot", "--car", str(car))
    terminal.json("vault", "export", str(export))
    passwords = (terminal.environment[f"HOLDFAST_{it}_PASSWORD"] for it in ("VAULT", "EXPORT"))
    return Left(terminal, account, car, export, *passwords)


class Visit:
    """The page in a browser, and whom it asked."""

    def __init__(self, page, file):
        self.page, self.file = page, file
        self.asked = set()
        self.broken = []
        page.on("request", self._note)
        page.on("pageerror", lambda error: self.broken.append(str(error)))
        page.on("console", lambda said: self.broken.append(said.text) if said.type == "error" else None)

    def _note(self, request):
        if not request.url.startswith(self.file.as_uri()):
            self.asked.add(urlsplit(request.url).netloc)

    async def open(self, vault, password):
        await self.page.goto(self.file.as_uri())
        await self.page.set_input_files("#file", vault)
        await self.submit("open", password=password)

    async def second(self, vault, password):
        """Open the second owner's vault."""
        await self.page.set_input_files("#second-file", vault)
        await self.page.fill("#second-password", password)
        await self.page.click("form:has(#second-file) button.main")

    async def press(self, step):
        await self.page.click(f"[data-step={step}] button.main")

    async def submit(self, step, **fields):
        for name, value in fields.items():
            await self.page.fill(f"#{name}", value)
        await self.press(step)

    async def look(self, rpc, token):
        await self.page.click("summary")
        await self.submit("look", chain=str(CHAIN_ID), rpc=rpc, tokens=token)
        return await self.text("[data-standing]")

    async def plan(self, to):
        await self.submit("send", to=to)
        return await self.text("[data-step=plan]")

    async def pays(self, chain):
        """Give the paying address what the transaction costs, and go on."""
        chain.fund(await self.text("[data-payer]"), ETH)
        await self.press("plan")
        await self.page.wait_for_selector("[data-payer]", state="detached")

    async def moves(self):
        await self.press("plan")
        assert "Everything was moved" in await self.text("[data-step=sent]")

    async def text(self, selector):
        return await self.page.inner_text(selector, timeout=60_000)


@pytest_asyncio.fixture(loop_scope="session")
async def visit(browser, file):
    context = await browser.new_context(locale="en-US")
    made = Visit(await context.new_page(), file)
    yield made
    assert made.broken == []


def create(chain, signer):
    """Have anyone create the account of a P-256 key."""
    key = int.from_bytes(signer[:32]), int.from_bytes(signer[32:])
    chain.send(ADDRESSES["AppFactory"], call_data("createAccount(uint256,uint256,uint256)", *key, 0))


def add_owner(chain, account, signer, *more):
    """Change the account's owners, as an operation of the account does."""
    changes = [(int(ChangeKind.ADD_OWNER), signer, 0), *more]
    chain.send(account, call_data("changeOwners((uint8,bytes,uint256)[])", changes), sender=account)


def two_must_sign(chain, account, signer):
    add_owner(chain, account, signer, (int(ChangeKind.SET_THRESHOLD), b"", 2))


async def for_any_origin(route):
    """Answer as public bundlers do, which pages of every origin may ask. The local world's bundler is not a page's."""
    asked = {name: value for name, value in route.request.headers.items() if name != "origin"}
    answer = await route.fetch(headers=asked)
    await route.fulfill(response=answer, headers={**answer.headers, "access-control-allow-origin": "*"})


async def for_any_origin_but_dear(route):
    """Answer as a bundler that wants nearly all of the account's coin for itself."""
    asked = {name: value for name, value in route.request.headers.items() if name != "origin"}
    answer = await route.fetch(headers=asked)
    told = await answer.json() if route.request.method == "POST" else None
    if told and "preVerificationGas" in (told.get("result") or {}):
        told["result"]["preVerificationGas"] = hex(2 * 10**8)
    headers = {**answer.headers, "access-control-allow-origin": "*"}
    await route.fulfill(response=answer, headers=headers, **({"json": told} if told else {}))


def host(url):
    return urlsplit(url).netloc


async def test_an_ordinary_transaction_moves_everything_out_of_a_snapshots_account(visit, chain, left, tmp_path):
    to = someone()
    await mistakes_are_said_at_the_form(visit, chain, left, tmp_path)
    chain.give(left.account, 25 * DOLLAR)
    chain.fund(left.account, ETH)
    await visit.page.clock.install()
    await visit.open(left.car, left.password)
    assert await visit.text("[data-account]") == left.account
    seen = await visit.look(chain.rpc_url, chain.usdc)
    assert "does not exist yet" in seen and "25 USDC" in seen and "1 ETH" in seen
    plan = await visit.plan(to)
    assert plan.count(to) == 2
    payer = await visit.text("[data-payer]")
    chain.fund(payer, ETH)
    await visit.page.clock.fast_forward("16:00")
    await visit.press("plan")
    await visit.page.wait_for_selector("[data-payer]", state="detached")
    await visit.press("plan")
    assert "The vault locked itself" in await visit.text("[data-step=open]")
    await visit.submit("open", password=left.password)
    await visit.moves()
    assert "nothing" in await visit.text("[data-standing]")
    assert (chain.usdc_of(to), chain.coin_of(to)) == (25 * DOLLAR, ETH)
    assert (chain.usdc_of(left.account), chain.coin_of(left.account)) == (0, 0)
    await visit.press("sent")
    await visit.page.get_by_text("Sent 0.9").wait_for()
    assert chain.coin_of(to) > ETH + ETH * 9 // 10 and chain.coin_of(payer) < ETH // 1000
    assert visit.asked == {host(chain.rpc_url)}


async def mistakes_are_said_at_the_form(visit, chain, left, folder):
    other = folder / "other.car"
    other.write_bytes(secrets.token_bytes(200))
    await visit.open(other, left.password)
    said = visit.page.locator("[data-said]")
    await said.get_by_text("neither a backup file (CAR) nor an export").wait_for()
    await visit.open(left.car, "not the password")
    await said.get_by_text("Is the password right").wait_for()
    await visit.open(left.car, left.password)
    assert "nothing" in await visit.look(chain.rpc_url, chain.usdc)
    await visit.submit("look", chain="8453")
    await said.get_by_text(f"the node says that it is of chain {CHAIN_ID}, not 8453").wait_for()
    await visit.page.fill("#chain", str(CHAIN_ID))
    assert "There is nothing to move" in await visit.plan(someone())
    await visit.submit("send", to=left.account[:-1])
    await visit.page.locator("[data-step=send] .verdict").get_by_text("not an address").wait_for()


@pytest.mark.soak  # tests/cli/test_exit.py moves NFTs in the gate
async def test_nfts_that_are_named_or_chosen_move_and_one_that_cannot_move_stays(visit, chain, left):
    to, art = someone(), secrets.randbits(200)
    contract = mint(chain, "Nft", left.account, art)
    pieces = mint_pieces(chain, left.account, {1: 5, 2: 7})
    stuck = mint(chain, "StuckNft", left.account, art)
    await visit.open(left.car, left.password)
    assert "NFTs that the node found" in await visit.look(chain.rpc_url, chain.usdc)
    await visit.submit("look", nfts=f"{contract}:{art + 1}")
    await visit.page.locator("[data-step=look] [data-said]").get_by_text("does not have").wait_for()
    await visit.submit("look", nfts=f"{contract}:x")
    await visit.page.locator("[data-step=look] .verdict").get_by_text("0x…:7").wait_for()
    await visit.submit("look", nfts=f"{contract}:{art}")
    await visit.page.locator("[data-standing] dd").get_by_text(f"NFT {art} of {contract}").wait_for()
    found = visit.page.locator("[data-standing] input[name=nft]")
    assert {await found.nth(at).input_value() for at in range(await found.count())} == {
        f"{pieces}:1",
        f"{pieces}:2",
        f"{stuck}:{art}",
    }
    await visit.page.check(f"input[value='{pieces}:2']")
    await visit.submit("send", to=to)
    plan = await visit.text("[data-step=plan]")
    assert f"NFT {art} of {contract} to {to}" in plan and f"7 of NFT 2 of {pieces} to {to}" in plan
    assert stuck not in plan
    await visit.pays(chain)
    await visit.moves()
    assert (owner_of(chain, contract, art), pieces_of(chain, pieces, to, 2)) == (int(to, 16), 7)
    account = int(left.account, 16)
    assert (owner_of(chain, stuck, art), pieces_of(chain, pieces, left.account, 1)) == (account, 5)


@pytest.mark.soak  # tests/cli/test_exit.py signs with two keys in the gate
async def test_two_keys_sign_the_account_pays_a_bundler_and_the_page_speaks_german(visit, chain, left, tmp_path):
    to, second = someone(), left_in(tmp_path / "second")
    chain.give(left.account, 3 * DOLLAR)
    chain.fund(left.account, ETH)
    await visit.page.route(lambda url: url.startswith(chain.bundler_url), for_any_origin_but_dear)
    await visit.open(left.export, left.export_password)
    create(chain, from_hex(await visit.text("[data-key]")))
    two_must_sign(chain, left.account, second.key)
    chain.fund(left.account, ETH)
    assert "Two owners of the account must sign. Open" in await visit.look(chain.rpc_url, chain.usdc)
    await visit.second(left.car, left.password)
    await visit.page.locator("[data-standing]").get_by_text("is not one of them").wait_for()
    await visit.second(second.car, second.password)
    await visit.page.wait_for_selector("#second-file", state="detached")
    await visit.page.click("button[name=language]")
    seen = await visit.text("[data-standing]")
    assert "Das Konto existiert." in seen and "(erster, dieser Schlüssel)" in seen
    await visit.page.click("input[value=bundled]")
    await visit.page.fill("#bundler", chain.bundler_url)
    assert "0.01 ETH" in await visit.plan(to), "a bundler that wants nearly all of the coin meets the limit"
    assert await visit.page.locator("[data-step=plan] button").count() == 0
    await visit.page.route(lambda url: url.startswith(chain.bundler_url), for_any_origin)
    assert "es zahlt das Konto" in await visit.plan(to)
    await visit.press("plan")
    assert "Alles wurde mitgenommen" in await visit.text("[data-step=sent]")
    assert chain.usdc_of(to) == 3 * DOLLAR and chain.coin_of(to) > ETH * 9 // 10
    assert (chain.usdc_of(left.account), chain.coin_of(left.account)) == (0, 0)
    assert visit.asked == {host(chain.rpc_url), host(chain.bundler_url)}


@pytest.mark.soak  # browser/test/exit_typed_data.test.js holds what is signed in the gate
async def test_a_second_owner_that_is_an_address_signs_the_shown_operation_in_a_wallet(visit, chain, left):
    to, owner = someone(), PrivateKey(secrets.token_bytes(32))
    address = owner.public_key.to_checksum_address()
    chain.give(left.account, 3 * DOLLAR)
    chain.fund(left.account, ETH)
    create(chain, left.key)
    two_must_sign(chain, left.account, from_hex(address))
    chain.fund(left.account, ETH)
    shown = []

    async def wallet(given):
        if given["method"] != "eth_signTypedData_v4":
            return ""
        assert given["params"][0] == address.lower()
        shown.append(given["params"][1])
        signed = owner.sign_msg_hash(from_hex(await visit.page.locator("[data-digest]").text_content()))
        return "0x" + (signed.to_bytes()[:64] + bytes([27 + signed.v])).hex()

    await visit.page.expose_function("wallet", wallet)
    await visit.page.add_init_script("window.ethereum = { request: (it) => window.wallet(it) };")
    await visit.open(left.car, left.password)
    assert "type the second one" in await visit.look(chain.rpc_url, chain.usdc)
    await visit.page.fill('[name="second-address"]', address)
    await visit.page.click('form:has([name="second-address"]) button.main')
    await visit.page.locator('[name="second-address"]').wait_for(state="detached")
    assert "at least" in await visit.plan(to)
    chain.fund(await visit.text("[data-payer]"), ETH)
    await visit.page.click("[data-step=plan] button.main")
    await visit.page.get_by_text("must sign this too").wait_for()
    send = visit.page.locator("[data-step=plan] button.main").last
    await send.click()
    await visit.page.get_by_text("Paste the signature").wait_for()
    await visit.page.fill('[name="second-signature"]', "0x" + "11" * 65)
    await send.click()
    await visit.page.get_by_text("AA24").wait_for()
    await visit.page.click("[data-step=plan] button.main >> nth=0")
    await expect(visit.page.locator('[name="second-signature"]')).not_to_have_value("0x" + "11" * 65)
    assert await visit.page.input_value('[name="second-data"]') == shown[0]
    await send.click()
    await visit.page.locator("[data-step=sent]").wait_for()
    assert (chain.usdc_of(to), chain.coin_of(left.account)) == (3 * DOLLAR, 0)


@pytest.mark.soak  # browser/test/exit_passkeys.test.js in the gate
async def test_on_its_own_site_a_passkey_opens_the_snapshot_and_signs_as_the_second_owner(visit, chain, tmp_path):
    to, terminal, car = someone(), Terminal(tmp_path, NOWHERE, key="passkey"), tmp_path / "vault.car"
    account = terminal.json("vault", "create", "--software")["account"]
    terminal.json("vault", "snapshot", "--car", str(car))
    key = passkey_in(tmp_path)
    create(chain, from_hex(terminal.json("vault", "exit")["key"]))
    two_must_sign(chain, account, key.signer)
    chain.give(account, 3 * DOLLAR)
    chain.fund(account, ETH)
    await on_its_own_site(visit, chain, key)
    await visit.page.set_input_files("#file", car)
    await visit.page.click("[data-passkey] summary")
    await visit.page.click("form:has(#site) button.main")
    assert "or use its passkey" in await visit.look(chain.rpc_url, chain.usdc)
    await visit.page.click("details:has([name=second-passkey-site]) summary")
    await visit.page.click("form:has([name=second-passkey-site]) button.main")
    await visit.page.locator("[name=second-passkey-site]").wait_for(state="detached")
    await visit.page.click("input[value=bundled]")
    await visit.page.fill("#bundler", chain.bundler_url)
    await visit.plan(to)
    assert "The browser then asks for the second" in await visit.text("[data-step=plan]")
    await visit.moves()
    assert (chain.usdc_of(to), chain.usdc_of(account)) == (3 * DOLLAR, 0)


async def on_its_own_site(visit, chain, key):
    """Go to the page's own address with a synced passkey; the chain's node has no history."""
    await synced(visit.page, key.credential, key.secret)
    await visit.page.route(SITE, lambda route: route.fulfill(path=visit.file))
    await visit.page.route(lambda url: url.startswith((chain.rpc_url, chain.bundler_url)), without_a_history)
    await visit.page.goto(SITE)


@pytest.mark.soak  # browser/test/exit_passkeys.test.js in the gate
async def test_a_person_who_has_only_a_passkey_that_owns_the_account_moves_everything(visit, chain, tmp_path):
    to, first = someone(), left_in(tmp_path / "first")
    Terminal(tmp_path, NOWHERE, key="passkey").json("vault", "create", "--software")
    key = passkey_in(tmp_path)
    page, account = visit.page, first.account
    chain.give(account, 3 * DOLLAR)
    await page.goto(visit.file.as_uri())
    await only_a_passkey(page, account, chain.rpc_url, "localhost")
    await page.get_by_text("Put this file on it, for example at https://localhost/holdfast-exit.html").wait_for()
    await on_its_own_site(visit, chain, key)
    await only_a_passkey(page, account, chain.rpc_url)
    await page.get_by_text("That passkey is not an owner of this account on this chain").wait_for()
    create(chain, first.key)
    add_owner(chain, account, key.signer)
    chain.fund(account, ETH)
    await page.click("form:has(#alone-site) button.main")
    await page.wait_for_selector("#alone-site", state="detached")
    assert (from_hex(await visit.text("[data-key]")), await visit.text("[data-account]")) == (key.signer, account)
    await visit.submit("look", chain=str(CHAIN_ID), tokens=chain.usdc)
    assert "The node does not show" in await visit.text("[data-standing]")
    await visit.plan(to)
    assert "Only this page has its key" in await visit.text("[data-step=plan]")
    await visit.pays(chain)
    assert "The browser then asks for your passkey" in await visit.text("[data-step=plan]")
    await visit.moves()
    assert (chain.usdc_of(to), chain.usdc_of(account), chain.coin_of(account)) == (3 * DOLLAR, 0, 0)
    await visit.press("sent")
    await page.get_by_text("Sent 0.9").wait_for()


async def only_a_passkey(page, account, rpc, site=""):
    await page.click("details:has(#alone-site) summary")
    await page.fill("#account", account)
    await page.fill("#rpc", rpc)
    if site:
        await page.fill("#alone-site", site)
    await page.click("form:has(#alone-site) button.main")


async def without_a_history(route):
    """Answer as public nodes do, which any page may ask, but not for all blocks."""
    asked = route.request.post_data_json if route.request.method == "POST" else None
    if asked and asked["method"] == "eth_getLogs":
        error = {"code": -32005, "message": "too many blocks"}
        await route.fulfill(json={"jsonrpc": "2.0", "id": 1, "error": error}, headers=ANY_ORIGIN)
    else:
        await for_any_origin(route)


@dataclass
class SyncedPasskey:
    """A passkey as another browser has it: `credential` for its authenticator, `secret` of its PRF, `signer` of accounts."""

    credential: dict[str, Any]
    secret: list[int]
    signer: bytes


def passkey_in(folder):
    """Return the only passkey of a vault's software authenticator."""
    device = SoftwareAuthenticator(folder / "passkeys.json")
    found = Authenticator(NOWHERE, device).discover()
    point = device.public_key(from_base64url(found.credential_id)).public_numbers()
    assert found.secret
    return SyncedPasskey(device.exported(found.credential_id), list(found.secret), p256_signer(point.x, point.y))
