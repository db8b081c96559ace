/** The page's side of the connection to the worker, which exchanges requests, responses and errors. */

import { ClientStateError, PluginCallError, StorageError, WasmLoadError } from "../errors.ts";
import { passScript, scriptAddress, type ScriptAddress } from "../trusted.ts";
import type { Reply, VaultEvent, WorkerError } from "./protocol.ts";

/** The time limit of a call, which is generous because Argon2id takes seconds on a slow phone. */
const LONGEST_CALL_MS = 120000;

type PortEvent = VaultEvent | { type: "failed"; why?: undefined };

type Waiting = {
  resolve: (result: unknown) => void;
  reject: (error: Error) => void;
  fn: string;
  timer: ReturnType<typeof setTimeout>;
};

/** One worker. */
export class WorkerPort {
  #worker;
  #count = 0;
  #waiting: Map<number | null, Waiting> = new Map();
  #ended = "";
  #onEvent;

  /**
   * @param address of worker.js
   * @param onEvent called with the worker's notifications
   */
  constructor(address: ScriptAddress, onEvent: (event: PortEvent) => void) {
    this.#onEvent = onEvent;
    this.#worker = new Worker(scriptAddress(ownOrigin(address)), { type: "module", name: "holdfast" });
    this.#worker.onmessage = ({ data }) => this.#received(data);
    this.#worker.onerror = (event) => this.#failed(event.message || "the worker's script could not be loaded");
    this.#worker.onmessageerror = () => this.#failed("the worker's answer could not be read");
  }

  /**
   * Calls a function of the worker and returns its result.
   *
   * @param args absent fields may be undefined
   * @param transfer buffers to transfer
   */
  call(fn: string, args: object = {}, transfer: Transferable[] = []): Promise<unknown> {
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
   * @param why the error message of later calls
   */
  end(why: string) {
    if (this.#ended) return;
    this.#ended = why;
    this.#worker.terminate();
    for (const id of [...this.#waiting.keys()]) this.#take(id)?.reject(new ClientStateError(why));
  }

  #received(data: Reply | { event: VaultEvent }) {
    if ("event" in data) return this.#onEvent(data.event);
    const waiting = this.#take(data.id);
    if (!waiting) return;
    if (data.error) waiting.reject(errorOf(data.error));
    else waiting.resolve(data.result);
  }

  #failed(why: string) {
    for (const id of [...this.#waiting.keys()]) {
      const { fn, reject } = this.#take(id) as Waiting;
      reject(fn === "boot" ? new WasmLoadError(why) : new PluginCallError(fn, why));
    }
    this.end("the vault's worker stopped: open the vault again");
    this.#onEvent({ type: "failed" });
  }

  #overdue(id: number) {
    const waiting = this.#take(id);
    waiting?.reject(new PluginCallError(waiting.fn, `no answer within ${LONGEST_CALL_MS} ms`));
  }

  #take(id: number | null) {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    clearTimeout(waiting?.timer);
    return waiting;
  }
}

function errorOf({ name, functionName = "worker", message, code }: WorkerError) {
  if (name === "StorageError") return new StorageError(message);
  if (name === "WasmLoadError") return new WasmLoadError(message);
  return new PluginCallError(functionName, message, code);
}

function present(args: object) {
  return Object.fromEntries(Object.entries(args).filter(([, value]) => value !== undefined && value !== null));
}

/**
 * Returns an address on the page's own origin, as workers require. For a script from another origin, returns the
 * address of a blob that imports the script.
 */
function ownOrigin(address: ScriptAddress) {
  const url = new URL(String(address), location.href);
  if (url.origin === location.origin || url.protocol === "blob:") return address;
  const source = `import ${JSON.stringify(url.href)};`;
  const blob = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  passScript(blob);
  return blob;
}
