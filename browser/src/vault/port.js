/** The page's side of the connection to the worker, which exchanges requests, responses and errors. */

import { ClientStateError, PluginCallError, StorageError, WasmLoadError } from "../errors.js";
import { passScript, scriptAddress } from "../trusted.js";

/** The time limit of a call, which is generous because Argon2id takes seconds on a slow phone. */
const LONGEST_CALL_MS = 120000;

/**
 * @typedef {{name: string, functionName: string, message: string, code: string | null}} WorkerError
 * @typedef {{resolve: (result: any) => void, reject: (error: Error) => void, fn: string, timer: any}} Waiting
 */

/** One worker. */
export class WorkerPort {
  #worker;
  #count = 0;
  /** @type {Map<number, Waiting>} */
  #waiting = new Map();
  #ended = "";
  #onEvent;

  /**
   * @param {import("../trusted.js").ScriptAddress} address of worker.js
   * @param {(event: {type: string, why?: string}) => void} onEvent called with the worker's notifications
   */
  constructor(address, onEvent) {
    this.#onEvent = onEvent;
    this.#worker = new Worker(scriptAddress(ownOrigin(address)), { type: "module", name: "holdfast" });
    this.#worker.onmessage = ({ data }) => this.#received(data);
    this.#worker.onerror = (event) => this.#failed(event.message || "the worker's script could not be loaded");
    this.#worker.onmessageerror = () => this.#failed("the worker's answer could not be read");
  }

  /**
   * Calls a function of the worker and returns its result.
   *
   * @param {string} fn
   * @param {Record<string, any>} [args] absent fields may be undefined
   * @param {Transferable[]} [transfer] buffers to transfer
   * @returns {Promise<any>}
   */
  call(fn, args = {}, transfer = []) {
    if (this.#ended) return Promise.reject(new ClientStateError(this.#ended));
    const id = ++this.#count;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.#overdue(id), LONGEST_CALL_MS);
      this.#waiting.set(id, { resolve, reject, fn, timer });
      try {
        this.#worker.postMessage({ id, fn, args: present(args) }, transfer);
      } catch (cause) {
        this.#take(id)?.reject(new PluginCallError(fn, "the arguments cannot be sent to the worker", null, { cause }));
      }
    });
  }

  /**
   * Terminates the worker and discards everything in its memory.
   *
   * @param {string} why the error message of later calls
   */
  end(why) {
    if (this.#ended) return;
    this.#ended = why;
    this.#worker.terminate();
    for (const id of [...this.#waiting.keys()]) this.#take(id)?.reject(new ClientStateError(why));
  }

  /** @param {any} data */
  #received(data) {
    if (data?.event) return this.#onEvent(data.event);
    const waiting = this.#take(data?.id);
    if (!waiting) return;
    if (data.error) waiting.reject(errorOf(data.error));
    else waiting.resolve(data.result);
  }

  /** @param {string} why */
  #failed(why) {
    for (const id of [...this.#waiting.keys()]) {
      const { fn, reject } = /** @type {Waiting} */ (this.#take(id));
      reject(fn === "boot" ? new WasmLoadError(why) : new PluginCallError(fn, why));
    }
    this.end("the vault's worker stopped: open the vault again");
    this.#onEvent({ type: "failed" });
  }

  /** @param {number} id */
  #overdue(id) {
    const waiting = this.#take(id);
    waiting?.reject(new PluginCallError(waiting.fn, `no answer within ${LONGEST_CALL_MS} ms`));
  }

  /** @param {number} id */
  #take(id) {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    clearTimeout(waiting?.timer);
    return waiting;
  }
}

/** @param {WorkerError} error */
function errorOf({ name, functionName, message, code }) {
  if (name === "StorageError") return new StorageError(message);
  if (name === "WasmLoadError") return new WasmLoadError(message);
  return new PluginCallError(functionName, message, code);
}

/** @param {Record<string, any>} args */
function present(args) {
  return Object.fromEntries(Object.entries(args).filter(([, value]) => value !== undefined && value !== null));
}

/**
 * Returns an address on the page's own origin, as workers require. For a script from another origin, returns the
 * address of a blob that imports the script.
 *
 * @param {import("../trusted.js").ScriptAddress} address
 */
function ownOrigin(address) {
  const url = new URL(String(address), location.href);
  if (url.origin === location.origin || url.protocol === "blob:") return address;
  const source = `import ${JSON.stringify(url.href)};`;
  const blob = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  passScript(blob);
  return blob;
}
