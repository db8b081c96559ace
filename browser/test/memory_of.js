/** The contents of an enclave's linear memory, for tests that search it for secrets. The host itself does not expose it. */

import { instantiate as load } from "../src/enclave-host.js";

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

/** The host's `instantiate`, with the memory recorded for `memoryOf`. Await each call before the next one. */
export async function instantiate(...given) {
  const enclave = await load(...given);
  memories.set(enclave, made);
  return enclave;
}

/** Returns a copy of the whole memory, without a call into the enclave. */
export const memoryOf = (enclave) => new Uint8Array(memories.get(enclave).buffer).slice();
