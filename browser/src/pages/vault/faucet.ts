/** The button that gives an account test USDC. Only a service in the local world (`holdfast dev`) has it. */

import { meta } from "../../kit/meta.ts";
import { text } from "../parts/language.ts";
import { button, type Press } from "../parts/nodes.ts";
import { ProblemError } from "../parts/problems.ts";
import { run } from "../parts/screen.ts";
import { ready } from "../parts/vault_client.ts";

const FAUCET = meta("faucet");
/** The service caches a balance for two seconds. */
const [QUERIED_FOR_MS, QUERIED_EVERY_MS] = [6000, 500];

/**
 * Returns the button; nothing outside the local world.
 *
 * @param then called when the money has arrived
 */
export function faucetButton(account: string, then: () => unknown) {
  const given = async () => {
    await give(account);
    await then();
  };
  const pressed = (event: Press) => run(event.currentTarget, given, text("working"));
  return FAUCET ? button(text("vault.faucet"), pressed, { name: "faucet" }) : "";
}

/** Gives an account money, and waits until the service sees it. */
async function give(account: string) {
  const before = await usdcOf(account);
  const body = JSON.stringify({ account });
  const answer = await fetch(FAUCET, { method: "POST", body, credentials: "omit" }).catch(() => null);
  if (!answer?.ok) throw new ProblemError("vault.faucet.failed");
  for (const end = Date.now() + QUERIED_FOR_MS; Date.now() < end && (await usdcOf(account)) === before;)
    await new Promise((later) => setTimeout(later, QUERIED_EVERY_MS));
}

/** @returns null if it is not known */
async function usdcOf(account: string): Promise<string | null> {
  const client = await ready();
  const { chainId } = await client.status();
  const reply = client.balance({ account, token: "USDC", chainId: String(chainId) });
  return reply.then(({ balance }) => balance).catch(() => null);
}
