"""The JavaScript client and a provider that lies: about addresses, about nonces, and about what was mined."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.support.passkeys import CLIENT, MAKE, Authenticator, new_page, outcome

from holdfast.chain.contracts import ADDRESSES, predict_account
from holdfast.wire.keccak import did_hash
from holdfast.world.software_key import SoftwareKey

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.async_api import Browser, Page, Route
    from tests.support.serving import Server

KEY, OTHER = SoftwareKey.generate(), SoftwareKey.generate()
ACCOUNT, THIEF, SALTED = predict_account(KEY.x, KEY.y), "0x" + "bb" * 20, predict_account(KEY.x, KEY.y, 7)
# A service that says what the test wants, beside the page's real enclave and store.
LIES = """
  const contracts = {chainId: 84532, entryPoint: "0x0000000071727De22E5E9d8BAf0edAc6f37da032", appFactory: "FACTORY"};
  const liar = (more) => ({
    vault: client.vault, gas: {rpcUrl: "/logs"}, baseUrl: location.origin, foreignContracts: false,
    contracts: async () => contracts, status: async () => ({rpc: ""}), ...more,
  });
""".replace("FACTORY", ADDRESSES["AppFactory"])
PAY = """
  const {payeeOf} = await import("/client/flows/payee.js");
  const state = {nonce: "1", did: given.hash, isActive: true, pubKeyX: given.x, pubKeyY: given.y};
  window.fetch = async () => ({json: async () => ({result: given.data ? [{data: given.data}] : []})});
  return payeeOf(liar({
    indexerDid: async () => ({found: true, active: true, controller: given.address}),
    accountState: async () => state,
    indexerAccount: async () => ({found: true, block_number: "5"}),
  }), given.did).then(({address}) => address.toLowerCase());
"""
# Each step names the nonce that the state has, the call, and what is mined before it; it returns the nonce or the error.
STEPS = """
  let [told, strict, mined] = ["1", false, {}];
  const sent = [];
  const {SmartAccount} = await import("/client/flows/account.js");
  const account = async () => new SmartAccount(liar({
    accountState: async () => ({nonce: told, did: "0x", isActive: true, pubKeyX: "0x1", pubKeyY: "0x2"}),
    bundler: async (method, [first]) => {
      const taken = method === "pm_sponsorUserOperation" && strict && BigInt(first.nonce) !== BigInt(told);
      if (taken) throw new hf.RpcError({message: "AA25 invalid account nonce"});
      if (method === "pm_sponsorUserOperation") return {paymaster: "0x" + "05".repeat(20)};
      if (method === "eth_sendUserOperation") throw new hf.RpcError({message: "reverted during simulation"});
      return first in mined ? {userOpHash: first, success: mined[first], receipt: {transactionHash: "0x2", blockNumber: "0x3"}} : null;
    },
  }), {}, {contracts, key: {x: 1n, y: 2n, address: given.account}});
  let kept = await account();
  const results = [];
  for (const step of given.steps) {
    if (step.again) kept = await account();
    told = step.told ?? told;
    strict = step.strict ?? strict;
    if ("mine" in step) mined[sent.at(-1)] = step.mine;
    try {
      const operation = await kept.prepared(step.call);
      const hash = "0x" + String(sent.length).padStart(64, "0");
      sent.push(hash);
      results.push(Number(operation.nonce));
      await kept.send({operation, hash}).catch(() => {});
      if (step.wait) await kept.wait(hash, 10).catch(() => {});
    } catch (error) {
      results.push(error.message.match(/another key than 0|same call|may have been mined|$/)[0]);
    }
  }
  return results;
"""


async def opened(browser: Browser, serve: Callable[..., Server]) -> Page:
    made = await new_page(browser, serve(), unbuilt=True)
    await made.evaluate(CLIENT, {})
    return made


async def told(page: Page, code: str, given: dict[str, Any]) -> dict[str, Any]:
    await page.evaluate("(it) => void (window.given = it)", given)
    return await outcome(page, LIES + code)


def payee(address: str, key: SoftwareKey, salt: int | None = None) -> dict[str, Any]:
    words = b"" if salt is None else b"".join(number.to_bytes(32) for number in (KEY.x, KEY.y, salt))
    hashed = "0x" + did_hash(KEY.did).hex()
    return {
        "address": address, "x": hex(key.x), "y": hex(key.y), "did": KEY.did, "hash": hashed,
        "data": "0x" + words.hex() if words else None,
    }  # fmt: skip


async def test_an_address_that_does_not_follow_from_the_key_is_not_paid(
    browser: Browser, serve: Callable[..., Server]
) -> None:
    page = await opened(browser, serve)
    for lie in (
        payee(THIEF, KEY),
        payee(THIEF, OTHER),
        payee(THIEF, KEY, 0),
        payee(SALTED, KEY),
        payee(ACCOUNT, OTHER),
    ):
        answer = await told(page, PAY, lie)
        assert (answer.get("name"), answer.get("code")) == ("PaymentRefused", "payee_unverified"), (lie, answer)
    for truth in (payee(ACCOUNT, KEY), payee(SALTED, KEY, 7), payee(ACCOUNT, OTHER, 0)):
        assert (await told(page, PAY, truth)).get("value") == truth["address"].lower()


async def test_the_own_address_is_computed_and_another_factory_refused(
    browser: Browser, serve: Callable[..., Server]
) -> None:
    page = await opened(browser, serve)
    await Authenticator.of(page)
    made = (await page.evaluate(MAKE, {"name": "ada", "options": {}}))["made"]
    own = "const {SmartAccount} = await import('/client/flows/account.js'); return (await SmartAccount.open(liar(CHANGES))).address"
    assert (await told(page, own.replace("CHANGES", ""), {}))["value"] == made["accounts"][0]["address"]
    foreign = f"contracts: async () => ({{...contracts, appFactory: '{THIEF}'}})"
    refused = await told(page, own.replace("CHANGES", f"{{{foreign}}}"), {})
    assert refused["name"] == "OperationFailed" and "not the one of this release" in refused["message"]
    allowed = await told(page, own.replace("CHANGES", f"{{{foreign}, foreignContracts: true}}"), {})
    assert allowed["value"] == predict_account(int(made["pubkey_x"], 16), int(made["pubkey_y"], 16), factory=THIEF)
    # On the service's own pages, whoever names the contracts also serves this code.
    assert await page.evaluate("client.foreignContracts") is True
    assert await page.evaluate("new hf.Client({baseUrl: 'https://other.example'}).foreignContracts") is False


RENT, LUNCH = "0xaa", "0xbb"
CASES = [
    ("another key", [{"told": str(2**64), "call": RENT}], ["another key than 0"]),
    ("the same nonce again", [{"call": RENT}, {"call": RENT}, {"call": LUNCH, "again": True}], [1, 1, 1]),
    (
        "moved on without a receipt",
        [{"call": RENT}, {"told": "2", "call": LUNCH}, {"call": LUNCH}],
        [1, "may have been mined", 2],
    ),
    ("a late receipt", [{"call": RENT}, {"mine": True, "call": RENT, "again": True}, {"told": "2", "call": RENT}], [1, "same call", 2]),
    ("another call", [{"call": RENT}, {"mine": True, "call": LUNCH}], [1, 2]),
    ("a revert", [{"call": RENT}, {"mine": False, "call": RENT}], [1, 2]),
    (
        "not taken by the chain",
        [{"call": RENT}, {"told": "0", "strict": True, "call": LUNCH}, {"call": LUNCH}],
        [1, "may have been mined", 0],
    ),
    ("no receipt in time", [{"call": RENT, "wait": True}, {"call": RENT}], [1, 1]),
]  # fmt: skip


async def test_two_signed_operations_cannot_both_be_mined_silently(
    browser: Browser, serve: Callable[..., Server]
) -> None:
    page = await opened(browser, serve)
    for number, (name, steps, expected) in enumerate(CASES):
        answer = await told(page, STEPS, {"steps": steps, "account": f"0x{number:040x}"})
        assert answer.get("value") == expected, (name, answer)


FEES = """
  const {SmartAccount} = await import("/client/flows/account.js");
  const prices = {maxFeePerGas: 800n, maxPriorityFeePerGas: 10n};
  const offered = [];
  for (const sponsored of [true, false, true]) {
    const account = new SmartAccount(liar({
      accountState: async () => ({nonce: "1", did: "0x", isActive: true, pubKeyX: "0x1", pubKeyY: "0x2"}),
      bundler: async (method, [first]) => {
        if (method === "eth_getUserOperationReceipt") return null;
        const limits = {callGasLimit: "0x1", verificationGasLimit: "0x1", preVerificationGas: "0x1"};
        if (method !== "pm_sponsorUserOperation") return limits;
        const chosen = ([name, price]) => [name, `0x${(BigInt(first[name]) || price).toString(16)}`];
        return {...limits, paymaster: "0x" + "05".repeat(20), ...Object.fromEntries(Object.entries(prices).map(chosen))};
      },
    }), {sponsored, ...(!sponsored && {rpcUrl: given.rpc})}, {contracts, key: {x: 1n, y: 2n, address: given.account}});
    const operation = await account.prepared("0x");
    await account.send({operation, hash: "0x" + String(offered.length).padStart(64, "0")}).catch(() => {});
    offered.push([operation.nonce, operation.maxFeePerGas, operation.maxPriorityFeePerGas].map(Number));
  }
  return offered;
"""


async def test_what_replaces_an_open_operation_offers_an_eighth_more(
    browser: Browser, serve: Callable[..., Server]
) -> None:
    page = await opened(browser, serve)
    results = {
        "eth_chainId": hex(84532), "eth_getBlockByNumber": {"baseFeePerGas": "0x1"}, "eth_maxPriorityFeePerGas": "0x1",
        "eth_getBalance": hex(10**18), "eth_call": "0x" + "00" * 32,
    }  # fmt: skip

    async def answer(route: Route) -> None:
        method = route.request.post_data_json["method"]
        await route.fulfill(json={"jsonrpc": "2.0", "id": 1, "result": results[method]})

    await page.route("**/rpc-of-the-chain", answer)
    given = {"account": "0x" + "7" * 40, "rpc": page.url.rstrip("/") + "/rpc-of-the-chain"}
    answer_ = await told(page, FEES, given)
    assert answer_.get("value") == [[1, 800, 10], [1, 900, 12], [1, 1013, 14]], answer_
