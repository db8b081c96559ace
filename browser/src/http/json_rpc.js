/** Reads the responses of JSON-RPC 2.0 (sections 5 and 5.1), as the Python client's wire/json_rpc.py does. */

import { NetworkError, printable } from "../errors.js";

const LONGEST_MESSAGE = 500;

/** A bundler or a chain's endpoint refuses a request. */
export class RpcError extends NetworkError {
  /** @param {{code?: number, message?: unknown, data?: unknown}} error */
  constructor(error) {
    const said = typeof error.message === "string" ? error.message : "the request was refused";
    super(printable(said.slice(0, LONGEST_MESSAGE)));
    this.code = error.code ?? 0;
    this.data = error.data ?? null;
  }
}

/**
 * @param {any} answer
 * @param {number} id the ID of the request
 * @param {string} [message] replaces the server's message if it refuses
 * @returns {any} the result
 * @throws {RpcError} the answer is an error with a code
 * @throws {NetworkError} it is anything else
 */
export function resultOf(answer, id, message) {
  const error = answer?.error ?? null;
  if (Number.isInteger(error?.code)) throw new RpcError({ ...error, ...(message && { message }) });
  if (error !== null || answer?.jsonrpc !== "2.0" || answer.id !== id || answer.result === undefined)
    throw new NetworkError("the answer is not a JSON-RPC response");
  return answer.result;
}
