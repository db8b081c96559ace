/** Reads the responses of JSON-RPC 2.0 (sections 5 and 5.1), as the Python client's wire/json_rpc.py does. */

import { NetworkError, printable } from "../errors.ts";
import type { Foreign } from "./http.ts";

const LONGEST_MESSAGE = 500;

/** A bundler or a chain's endpoint refuses a request. */
export class RpcError extends NetworkError {
  declare code: number;
  declare data: {} | null;

  constructor(error: { code?: number; message?: unknown; data?: unknown }) {
    const said = typeof error.message === "string" ? error.message : "the request was refused";
    super(printable(said.slice(0, LONGEST_MESSAGE)));
    this.code = error.code ?? 0;
    this.data = error.data ?? null;
  }
}

/**
 * @param id the ID of the request
 * @param message replaces the server's message if it refuses
 * @returns the result
 * @throws {RpcError} the answer is an error with a code
 * @throws {NetworkError} it is anything else
 */
export function resultOf(answer: Foreign, id: number, message?: string): unknown {
  const error = (answer?.error ?? null) as Foreign;
  if (Number.isInteger(error?.code)) throw new RpcError({ ...error, ...(message && { message }) });
  if (error !== null || answer?.jsonrpc !== "2.0" || answer.id !== id || answer.result === undefined)
    throw new NetworkError("the answer is not a JSON-RPC response");
  return answer.result;
}
