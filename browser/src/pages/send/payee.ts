/** Resolves a payee from an address, a DID or a name, and rates how certain the result is. */

import { canonicalHandle } from "../../chain/names.ts";
import { RequestRefused, checkedAddress, payeeOf, textHash } from "../library.ts";
import { formOf } from "../parts/handle_forms.ts";
import type { TextKey } from "../parts/language.ts";
import { ProblemError } from "../parts/problems.ts";
import { ready } from "../parts/vault_client.ts";

const ADDRESS = /^0x[0-9a-fA-F]{40}$/;
const DID = /^did:[a-z0-9]+:[\w.:%-]+$/;
const OF_A_KEY = "did:new:";
/**
 * Why what reads like this is not paid as a name: another person may have registered it before such names were
 * reserved.
 */
const NOT_NAMES: Record<string, TextKey> = {
  email: "send.bad.email",
  phone: "send.bad.phone",
  host: "send.bad.host",
  account: "send.bad.copied",
  did: "send.bad.copied",
};

export interface Payee {
  /** with its checksum */ address: string;
  /** empty for a bare address */ did: string;
  /** empty unless the person typed one */ name: string;
  /**
   * `verified`: the chain confirms everything; `unproven`: nothing proves who registered the DID; `name`: only the
   * service says whose name it is
   */
  trust: "address" | "verified" | "unproven" | "name";
}

/**
 * Resolves what the person typed.
 *
 * @throws {ProblemError} there is no such payee
 */
export async function resolved(typed: string): Promise<Payee> {
  const to = typed.trim();
  const copied = to.replace(/\s/g, ""); // the pages show addresses in groups, and DIDs on several lines
  if (ADDRESS.test(copied)) return { address: await checked(copied), did: "", name: "", trust: "address" };
  if (DID.test(copied)) return { ...(await ofDid(copied)), name: "" };
  const name = canonicalHandle(to);
  const form = formOf(name) ?? formOf(copied);
  if (form) throw new ProblemError(NOT_NAMES[form], { name });
  if (/^0x/i.test(to)) throw new ProblemError("send.bad.copied");
  if (to === "" || to.length > 64 || /\s/.test(to)) throw new ProblemError("send.bad.to");
  return ofName(name);
}

async function checked(to: string) {
  return checkedAddress((await ready()).vault, to, "to").catch((error) => {
    throw error instanceof TypeError ? new ProblemError("send.bad.checksum") : error;
  });
}

async function ofDid(did: string): Promise<Omit<Payee, "name">> {
  const { address } = await payeeOf(await ready(), did);
  return { address, did, trust: did.startsWith(OF_A_KEY) ? "verified" : "unproven" };
}

/** @param name in its canonical form */
async function ofName(name: string): Promise<Payee> {
  const did = await didOf(name);
  const found = await ofDid(did);
  if (found.trust === "verified" && !(await isOnChain(name, did))) return { ...found, name, trust: "name" };
  return { ...found, name };
}

async function didOf(name: string) {
  try {
    const { available, did } = await (await ready()).checkAlias({ alias: name });
    if (!available && did) return did;
  } catch (error) {
    if (!(error instanceof RequestRefused) || error.status !== 400) throw error;
  }
  throw new ProblemError("send.bad.name", { name });
}

/** Whether the chain's registry assigns the name to this DID. */
async function isOnChain(name: string, did: string) {
  const client = await ready();
  const [alias, hash] = await Promise.all([textHash(client.vault, name), textHash(client.vault, did)]);
  const found = await client.indexerAlias(alias).catch(() => null);
  return Boolean(found?.found && found.active && found.did_hash?.toLowerCase() === hash);
}
