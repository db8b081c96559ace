/** Written by `tools/browser_client.py` from `src/holdfast/wire/endpoints.py`; not edited by hand. */

/** @typedef {import("./types.js").Endpoint} Endpoint */

/** A method for each endpoint whose declaration says all that a client needs. */
export class EndpointMethods {
  /**
   * Sends one request. Overridden by the service client.
   *
   * @protected
   * @param {Endpoint} _endpoint
   * @param {object} [_asked] fields of the query or of the JSON body
   * @returns {Promise<any>}
   */
  async _call(_endpoint, _asked) {
    throw new TypeError("_call: not implemented");
  }

  /**
   * The enclave, a WebAssembly module: GET /enclave.wasm.
   *
   * @returns {Promise<ArrayBuffer>}
   */
  enclaveWasm() {
    return this._call({ method: "GET", path: "/enclave.wasm", reads: "bytes" });
  }

  /**
   * The default contract set: GET /api/contracts.
   *
   * @returns {Promise<import("./types.js").ContractSet>}
   */
  contracts() {
    return this._call({ method: "GET", path: "/api/contracts", reads: "json", form: "ContractSet" });
  }

  /**
   * Chain and database: GET /api/status.
   *
   * @returns {Promise<import("./types.js").Status>}
   */
  status() {
    return this._call({ method: "GET", path: "/api/status", reads: "json", form: "Status" });
  }

  /**
   * The chains that the service serves, with their endpoints: GET /api/chains.
   *
   * @returns {Promise<import("./types.js").ServedChains>}
   */
  chains() {
    return this._call({ method: "GET", path: "/api/chains", reads: "json", form: "ServedChains" });
  }

  /**
   * The counterfactual address of a P-256 key: GET /api/accounts/predict.
   *
   * @param {import("./types.js").PredictAddress} fields
   * @returns {Promise<import("./types.js").PredictedAddress>}
   * @throws {RequestRefused} rate_limited
   */
  predictAddress(fields) {
    return this._call({ method: "GET", path: "/api/accounts/predict", reads: "json", form: "PredictedAddress" }, fields);
  }

  /**
   * An account's state on the chain: GET /api/accounts/state.
   *
   * @param {import("./types.js").ReadAccount} fields
   * @returns {Promise<import("./types.js").AccountState>}
   * @throws {RequestRefused} rate_limited
   */
  accountState(fields) {
    return this._call({ method: "GET", path: "/api/accounts/state", reads: "json", form: "AccountState" }, fields);
  }

  /**
   * ETH or USDC of an address: GET /api/balance.
   *
   * @param {import("./types.js").ReadBalance} fields
   * @returns {Promise<import("./types.js").Balance>}
   * @throws {RequestRefused} rate_limited
   */
  balance(fields) {
    return this._call({ method: "GET", path: "/api/balance", reads: "json", form: "Balance" }, fields);
  }

  /**
   * Registration counters: GET /api/sessions/status.
   *
   * @returns {Promise<import("./types.js").RegistrationCounters>}
   */
  registrationCounters() {
    return this._call({ method: "GET", path: "/api/sessions/status", reads: "json", form: "RegistrationCounters" });
  }

  /**
   * The DID that a credential leads to: GET /api/dids/lookup.
   *
   * @param {import("./types.js").LookUpDid} fields
   * @returns {Promise<import("./types.js").DidRecord | import("./types.js").DidNotFound>}
   */
  lookupDid(fields) {
    return this._call({ method: "GET", path: "/api/dids/lookup", reads: "json", form: "DidRecord" }, fields);
  }

  /**
   * Whether an alias is free: GET /api/aliases/check.
   *
   * @param {import("./types.js").CheckAlias} fields
   * @returns {Promise<import("./types.js").AliasAvailability>}
   */
  checkAlias(fields) {
    return this._call({ method: "GET", path: "/api/aliases/check", reads: "json", form: "AliasAvailability" }, fields);
  }

  /**
   * Open a registration session: POST /api/sessions.
   *
   * @param {import("./types.js").OpenSession} fields
   * @returns {Promise<import("./types.js").SessionCreated>}
   * @throws {RequestRefused} identifier_reserved, identifier_taken, registration_closed, invitation_required, invitation_invalid, ip_limit_reached, body_too_large, request_timeout, idempotency_key_in_use, idempotency_key_reused, rate_limited
   */
  createSession(fields) {
    return this._call({ method: "POST", path: "/api/sessions", reads: "json", keyed: true, form: "SessionCreated" }, fields);
  }

  /**
   * Whether an identifier is free: GET /api/sessions/check.
   *
   * @param {import("./types.js").CheckSession} fields
   * @returns {Promise<import("./types.js").Availability>}
   */
  checkSession(fields) {
    return this._call({ method: "GET", path: "/api/sessions/check", reads: "json", form: "Availability" }, fields);
  }

  /**
   * Send a one-time code: POST /api/verify/send.
   *
   * @param {import("./types.js").SendCode} fields
   * @returns {Promise<import("./types.js").CodeSent>}
   * @throws {RequestRefused} rate_limited, body_too_large, request_timeout, idempotency_key_in_use, idempotency_key_reused
   */
  sendCode(fields) {
    return this._call({ method: "POST", path: "/api/verify/send", reads: "json", keyed: true, form: "CodeSent" }, fields);
  }

  /**
   * Check a one-time code: POST /api/verify/check.
   *
   * @param {import("./types.js").CheckCode} fields
   * @returns {Promise<import("./types.js").CodeAccepted | import("./types.js").CodeRefused>}
   * @throws {RequestRefused} rate_limited, body_too_large, request_timeout, idempotency_key_in_use, idempotency_key_reused
   */
  checkCode(fields) {
    return this._call({ method: "POST", path: "/api/verify/check", reads: "json", keyed: true, form: "CodeCheck" }, fields);
  }

  /**
   * Whether an identifier was verified: GET /api/verify/status.
   *
   * @param {import("./types.js").ReadVerification} fields
   * @returns {Promise<import("./types.js").VerificationStatus>}
   */
  verificationStatus(fields) {
    return this._call({ method: "GET", path: "/api/verify/status", reads: "json", form: "VerificationStatus" }, fields);
  }

  /**
   * The service's key as a guardian of accounts, and when it signs: GET /api/recovery.
   *
   * @returns {Promise<import("./types.js").RecoveryTerms>}
   */
  recoveryTerms() {
    return this._call({ method: "GET", path: "/api/recovery", reads: "json", form: "RecoveryTerms" });
  }

  /**
   * Ask the service to sign a recovery: it sends a code to an address of the DID: POST /api/recovery/send.
   *
   * @param {import("./types.js").AskRecovery} fields
   * @returns {Promise<import("./types.js").RecoveryCodeSent>}
   * @throws {RequestRefused} recovery_not_possible, rate_limited, body_too_large, request_timeout
   */
  askRecovery(fields) {
    return this._call({ method: "POST", path: "/api/recovery/send", reads: "json", form: "RecoveryCodeSent" }, fields);
  }

  /**
   * Check the code of a recovery; the waiting time then begins: POST /api/recovery/check.
   *
   * @param {import("./types.js").CheckRecovery} fields
   * @returns {Promise<import("./types.js").RecoveryConfirmed | import("./types.js").CodeRefused>}
   * @throws {RequestRefused} rate_limited, body_too_large, request_timeout
   */
  checkRecovery(fields) {
    return this._call({ method: "POST", path: "/api/recovery/check", reads: "json", form: "RecoveryCheck" }, fields);
  }

  /**
   * The service's signature under a recovery, after the waiting time: POST /api/recovery/sign.
   *
   * @param {import("./types.js").SignRecovery} fields
   * @returns {Promise<import("./types.js").RecoverySigned>}
   * @throws {RequestRefused} recovery_not_found, recovery_waits, recovery_not_possible, rate_limited, body_too_large, request_timeout
   */
  signRecovery(fields) {
    return this._call({ method: "POST", path: "/api/recovery/sign", reads: "json", form: "RecoverySigned" }, fields);
  }

  /**
   * Stop the service's help with a recovery, by the request's number from the mail: POST /api/recovery/stop.
   *
   * @param {import("./types.js").StopRecovery} fields
   * @returns {Promise<import("./types.js").RecoveryStopped>}
   * @throws {RequestRefused} rate_limited, body_too_large, request_timeout
   */
  stopRecovery(fields) {
    return this._call({ method: "POST", path: "/api/recovery/stop", reads: "json", form: "RecoveryStopped" }, fields);
  }

  /**
   * Register a DID: POST /api/dids.
   *
   * @param {import("./types.js").RegisterDid} fields
   * @returns {Promise<import("./types.js").DidRegistered>}
   * @throws {RequestRefused} rate_limited, attestation_required, attestation_invalid, attestation_mismatch, attestation_expired, attestation_used, registration_unproven, credential_already_registered, identifier_reserved, identifier_taken, registration_closed, invitation_required, invitation_invalid, ip_limit_reached, credential_limit_reached, body_too_large, request_timeout, idempotency_key_in_use, idempotency_key_reused
   */
  registerDid(fields) {
    return this._call({ method: "POST", path: "/api/dids", reads: "json", keyed: true, form: "DidRegistered" }, fields);
  }

  /**
   * The store reads and writes: GET /readyz.
   *
   * @returns {Promise<any>}
   */
  readyz() {
    return this._call({ method: "GET", path: "/readyz", reads: "json" });
  }
}
