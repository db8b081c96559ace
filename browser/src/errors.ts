/** The client's error classes, with the names, messages and prefixes that the interface documents. */

/** The base class of all errors that the client throws. */
export class ServiceError extends Error {
  /** @param options `cause`: the error that caused this one */
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "ServiceError";
  }
}

/** The enclave cannot be loaded or initialised. */
export class WasmLoadError extends ServiceError {
  /** @param message without the prefix */
  constructor(message: string, options?: ErrorOptions) {
    super(`WASM load failed: ${message}`, options);
    this.name = "WasmLoadError";
  }
}

/** A call into the enclave failed or returned no response. */
export class PluginCallError extends ServiceError {
  declare functionName: string;
  declare code: string | null;

  /**
   * @param functionName the operation
   * @param message without the prefix
   * @param code the enclave's stable error code; null if the call returned no response
   */
  constructor(functionName: string, message: string, code: string | null = null, options?: ErrorOptions) {
    super(`${functionName}: ${message}`, options);
    this.name = "PluginCallError";
    this.functionName = functionName;
    this.code = code;
  }
}

/** Why a move stopped. */
export type MoveCode =
  | "same_service"
  | "insecure_service"
  | "other_service"
  | "other_chain"
  | "other_contracts"
  | "not_registered"
  | "name_taken"
  | "no_proof"
  | "other_registration"
  | "other_copy"
  | "not_owner";

/** A move to another service stopped. The previous service still has the name, the passkeys and the vault's copy. */
export class MoveRefused extends ServiceError {
  declare code: MoveCode;

  constructor(code: MoveCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "MoveRefused";
    this.code = code;
  }
}

/** The service's account factory is not this release's. Its code decides which key its accounts obey. */
export class ForeignContracts extends ServiceError {
  constructor(factory: string) {
    super(
      `the service's account factory ${factory} is not the one of this release: an account that it creates may obey ` +
        "another key than yours",
    );
    this.name = "ForeignContracts";
  }
}

/** The client was used before it was initialised, or after it was closed. */
export class ClientStateError extends ServiceError {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "ClientStateError";
  }
}

/**
 * Why a ceremony failed. Browsers do not distinguish a person's refusal from a missing passkey: both are "cancelled".
 */
export type WebAuthnReason =
  | "unsupported"
  | "cancelled"
  | "timed_out"
  | "aborted"
  | "excluded"
  | "no_algorithm"
  | "wrong_origin"
  | "no_focus"
  | "busy"
  | "no_prf"
  | "failed";

/** The browser is not supported, the person cancelled, or the authenticator is incompatible. */
export class WebAuthnError extends ServiceError {
  declare reason: WebAuthnReason;

  /**
   * @param reason for programs; the message is for people
   * @param options `cause`: the browser's DOMException
   */
  constructor(message: string, reason: WebAuthnReason = "failed", options?: ErrorOptions) {
    super(message, options);
    this.name = "WebAuthnError";
    this.reason = reason;
  }
}

/** A request to the service, the indexer or the chain failed. */
export class NetworkError extends ServiceError {
  /** @param message without the prefix */
  constructor(message: string, options?: ErrorOptions) {
    super(`Network: ${message}`, options);
    this.name = "NetworkError";
  }
}

/**
 * The service refused a request. `code` is the body's `error`, or `http_<status>` without one; of a pinning service, its
 * `error.reason`, and `details` is its sentence, or null.
 */
export class RequestRefused extends NetworkError {
  declare code: string;
  declare status: number;
  declare retryAfter: number | null;
  declare requestId: string | null;
  declare details: string | null;

  /**
   * @param status HTTP status
   * @param more `retryAfter` in seconds
   */
  constructor(
    code: string,
    status: number,
    {
      retryAfter = null,
      requestId = null,
      details = null,
    }: { retryAfter?: number | null; requestId?: string | null; details?: string | null } = {},
  ) {
    super(details ? `${code} (${status}): ${details}` : `${code} (${status})`);
    this.code = code;
    this.status = status;
    this.retryAfter = retryAfter;
    this.requestId = requestId;
    this.details = details;
  }
}

/** An operation of the browser's storage failed. */
export class StorageError extends ServiceError {
  /** @param message without the prefix */
  constructor(message: string, options?: ErrorOptions) {
    super(`Storage: ${message}`, options);
    this.name = "StorageError";
  }
}

/** The registration was abandoned: the correct code was not entered, or the passkey belongs to a different DID. */
export class RegistrationRefused extends ServiceError {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "RegistrationRefused";
  }
}

type ErrorKind = new (...given: never[]) => Error;

/** Returns a handler of rejections that returns `value` instead of errors of this kind, and throws all others. */
export function insteadOf<T>(kinds: ErrorKind | ErrorKind[], value: T): (error: unknown) => T {
  return (error) => {
    if ([kinds].flat().some((kind) => error instanceof kind)) return value;
    throw error;
  };
}

/** Returns a stranger's text without characters that are not shown, or move others. */
export const printable = (text: string) => text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, "\ufffd");
