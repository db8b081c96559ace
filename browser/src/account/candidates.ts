/**
 * Chooses, among signed changes of the same place, those that a chain accepts. Anyone can write forged changes of an
 * account into a transaction's input. Only a chain says whose signatures are valid, so the chain to which changes are
 * brought tries them first.
 */

import type { Call } from "../chain/calls.ts";
import { ask } from "../chain/rpc.ts";
import { RpcError } from "../http/json_rpc.ts";
import type { SignedChanges } from "./changes.ts";

/**
 * Returns one of the candidates for each place: the first that the chain accepts after those before it. Where there is
 * only one, or the chain accepts none, the first is returned: the operation then says why.
 *
 * @param url the endpoint of the chain to which the changes are brought
 * @param candidates in the order of their places, without gaps, from the first that the chain lacks
 * @param together the call that brings several
 */
export async function accepted(
  url: string,
  candidates: SignedChanges[],
  together: (changes: SignedChanges[]) => Call,
): Promise<SignedChanges[]> {
  const chosen: SignedChanges[] = [];
  for (const options of Map.groupBy(candidates, ({ sequence }) => sequence).values()) {
    let [found] = options;
    for (const it of options.length > 1 ? options : [])
      if (await accepts(url, together([...chosen, it]))) {
        found = it;
        break;
      }
    chosen.push(found);
  }
  return chosen;
}

async function accepts(url: string, { to, data }: Call) {
  try {
    // Its own caller: the account obeys itself, and an account that is to be created must not call.
    await ask(url, "eth_call", [{ from: to, to, data }, "latest"]);
    return true;
  } catch (error) {
    if (error instanceof RpcError) return false; // the chain refuses the call
    throw error;
  }
}
