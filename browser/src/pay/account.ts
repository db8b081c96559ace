/** Finds out from public facts, without opening a vault, what a payment costs and whether the account can afford it. */

import type { Client } from "../holdfast.ts";
import { decimalOf } from "../chain/amounts.ts";
import { feeIn } from "../chain/fees.ts";
import { didOfKey, textHash } from "../chain/names.ts";
import { type AccountKey, SmartAccount } from "../flows/account.ts";
import { accountAddress } from "../flows/contracts.ts";
import { preparedPayment } from "../flows/pay.ts";
import { COIN, Refusal, type Request } from "./request.ts";
import { amountText } from "./text.ts";

/** `cost`: the most that the account may pay, in wei */
export type Fee = { sponsored: boolean; cost: bigint };

export { feeIn };

/** How many times to look for an account; a newly registered one may not be indexed yet. */
const TRIES = 4;
const PAUSE_MS = 1200;

/** Returns a stored vault's account if it is registered on the chain. */
export async function publicAccount(client: Client, did: string): Promise<AccountKey | null> {
  for (let tries = 1; tries <= TRIES; tries += 1) {
    const found = await indexed(client, did).catch(() => null);
    if (found) return found;
    if (tries < TRIES) await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  return null;
}

async function indexed(client: Client, did: string) {
  const { found, controller } = await client.indexerDid(await textHash(client.vault, did));
  if (!found || !controller) return null;
  const { pubKeyX, pubKeyY } = await client.accountState({ account: controller });
  if ((await didOfKey(client.vault, pubKeyX, pubKeyY)) !== did) return null;
  const key = { x: BigInt(pubKeyX), y: BigInt(pubKeyY) };
  return { ...key, address: await accountAddress(client, key) };
}

/**
 * Returns the payment's current fee, according to the sponsor and the bundler.
 *
 * @param payee address
 */
export async function feeOf(client: Client, key: AccountKey, { amount, params }: Request, payee: string): Promise<Fee> {
  const contracts = await client.contracts();
  const account = new SmartAccount(client, { contracts, key });
  return feeIn(await preparedPayment(client, account, { to: payee, amount, token: params.token }));
}

/**
 * Refuses a payment that the account cannot afford. Payments in a token that the service does not know are not checked.
 *
 * @returns what the account has left afterwards, in the token's smallest unit; null if not known
 * @throws {Refusal}
 */
export async function checkBalance(
  client: Client,
  address: string,
  { token, amount, params }: Request,
): Promise<bigint | null> {
  if (!token) return null;
  const chainId = String(params.chainId);
  const { balance } = await client.balance({ account: address, token: token.symbol, chainId });
  if (BigInt(balance) >= amount) return BigInt(balance) - amount;
  const shown = (value: bigint) => amountText(decimalOf(value, token.decimals), token);
  throw new Refusal("insufficient_balance", { have: shown(BigInt(balance)), need: shown(amount), account: address });
}

export function costText({ cost }: Fee): string {
  return amountText(decimalOf(cost, COIN.decimals), COIN);
}
