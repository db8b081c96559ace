/**
 * Hosts the enclave in browsers, workers and Node: loads enclave.wasm and calls its functions.
 *
 *     const enclave = await instantiate(new URL("/enclave.wasm", location.href), { sha256: expectedHash });
 *     const { hash } = enclave.call("keccak256", { text: "alice" });
 *     enclave.wipe();
 *
 * The calling convention is documented in enclave/ABI.md. One instance holds one vault; calls into it do not overlap.
 */

import { PluginCallError, WasmLoadError } from "./errors.js";

export { PluginCallError, ServiceError, WasmLoadError } from "./errors.js";

/**
 * @typedef {{memory: WebAssembly.Memory | null}} Cell the memory in use, for imports that are created before it exists
 * @typedef {{
 *   memory: WebAssembly.Memory,
 *   _initialize: () => void,
 *   enclave_abi: () => number,
 *   enclave_alloc: (size: number) => number,
 *   enclave_free: (address: number, size: number) => void,
 *   enclave_call: (name: number, nameLength: number, input: number, inputLength: number) => bigint,
 * }} Exports
 * @typedef {(bytes: Uint8Array) => unknown} Random fills the bytes with cryptographic randomness, synchronously
 * @typedef {() => number} Now milliseconds since 1970
 * @typedef {(ms: number, work: () => void) => () => void} After runs work once, after a delay; returns a function that cancels it
 */

const ABI = 1;
const RANDOM_CHUNK = 65536; // crypto.getRandomValues refuses more in one call
const SMALLEST_BUFFER = 65536;
/** The calls that may unlock a vault or change the time at which it locks. */
const OPENING = new Set(["generate", "load", "unlock", "import", "sync_complete", "set_auto_lock"]);
const LONGEST_WAIT = 60000; // timers stop while the machine is asleep: after it wakes, locking may be this late
const SHORTEST_WAIT = 10;
const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true });

/**
 * Loads the module and starts an instance.
 *
 * @param {string|URL|Response|Promise<Response>|BufferSource|WebAssembly.Module} source where the module is
 * @param {object} [options]
 * @param {string} [options.sha256] hex digest that the module must have; with it, the module is read completely before it is compiled
 * @param {Random} [options.random] fills with cryptographic randomness
 * @param {Now} [options.now] milliseconds since 1970
 * @param {After} [options.after] runs work once, after a delay; returns a function that cancels it
 * @returns {Promise<Enclave>}
 * @throws {WasmLoadError}
 */
export async function instantiate(source, { sha256, random = fillRandom, now = Date.now, after = wait } = {}) {
  /** @type {Cell} */
  const cell = { memory: null };
  const imports = { env: hostImports(cell, random, now) };
  const instance = await load(source, imports, sha256);
  try {
    return new Enclave(instance, cell, now, after);
  } catch (cause) {
    throw loadError(cause); // it is not an enclave module
  }
}

/** One instance of the module, created by `instantiate`. */
export class Enclave {
  /** @type {Exports | null} */
  #exports;
  /** @type {Cell} */
  #cell;
  #buffer = { address: 0, size: 0 };
  #gone = "";
  #now;
  #after;
  #cancelLook = () => {};

  /**
   * @param {WebAssembly.Instance} instance
   * @param {Cell} cell
   * @param {Now} [now]
   * @param {After} [after]
   */
  constructor(instance, cell, now = Date.now, after = wait) {
    const exports = /** @type {Exports} */ (/** @type {unknown} */ (instance.exports));
    this.#exports = exports;
    this.#cell = cell;
    this.#now = now;
    this.#after = after;
    cell.memory = exports.memory;
    this.#start();
  }

  /**
   * Calls a function of enclave/ABI.md.
   *
   * @param {string} name
   * Whole numbers beyond 2^53 are BigInt in input and output, because a Number would be rounded.
   *
   * @param {object} [input] byte arrays (such as Uint8Array) are sent as base64
   * @returns {any} the response, an object
   * @throws {PluginCallError}
   */
  call(name, input = {}) {
    const answer = fromText(this.callRaw(name, toText(input)));
    if (answer.error !== undefined && typeof answer.error === "object") {
      throw new PluginCallError(name, answer.error.message, answer.error.code);
    }
    return answer;
  }

  /**
   * Calls a function with JSON text and returns JSON text, including errors. Throws only if the instance has been
   * discarded.
   *
   * @param {string} name
   * @param {string} input
   */
  callRaw(name, input) {
    const answer = this.#guarded(name, input);
    if (OPENING.has(name)) this.#watch();
    return answer;
  }

  /**
   * @param {string} name
   * @param {string} input
   */
  #guarded(name, input) {
    if (this.#gone) throw new PluginCallError(name, this.#gone);
    const bytes = [encoder.encode(name), encoder.encode(input)]; // input that cannot be encoded is the caller's error, not a trap
    try {
      return this.#cross(bytes[0], bytes[1]);
    } catch (cause) {
      if (cause instanceof PluginCallError) throw cause;
      this.wipe();
      this.#gone = "the enclave stopped and was discarded";
      throw new PluginCallError(name, this.#gone, null, { cause });
    }
  }

  /** Overwrites the whole memory and discards the instance. Repeated calls have no effect. */
  wipe() {
    this.#cancelLook();
    if (this.#cell.memory) new Uint8Array(this.#cell.memory.buffer).fill(0);
    this.#cell.memory = null;
    this.#exports = null;
    this.#gone ||= "the enclave was wiped";
  }

  /** Whether `wipe` was called or a trap ended the instance. */
  get closed() {
    return this.#gone !== "";
  }

  /**
   * Locks an idle vault on time: the module reads the clock only when it is called, so `status`, which does not count as
   * activity, is called when the lock is due.
   */
  #watch() {
    this.#cancelLook();
    const { error, locked, idle_seconds, last_activity } = JSON.parse(this.#guarded("status", "{}"));
    if (!error && (locked || !idle_seconds || !last_activity)) return;
    // If there is too little memory even for `status`, the host calls it again later.
    const due = error ? LONGEST_WAIT : Date.parse(last_activity) + idle_seconds * 1000 - this.#now();
    const instance = new WeakRef(this); // the timer must not keep an unused vault alive
    this.#cancelLook = this.#after(Math.min(Math.max(due, SHORTEST_WAIT), LONGEST_WAIT), () => {
      const alive = instance.deref();
      if (alive) alive.#look();
    });
  }

  #look() {
    try {
      if (!this.#gone) this.#watch();
    } catch (error) {
      if (!(error instanceof PluginCallError)) throw error; // a trap: the instance is wiped, and the next call fails
    }
  }

  /** Returns the module's exported functions. Throws if the instance has been wiped. */
  get #module() {
    if (!this.#exports) throw new PluginCallError("enclave", this.#gone);
    return this.#exports;
  }

  #start() {
    this.#module._initialize();
    const spoken = this.#module.enclave_abi();
    if (spoken !== ABI) throw new WasmLoadError(`the module has ABI ${spoken}, but this host supports ${ABI}`);
  }

  /**
   * @param {Uint8Array} name
   * @param {Uint8Array} input
   */
  #cross(name, input) {
    const { address } = this.#room(name, name.length + input.length);
    // Create a new view for each call, because a view becomes stale when the memory grows.
    const view = new Uint8Array(this.#module.memory.buffer);
    view.set(name, address);
    view.set(input, address + name.length);
    input.fill(0);
    const packed = BigInt.asUintN(
      64,
      this.#module.enclave_call(address, name.length, address + name.length, input.length),
    );
    return this.#take(Number(packed >> 32n), Number(packed & 0xffffffffn));
  }

  /**
   * @param {Uint8Array} name
   * @param {number} size
   */
  #room(name, size) {
    if (size <= this.#buffer.size) return this.#buffer;
    if (this.#buffer.address) this.#module.enclave_free(this.#buffer.address, this.#buffer.size);
    const wanted = Math.max(size, SMALLEST_BUFFER);
    const address = this.#module.enclave_alloc(wanted) >>> 0;
    this.#buffer = { address, size: address ? wanted : 0 };
    if (!address) throw new PluginCallError(decoder.decode(name), "not enough memory for the input", "out_of_memory");
    return this.#buffer;
  }

  /**
   * @param {number} address
   * @param {number} length
   */
  #take(address, length) {
    const answer = new Uint8Array(this.#module.memory.buffer, address, length);
    const text = decoder.decode(answer);
    answer.fill(0); // the module would not overwrite it before the next call
    return text;
  }
}

/** @type {After} */
function wait(ms, work) {
  const timer = setTimeout(work, ms);
  timer.unref?.(); // so that it does not keep Node running
  return () => clearTimeout(timer);
}

/**
 * @param {Cell} cell
 * @param {Random} random
 * @param {Now} now
 */
function hostImports(cell, random, now) {
  return {
    /**
     * @param {number} address
     * @param {number} length
     */
    host_random(address, length) {
      try {
        if (!cell.memory) return 1;
        const filled = /** @type {any} */ (random(new Uint8Array(cell.memory.buffer, address >>> 0, length >>> 0)));
        if (typeof filled?.then !== "function") return 0;
        filled.then(undefined, () => {}); // an asynchronous function fills the bytes too late: they are not random
        return 1;
      } catch {
        return 1; // the module does not continue without randomness
      }
    },
    host_now_ms: () => now(),
  };
}

/** @param {Uint8Array} bytes */
function fillRandom(bytes) {
  for (let at = 0; at < bytes.length; at += RANDOM_CHUNK) {
    crypto.getRandomValues(/** @type {Uint8Array<ArrayBuffer>} */ (bytes.subarray(at, at + RANDOM_CHUNK)));
  }
}

/**
 * @param {string|URL|Response|Promise<Response>|BufferSource|WebAssembly.Module} source
 * @param {WebAssembly.Imports} imports
 * @param {string} [sha256]
 */
async function load(source, imports, sha256) {
  try {
    return await compiled(await source, imports, sha256);
  } catch (cause) {
    throw loadError(cause);
  }
}

/** @param {unknown} cause */
function loadError(cause) {
  if (cause instanceof WasmLoadError) return cause;
  return new WasmLoadError(cause instanceof Error ? cause.message : String(cause), { cause });
}

/**
 * @param {string|URL|Response|BufferSource|WebAssembly.Module} source
 * @param {WebAssembly.Imports} imports
 * @param {string} [sha256]
 */
async function compiled(source, imports, sha256) {
  if (source instanceof WebAssembly.Module) {
    if (sha256) throw new WasmLoadError("a compiled module's hash cannot be checked");
    return WebAssembly.instantiate(source, imports);
  }
  if (isBytes(source)) return fromBytes(source, imports, sha256);
  const response = source instanceof Response ? source : await fetch(source);
  if (!response.ok) throw new WasmLoadError(`the server responded with ${response.status}`);
  // Streaming compiles the bytes as they arrive, so it cannot check their hash first; it also requires the right
  // content type.
  if (sha256 || !isWasm(response)) return fromBytes(await response.arrayBuffer(), imports, sha256);
  const { instance } = await WebAssembly.instantiateStreaming(response, imports);
  return instance;
}

/**
 * @param {BufferSource} bytes
 * @param {WebAssembly.Imports} imports
 * @param {string} [sha256]
 */
async function fromBytes(bytes, imports, sha256) {
  if (sha256 && (await digest(bytes)) !== sha256.toLowerCase())
    throw new WasmLoadError("the module is not the expected one");
  const { instance } = await WebAssembly.instantiate(bytes, imports);
  return instance;
}

/**
 * @param {unknown} source
 * @returns {source is BufferSource}
 */
function isBytes(source) {
  return source instanceof ArrayBuffer || ArrayBuffer.isView(source);
}

/** @param {Response} response */
function isWasm(response) {
  const streams = typeof WebAssembly.instantiateStreaming === "function";
  return streams && response.headers.get("content-type")?.split(";")[0].trim() === "application/wasm";
}

/** @param {BufferSource} bytes */
async function digest(bytes) {
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** `NUMBERS` matches numbers in JSON; `LONG` matches the whole numbers among them that may exceed 2^53. */
const NUMBERS = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
const LONG = /^-?\d{16,}$/;
/** Marks strings of digits that stand for a BigInt, which JSON lacks. No caller can guess it. */
const MARK = Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join(
  "",
);
const MARKED = new RegExp(`"${MARK}(-?\\d+)"`, "g");

/**
 * Encodes a call's input as JSON text.
 *
 * @param {unknown} input
 * @returns {string}
 */
export function toText(input) {
  let long = false;
  const text = JSON.stringify(
    input,
    /** @this {any} */ function replace(key, /** @type {unknown} */ converted) {
      if (typeof converted !== "bigint") return bytesAsBase64.call(this, key, converted);
      long = true;
      return MARK + converted;
    },
  );
  return long ? text.replace(MARKED, "$1") : text;
}

/**
 * Decodes the JSON text of a response.
 *
 * @param {string} text
 * @returns {any}
 */
export function fromText(text) {
  if (!/\d{16}/.test(text)) return JSON.parse(text);
  const marked = outsideStrings(text, (part) =>
    part.replace(NUMBERS, (it) => (LONG.test(it) && !Number.isSafeInteger(Number(it)) ? `"${MARK}${it}"` : it)),
  );
  return JSON.parse(marked, (_, value) =>
    typeof value === "string" && value.startsWith(MARK) ? BigInt(value.slice(MARK.length)) : value,
  );
}

/**
 * @param {string} text
 * @param {(part: string) => string} change
 */
function outsideStrings(text, change) {
  let made = "";
  for (let at = 0; ;) {
    const open = text.indexOf('"', at);
    if (open < 0) return made + change(text.slice(at));
    const end = endOfString(text, open);
    made += change(text.slice(at, open)) + text.slice(open, end);
    at = end;
  }
}

/**
 * @param {string} text
 * @param {number} open
 */
function endOfString(text, open) {
  for (let at = text.indexOf('"', open + 1); ; at = text.indexOf('"', at + 1)) {
    let slashes = 0;
    while (text[at - 1 - slashes] === "\\") slashes += 1;
    if (slashes % 2 === 0) return at + 1;
  }
}

/**
 * @this {any}
 * @param {string} key
 * @param {unknown} converted
 */
function bytesAsBase64(key, converted) {
  const value = this[key]; // the value before toJSON, which Node's Buffer has
  if (!ArrayBuffer.isView(value) && !(value instanceof ArrayBuffer)) return converted;
  const text = toBase64(/** @type {BufferSource} */ (value));
  // Base64 that begins with 0x would be read as hex, but an array of numbers is unambiguous.
  return /^0x/i.test(text) ? Array.from(atob(text), (char) => char.charCodeAt(0)) : text;
}

/** @param {BufferSource} source */
function toBase64(source) {
  const bytes = ArrayBuffer.isView(source)
    ? new Uint8Array(source.buffer, source.byteOffset, source.byteLength)
    : new Uint8Array(source);
  let text = "";
  for (let at = 0; at < bytes.length; at += 0x8000) text += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return btoa(text);
}
