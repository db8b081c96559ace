/**
 * Hosts the enclave in browsers, workers and Node: loads enclave.wasm and calls its functions.
 *
 *     const enclave = await instantiate(new URL("/enclave.wasm", location.href), { sha256: expectedHash });
 *     const { hash } = enclave.call("keccak256", { text: "alice" });
 *     enclave.wipe();
 *
 * The calling convention is documented in enclave/ABI.md. One instance holds one vault; calls into it do not overlap.
 */

import type { RawAnswer } from "./enclave-answers.ts";
import { PluginCallError, WasmLoadError } from "./errors.ts";

export { PluginCallError, ServiceError, WasmLoadError } from "./errors.ts";

/** the memory in use, for imports that are created before it exists */
export type Cell = { memory: WebAssembly.Memory | null };

export type Exports = {
  memory: WebAssembly.Memory;
  _initialize: () => void;
  enclave_abi: () => number;
  enclave_alloc: (size: number) => number;
  enclave_free: (address: number, size: number) => void;
  enclave_call: (name: number, nameLength: number, input: number, inputLength: number) => bigint;
};

/** fills the bytes with cryptographic randomness, synchronously */
export type Random = (bytes: Uint8Array) => unknown;

/** milliseconds since 1970 */
export type Now = () => number;

/** runs work once, after a delay; returns a function that cancels it */
export type After = (ms: number, work: () => void) => () => void;

/** the response to a call that failed */
type Failed = { error: { message: string; code: string } };

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
 * @param source where the module is
 * @param options.sha256 hex digest that the module must have; with it, the module is read completely before it is
 *   compiled
 * @param options.random fills with cryptographic randomness
 * @param options.now milliseconds since 1970
 * @param options.after runs work once, after a delay; returns a function that cancels it
 * @throws {WasmLoadError}
 */
export async function instantiate(
  source: string | URL | Response | Promise<Response> | BufferSource | WebAssembly.Module,
  {
    sha256,
    random = fillRandom,
    now = Date.now,
    after = wait,
  }: { sha256?: string; random?: Random; now?: Now; after?: After } = {},
): Promise<Enclave> {
  const cell: Cell = { memory: null };
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
  #exports: Exports | null;
  #cell: Cell;
  #buffer = { address: 0, size: 0 };
  #gone = "";
  #now;
  #after;
  #cancelLook = () => {};

  constructor(instance: WebAssembly.Instance, cell: Cell, now: Now = Date.now, after: After = wait) {
    const exports = instance.exports as unknown as Exports;
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
   * @param name Whole numbers beyond 2^53 are BigInt in input and output, because a Number would be rounded.
   * @param input byte arrays (such as Uint8Array) are sent as base64
   * @returns the response, an object
   * @throws {PluginCallError}
   */
  call<Fn extends string>(name: Fn, input: object = {}): RawAnswer<Fn> {
    const answer = fromText(this.callRaw(name, toText(input))) as RawAnswer<Fn> & Partial<Failed>;
    if (typeof answer.error === "object") {
      throw new PluginCallError(name, answer.error.message, answer.error.code);
    }
    return answer;
  }

  /**
   * Calls a function with JSON text and returns JSON text, including errors. Throws only if the instance has been
   * discarded.
   */
  callRaw(name: string, input: string) {
    const answer = this.#guarded(name, input);
    if (OPENING.has(name)) this.#watch();
    return answer;
  }

  #guarded(name: string, input: string) {
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
    const status: Partial<RawAnswer<"status"> & Failed> = JSON.parse(this.#guarded("status", "{}"));
    const { error, locked, idle_seconds = 0, last_activity = "" } = status;
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

  #cross(name: Uint8Array, input: Uint8Array) {
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

  #room(name: Uint8Array, size: number) {
    if (size <= this.#buffer.size) return this.#buffer;
    if (this.#buffer.address) this.#module.enclave_free(this.#buffer.address, this.#buffer.size);
    const wanted = Math.max(size, SMALLEST_BUFFER);
    const address = this.#module.enclave_alloc(wanted) >>> 0;
    this.#buffer = { address, size: address ? wanted : 0 };
    if (!address) throw new PluginCallError(decoder.decode(name), "not enough memory for the input", "out_of_memory");
    return this.#buffer;
  }

  #take(address: number, length: number) {
    const answer = new Uint8Array(this.#module.memory.buffer, address, length);
    const text = decoder.decode(answer);
    answer.fill(0); // the module would not overwrite it before the next call
    return text;
  }
}

const wait: After = (ms, work) => {
  const timer = setTimeout(work, ms);
  timer.unref?.(); // so that it does not keep Node running
  return () => clearTimeout(timer);
};

function hostImports(cell: Cell, random: Random, now: Now) {
  return {
    host_random(address: number, length: number) {
      try {
        if (!cell.memory) return 1;
        const filled = random(new Uint8Array(cell.memory.buffer, address >>> 0, length >>> 0)) as
          Partial<Promise<void>> | undefined;
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

function fillRandom(bytes: Uint8Array) {
  for (let at = 0; at < bytes.length; at += RANDOM_CHUNK) {
    crypto.getRandomValues(bytes.subarray(at, at + RANDOM_CHUNK) as Uint8Array<ArrayBuffer>);
  }
}

async function load(
  source: string | URL | Response | Promise<Response> | BufferSource | WebAssembly.Module,
  imports: WebAssembly.Imports,
  sha256?: string,
) {
  try {
    return await compiled(await source, imports, sha256);
  } catch (cause) {
    throw loadError(cause);
  }
}

function loadError(cause: unknown) {
  if (cause instanceof WasmLoadError) return cause;
  return new WasmLoadError(cause instanceof Error ? cause.message : String(cause), { cause });
}

async function compiled(
  source: string | URL | Response | BufferSource | WebAssembly.Module,
  imports: WebAssembly.Imports,
  sha256?: string,
) {
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

async function fromBytes(bytes: BufferSource, imports: WebAssembly.Imports, sha256?: string) {
  if (sha256 && (await digest(bytes)) !== sha256.toLowerCase())
    throw new WasmLoadError("the module is not the expected one");
  const { instance } = await WebAssembly.instantiate(bytes, imports);
  return instance;
}

function isBytes(source: unknown): source is BufferSource {
  return source instanceof ArrayBuffer || ArrayBuffer.isView(source);
}

function isWasm(response: Response) {
  const streams = typeof WebAssembly.instantiateStreaming === "function";
  return streams && response.headers.get("content-type")?.split(";")[0].trim() === "application/wasm";
}

async function digest(bytes: BufferSource) {
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

/** Encodes a call's input as JSON text. */
export function toText(input: unknown): string {
  let long = false;
  const text = JSON.stringify(input, function replace(this: Record<string, unknown>, key: string, converted: unknown) {
    if (typeof converted !== "bigint") return bytesAsBase64.call(this, key, converted);
    long = true;
    return MARK + converted;
  });
  return long ? text.replace(MARKED, "$1") : text;
}

/** Decodes the JSON text of a response. */
export function fromText(text: string): unknown {
  if (!/\d{16}/.test(text)) return JSON.parse(text);
  const marked = outsideStrings(text, (part) =>
    part.replace(NUMBERS, (it) => (LONG.test(it) && !Number.isSafeInteger(Number(it)) ? `"${MARK}${it}"` : it)),
  );
  return JSON.parse(marked, (_, value) =>
    typeof value === "string" && value.startsWith(MARK) ? BigInt(value.slice(MARK.length)) : value,
  );
}

function outsideStrings(text: string, change: (part: string) => string) {
  let made = "";
  for (let at = 0; ;) {
    const open = text.indexOf('"', at);
    if (open < 0) return made + change(text.slice(at));
    const end = endOfString(text, open);
    made += change(text.slice(at, open)) + text.slice(open, end);
    at = end;
  }
}

function endOfString(text: string, open: number) {
  for (let at = text.indexOf('"', open + 1); ; at = text.indexOf('"', at + 1)) {
    let slashes = 0;
    while (text[at - 1 - slashes] === "\\") slashes += 1;
    if (slashes % 2 === 0) return at + 1;
  }
}

function bytesAsBase64(this: Record<string, unknown>, key: string, converted: unknown) {
  const value = this[key]; // the value before toJSON, which Node's Buffer has
  if (!ArrayBuffer.isView(value) && !(value instanceof ArrayBuffer)) return converted;
  const text = toBase64(value as BufferSource);
  // Base64 that begins with 0x would be read as hex, but an array of numbers is unambiguous.
  return /^0x/i.test(text) ? Array.from(atob(text), (char) => char.charCodeAt(0)) : text;
}

function toBase64(source: BufferSource) {
  const bytes = ArrayBuffer.isView(source)
    ? new Uint8Array(source.buffer, source.byteOffset, source.byteLength)
    : new Uint8Array(source);
  let text = "";
  for (let at = 0; at < bytes.length; at += 0x8000) text += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return btoa(text);
}
