// A shop that accepts payments from Holdfast vaults through the browser's Payment Request API. It needs no library.
// Try it: `holdfast dev`, then `python -m http.server 8001 -d examples/shop` and
// http://localhost:8001/?holdfast=http://localhost:8787&token=<the USDC address that holdfast dev prints>

// On the shop's own site, whoever makes a link must not choose who is paid.
const asked = new URLSearchParams(location.hostname === "localhost" ? location.search : "");
const HOLDFAST = asked.get("holdfast") ?? "http://localhost:8787";
const PRICE = "12.50";
const ORDER = {
  to: asked.get("to") ?? "0x52908400098527886E0F7030069857D2E4169EE7", // an address, or the DID of the shop's vault
  amount: "12500000", // in the token's smallest unit: USDC has six decimals
  token: asked.get("token") ?? "0x036CbD53842c5426634e7929541eC2318f3dCF7e", // USDC on Base Sepolia
  chainId: Number(asked.get("chain") ?? 84532), // the service's chain
  label: "Two books",
  refusals: "result", // return why a payment was refused, instead of the browser's own message
};
const TRANSFER = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
const button = document.querySelector("#pay");
const outcome = document.querySelector("#outcome");

let account = ORDER.to; // the address that is paid

if (!("PaymentRequest" in window)) say("This browser has no payment requests. Use a current Chrome or Edge.");
else begin().catch(failed);
button.addEventListener("click", () =>
  pay()
    .catch(failed)
    .finally(() => (button.disabled = false)),
);

async function begin() {
  // Not hasEnrolledInstrument(): it is false until the person has paid with Holdfast in this browser for the first time.
  if (!(await order().canMakePayment()))
    return say(`${HOLDFAST} could not be reached, or this browser cannot pay with it.`);
  if (ORDER.to.startsWith("did:")) account = await accountOf(ORDER.to);
  button.disabled = false;
}

function order() {
  const total = { label: ORDER.label, amount: { currency: "USD", value: PRICE } };
  return new PaymentRequest([{ supportedMethods: `${HOLDFAST}/pay`, data: ORDER }], { total });
}

// A transfer names an address. A real shop's server knows the address of its own account (`holdfast whoami`).
async function accountOf(did) {
  const { found, controller } = await (
    await fetch(`${HOLDFAST}/api/indexer/api/dids/${encodeURIComponent(did)}`)
  ).json();
  if (!found) throw new Error(`${did} has no account.`);
  return controller;
}

async function pay() {
  button.disabled = true;
  say("");
  const response = await order().show(); // nothing may be awaited before this: browsers require it to come from a click
  const { details } = response;
  const paid = typeof details.txHash === "string" && (await arrived(details.userOpHash));
  await response.complete(paid ? "success" : "unknown"); // with "fail" the browser would repeat what Holdfast has already said
  say(
    paid
      ? `Thank you. The payment ${details.userOpHash} has arrived.`
      : (details.message ?? "The payment did not arrive."),
  );
}

// The browser's response does not prove that the payment arrived. A real shop's server should ask its own bundler or
// node; this page asks Holdfast's bundler.
async function arrived(userOpHash) {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_getUserOperationReceipt", params: [userOpHash] });
  const headers = { "content-type": "application/json" };
  const { result } = await (await fetch(`${HOLDFAST}/api/bundler`, { method: "POST", headers, body })).json();
  return result?.success === true && result.logs.some(isOurs);
}

function isOurs({ address, topics, data }) {
  const same = (one, other) => one.toLowerCase() === other.toLowerCase();
  const transfer = same(address, ORDER.token) && topics[0] === TRANSFER;
  return transfer && same(`0x${topics[2].slice(-40)}`, account) && BigInt(data) === BigInt(ORDER.amount);
}

function failed(error) {
  if (error.name === "AbortError") say("Cancelled. Nothing was paid.");
  else if (error.name === "NotSupportedError")
    say(`${HOLDFAST} could not be reached, or this browser cannot pay with it.`);
  else say(`Not paid: ${error.message}`);
}

function say(sentence) {
  outcome.textContent = sentence;
}
