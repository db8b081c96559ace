/** The button that gives an account test USDC. Only a service in the local world (`holdfast dev`) has it. */

import { meta } from "../../kit/meta.js";
import { text } from "../parts/language.js";
import { button } from "../parts/nodes.js";
import { ProblemError } from "../parts/problems.js";
import { run } from "../parts/screen.js";
import { ready } from "../parts/vault_client.js";

const FAUCET = meta("faucet");
/** The service caches a balance for two seconds. */
const [QUERIED_FOR_MS, QUERIED_EVERY_MS] = [6000, 500];

/**
 * Returns the button; nothing outside the local world.
 *
 * @param {string} account
 * @param {() => unknown} then called when the money has arrived
 */
export function faucetButton(account, then) {
  const given = async () => {
    await give(account);
    await then();
  };
  const pressed = (/** @type {Event} */ event) =>
    run(/** @type {HTMLElement} */ (event.currentTarget), given, text("working"));
  return FAUCET ? button(text("vault.faucet"), pressed, { name: "faucet" }) : "";
}

/** Gives an account money, and waits until the service sees it. @param {string} account */
async function give(account) {
  const before = await usdcOf(account);
  const body = JSON.stringify({ account });
  const answer = await fetch(FAUCET, { method: "POST", body, credentials: "omit" }).catch(() => null);
  if (!answer?.ok) throw new ProblemError("vault.faucet.failed");
  for (const end = Date.now() + QUERIED_FOR_MS; Date.now() < end && (await usdcOf(account)) === before;)
    await new Promise((later) => setTimeout(later, QUERIED_EVERY_MS));
}

/** @param {string} account @returns {Promise<string | null>} null if it is not known */
async function usdcOf(account) {
  const client = await ready();
  const { chainId } = await client.status();
  const reply = client.balance({ account, token: "USDC", chainId: String(chainId) });
  return reply.then(({ balance }) => balance).catch(() => null);
}
