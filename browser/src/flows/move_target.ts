/** Checks a service before a person moves there. Nothing of the vault is sent to it. */

import { THIS_MACHINE } from "../http/hosts.ts";
import "../core.ts";
import type { Client } from "../client.ts";
import { MoveRefused } from "../errors.ts";
import { didOfService } from "./signature.ts";

const CONTRACTS = ["entryPoint", "didRegistry", "accountHelper", "sessionSBT", "appFactory"] as const;
const ASCII = /^[\x21-\x7e]+$/;

/**
 * Returns the origin of a service that a person names.
 * @returns "" for text that could show another host than the one that is asked: with user information, a path, or
 *   letters outside ASCII, which may look like others
 */
export function serviceAddress(text: string): string {
  const typed = text.trim().replace(/\/$/, "");
  const whole = /^https?:\/\//.test(typed) ? typed : `https://${typed}`;
  if (!ASCII.test(whole) || !URL.canParse(whole)) return "";
  const { origin, hostname, protocol } = new URL(whole);
  const isSafe = protocol === "https:" || THIS_MACHINE.test(hostname);
  return isSafe && origin === whole.toLowerCase() ? origin : "";
}

/**
 * Refuses a service to which the DID and its account could not go: it must be a Holdfast that knows itself by the
 * address that the person named, on the same chain and with the same contracts.
 * @throws {MoveRefused}
 */
export async function checkTarget(old: Client, next: Client) {
  const address = next.baseUrl;
  const did = didOfService(address);
  if (did === didOfService(old.baseUrl))
    throw new MoveRefused("same_service", `${address} is the service that the vault is at`);
  if (!serviceAddress(address)) throw new MoveRefused("insecure_service", `${address} must begin with https://`);
  const said = await next.ownDid();
  if (said !== did)
    throw new MoveRefused("other_service", `${address} says that it is ${said || "no Holdfast service"}, not ${did}`);
  const [here, there] = [await old.contracts(), await next.contracts()];
  if (here.chainId !== there.chainId)
    throw new MoveRefused("other_chain", `${address} is on chain ${there.chainId}, and the DID on ${here.chainId}`);
  if (CONTRACTS.some((name) => String(here[name]).toLowerCase() !== String(there[name]).toLowerCase()))
    throw new MoveRefused("other_contracts", `${address} has other contracts, where the DID and the account are not`);
}

/**
 * Refuses a handle that another DID has at the new service. Whose an e-mail address or number is, the code sent to it
 * decides at the registration.
 * @throws {MoveRefused}
 */
export async function checkFree(
  next: Client,
  { identifier, channel }: { identifier: string; channel: string },
  did: string,
) {
  if (channel !== "handle") return;
  const { available, reason } = await next.checkSession({ identifier });
  if (available || (await next.checkAlias({ alias: identifier })).did === did) return;
  throw new MoveRefused("name_taken", `${identifier} is ${reason ?? "not available"} at ${next.baseUrl}`);
}
