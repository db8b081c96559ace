/** Gives tests access to an enclave's linear memory, which the host does not expose, to search it for secrets. */

import { instantiate as load } from "../src/enclave-host.ts";

const memories = new WeakMap();
let made = null;

for (const name of ["instantiate", "instantiateStreaming"]) {
  const original = WebAssembly[name]?.bind(WebAssembly);
  WebAssembly[name] = async (...given) => {
    const result = await original(...given);
    made = (result.instance ?? result).exports.memory;
    return result;
  };
}

/** Wraps the host's `instantiate` to record the memory for `memoryOf`. Calls must not overlap. */
export async function instantiate(...given) {
  const enclave = await load(...given);
  memories.set(enclave, made);
  return enclave;
}

/** Returns a copy of the whole memory without calling the enclave. */
export const memoryOf = (enclave) => new Uint8Array(memories.get(enclave).buffer).slice();
