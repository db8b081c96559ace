/** The service as a guardian: what needs the person's consent, and a recovery that is tried without starting it. */

import { ServiceError } from "../errors.ts";
import { WORD } from "../chain/abi.ts";
import { ask } from "../chain/rpc.ts";
import { RpcError } from "../http/json_rpc.ts";
import { type Change, startRecovery } from "./changes.ts";

const NO_QUORUM = "0x8994b0bf"; // NoQuorum(uint256,uint8)
const NO_SIGNATURES = `0x${"0".repeat(WORD)}`;
const CHANGING = ["add_guardian", "remove_guardian", "set_quorum"];

/** After these changes the service alone could give the account new owners, and the person has not agreed. */
export class ServiceAlone extends ServiceError {
  constructor() {
    super(
      "the service alone could then give the account new owners: the person must agree to that, or the same " +
        "changes state how many must sign",
    );
    this.name = "ServiceAlone";
  }
}

/** Whether changes concern guardians or how many must sign. */
export function changesGuardians(changes: Change[]) {
  return changes.some(({ kind }) => CHANGING.includes(kind));
}

/**
 * Returns whether the service alone is a quorum after the changes and was not before (vectors/accounts). Where they make
 * the service a guardian, only the quorum that they state counts, or one: the chain's endpoint, which may be the
 * service's, could name another.
 *
 * @param before `keys`: all keys of the service as a guardian; `present`: those that are guardians now; `quorum`: how
 *   many must sign, 0: none can
 * @param changes in their order
 */
export function givesServiceAlone(
  { keys, present, quorum }: { keys: string[]; present: string[]; quorum: number },
  changes: Change[],
) {
  const isOwn = (signer: string) => keys.includes(signer.toLowerCase());
  const adds = changes.some(({ kind, signer = "" }) => kind === "add_guardian" && isOwn(signer));
  const held = new Set(present);
  let needed = adds ? 1 : quorum;
  for (const { kind, signer = "", value = 0 } of changes) {
    if (kind === "set_quorum") needed = value;
    if (kind === "add_guardian" && isOwn(signer)) held.add(signer.toLowerCase());
    if (kind === "remove_guardian") held.delete(signer.toLowerCase());
  }
  const suffices = (quorum: number, many: number) => quorum > 0 && many >= quorum;
  return suffices(needed, held.size) && (adds || !suffices(quorum, present.length));
}

/**
 * Tries to start a recovery with no one's signature, which changes nothing: the account must refuse it only because no
 * one signed.
 *
 * @returns how many guardians must sign; null if the account refuses for another reason
 */
export async function triedRecovery(
  { url, address }: { url: string; address: string },
  newOwners: string[],
): Promise<number | null> {
  const { data } = startRecovery(address, newOwners, NO_SIGNATURES);
  try {
    await ask(url, "eth_call", [{ to: address, data }, "latest"]);
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    const reverted = String(error.data ?? "").toLowerCase();
    if (!reverted.startsWith(NO_QUORUM)) return null;
    return Number(BigInt(`0x${reverted.slice(NO_QUORUM.length + WORD)}`));
  }
  return null;
}
