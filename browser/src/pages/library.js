/** Collects in one place what the pages import from the client, so that built pages share the client's file. */

export {
  AccountNotFunded,
  Client,
  ClientStateError,
  NetworkError,
  NATIVE,
  OperationFailed,
  PaymentRefused,
  PluginCallError,
  RegistrationRefused,
  RequestRefused,
  StorageError,
  Vault,
  VaultStore,
  WasmLoadError,
  WebAuthnError,
  checksumAddress,
  endWaitingPasskeys,
  getDeviceCapabilities,
  feeIn,
  keyId,
  passkeyKey,
  payeeOf,
  preparedPayment,
  signalUnknownCredential,
  textHash,
  usePasskey,
} from "../holdfast.js";

/** Loads the pairing module when a pairing begins. */
export const pairing = () => import("../pairing/pairing.js");

/**
 * @typedef {import("../holdfast.js").VaultKey} VaultKey
 * @typedef {import("../generated/types.js").Credential} Credential
 * @typedef {import("../generated/types.js").DidRecord} DidRecord
 * @typedef {import("../generated/types.js").PaymentResult} PaymentResult
 * @typedef {import("../generated/types.js").UserOp} UserOp
 */
