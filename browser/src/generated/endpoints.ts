/** Written by `tools/browser_client.py` from `src/holdfast/wire/endpoints.py`; not edited by hand. */

import type * as types from "./types.ts";

/** A method for each endpoint whose declaration says all that a client needs. */
export class EndpointMethods {
  /**
   * Sends one request. Overridden by the service client.
   *
   * @param _asked fields of the query or of the JSON body
   * @returns `T` is what the endpoint's `form` says
   */
  protected async _call<T>(_endpoint: types.Endpoint, _asked?: object): Promise<T> {
    throw new TypeError("_call: not implemented");
  }

  /** The enclave, a WebAssembly module: GET /enclave.wasm. */
  enclaveWasm(): Promise<ArrayBuffer> {
    return this._call({ method: "GET", path: "/enclave.wasm", reads: "bytes" });
  }

  /** The default contract set: GET /api/contracts. */
  contracts(): Promise<types.ContractSet> {
    return this._call({ method: "GET", path: "/api/contracts", reads: "json", form: "ContractSet" });
  }

  /** Chain and database: GET /api/status. */
  status(): Promise<types.Status> {
    return this._call({ method: "GET", path: "/api/status", reads: "json", form: "Status" });
  }

  /** The chains that the service serves, with their endpoints: GET /api/chains. */
  chains(): Promise<types.ServedChains> {
    return this._call({ method: "GET", path: "/api/chains", reads: "json", form: "ServedChains" });
  }

  /**
   * The counterfactual address of a P-256 key: GET /api/accounts/predict.
   *
   * @throws {RequestRefused} rate_limited
   */
  predictAddress(fields: types.PredictAddress): Promise<types.PredictedAddress> {
    return this._call({ method: "GET", path: "/api/accounts/predict", reads: "json", form: "PredictedAddress" }, fields);
  }

  /**
   * An account's state on the chain: GET /api/accounts/state.
   *
   * @throws {RequestRefused} rate_limited
   */
  accountState(fields: types.ReadAccount): Promise<types.AccountState> {
    return this._call({ method: "GET", path: "/api/accounts/state", reads: "json", form: "AccountState" }, fields);
  }

  /**
   * ETH or USDC of an address: GET /api/balance.
   *
   * @throws {RequestRefused} rate_limited
   */
  balance(fields: types.ReadBalance): Promise<types.Balance> {
    return this._call({ method: "GET", path: "/api/balance", reads: "json", form: "Balance" }, fields);
  }

  /** Registration counters: GET /api/sessions/status. */
  registrationCounters(): Promise<types.RegistrationCounters> {
    return this._call({ method: "GET", path: "/api/sessions/status", reads: "json", form: "RegistrationCounters" });
  }

  /** The DID that a credential leads to: GET /api/dids/lookup. */
  lookupDid(fields: types.LookUpDid): Promise<types.DidRecord | types.DidNotFound> {
    return this._call({ method: "GET", path: "/api/dids/lookup", reads: "json", form: "DidRecord" }, fields);
  }

  /** Whether an alias is free: GET /api/aliases/check. */
  checkAlias(fields: types.CheckAlias): Promise<types.AliasAvailability> {
    return this._call({ method: "GET", path: "/api/aliases/check", reads: "json", form: "AliasAvailability" }, fields);
  }

  /**
   * Open a registration session: POST /api/sessions.
   *
   * @throws {RequestRefused} identifier_reserved, identifier_taken, registration_closed, invitation_required, invitation_invalid, ip_limit_reached, body_too_large, request_timeout, idempotency_key_in_use, idempotency_key_reused, rate_limited
   */
  createSession(fields: types.OpenSession): Promise<types.SessionCreated> {
    return this._call({ method: "POST", path: "/api/sessions", reads: "json", keyed: true, form: "SessionCreated" }, fields);
  }

  /** Whether an identifier is free: GET /api/sessions/check. */
  checkSession(fields: types.CheckSession): Promise<types.Availability> {
    return this._call({ method: "GET", path: "/api/sessions/check", reads: "json", form: "Availability" }, fields);
  }

  /**
   * Send a one-time code: POST /api/verify/send.
   *
   * @throws {RequestRefused} rate_limited, body_too_large, request_timeout, idempotency_key_in_use, idempotency_key_reused
   */
  sendCode(fields: types.SendCode): Promise<types.CodeSent> {
    return this._call({ method: "POST", path: "/api/verify/send", reads: "json", keyed: true, form: "CodeSent" }, fields);
  }

  /**
   * Check a one-time code: POST /api/verify/check.
   *
   * @throws {RequestRefused} rate_limited, body_too_large, request_timeout, idempotency_key_in_use, idempotency_key_reused
   */
  checkCode(fields: types.CheckCode): Promise<types.CodeAccepted | types.CodeRefused> {
    return this._call({ method: "POST", path: "/api/verify/check", reads: "json", keyed: true, form: "CodeCheck" }, fields);
  }

  /** Whether an identifier was verified: GET /api/verify/status. */
  verificationStatus(fields: types.ReadVerification): Promise<types.VerificationStatus> {
    return this._call({ method: "GET", path: "/api/verify/status", reads: "json", form: "VerificationStatus" }, fields);
  }

  /** The service's key as a guardian of accounts, and when it signs: GET /api/recovery. */
  recoveryTerms(): Promise<types.RecoveryTerms> {
    return this._call({ method: "GET", path: "/api/recovery", reads: "json", form: "RecoveryTerms" });
  }

  /**
   * Ask the service to sign a recovery: it sends a code to an address of the DID: POST /api/recovery/send.
   *
   * @throws {RequestRefused} recovery_not_possible, rate_limited, body_too_large, request_timeout
   */
  askRecovery(fields: types.AskRecovery): Promise<types.RecoveryCodeSent> {
    return this._call({ method: "POST", path: "/api/recovery/send", reads: "json", form: "RecoveryCodeSent" }, fields);
  }

  /**
   * Check the code of a recovery; the waiting time then begins: POST /api/recovery/check.
   *
   * @throws {RequestRefused} rate_limited, body_too_large, request_timeout
   */
  checkRecovery(fields: types.CheckRecovery): Promise<types.RecoveryConfirmed | types.CodeRefused> {
    return this._call({ method: "POST", path: "/api/recovery/check", reads: "json", form: "RecoveryCheck" }, fields);
  }

  /**
   * The service's signature under a recovery, after the waiting time: POST /api/recovery/sign.
   *
   * @throws {RequestRefused} recovery_not_found, recovery_waits, recovery_not_possible, rate_limited, body_too_large, request_timeout
   */
  signRecovery(fields: types.SignRecovery): Promise<types.RecoverySigned> {
    return this._call({ method: "POST", path: "/api/recovery/sign", reads: "json", form: "RecoverySigned" }, fields);
  }

  /**
   * Stop the service's help with a recovery, by the request's number from the mail: POST /api/recovery/stop.
   *
   * @throws {RequestRefused} rate_limited, body_too_large, request_timeout
   */
  stopRecovery(fields: types.StopRecovery): Promise<types.RecoveryStopped> {
    return this._call({ method: "POST", path: "/api/recovery/stop", reads: "json", form: "RecoveryStopped" }, fields);
  }

  /**
   * Register a DID: POST /api/dids.
   *
   * @throws {RequestRefused} rate_limited, attestation_required, attestation_invalid, attestation_mismatch, attestation_expired, attestation_used, registration_unproven, credential_already_registered, identifier_reserved, identifier_taken, registration_closed, invitation_required, invitation_invalid, ip_limit_reached, credential_limit_reached, body_too_large, request_timeout, idempotency_key_in_use, idempotency_key_reused
   */
  registerDid(fields: types.RegisterDid): Promise<types.DidRegistered> {
    return this._call({ method: "POST", path: "/api/dids", reads: "json", keyed: true, form: "DidRegistered" }, fields);
  }

  /** The store reads and writes: GET /readyz. */
  readyz(): Promise<unknown> {
    return this._call({ method: "GET", path: "/readyz", reads: "json" });
  }
}
