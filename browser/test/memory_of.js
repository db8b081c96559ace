/** What lies in an enclave's linear memory: for tests that search it for secrets. The host itself offers no copy. */

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

/** `instantiate` of the host, whose instance's memory `memoryOf` knows. One at a time. */
export async function instantiate(...given) {
  const enclave = await load(...given);
  memories.set(enclave, made);
  return enclave;
}

/** A copy of the whole memory, asked without a call. */
export const memoryOf = (enclave) => new Uint8Array(memories.get(enclave).buffer).slice();
