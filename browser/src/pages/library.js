/** Collects in one place what the pages import from the client, so that built pages share the client's file. */

export {
  AccountNotFunded,
  Client,
  ClientStateError,
  MoveRefused,
  NetworkError,
  OperationFailed,
  PaymentRefused,
  PluginCallError,
  RegistrationRefused,
  RequestRefused,
  SecondKeyMissing,
  StorageError,
  Vault,
  WasmLoadError,
  WebAuthnError,
  createPasskey,
  getDeviceCapabilities,
  keyId,
  passkeyKey,
  signalUnknownCredential,
  usePasskey,
} from "../holdfast.js";
export { feeIn } from "../chain/fees.js";
export { checksumAddress, textHash } from "../chain/names.js";
export { NATIVE } from "../chain/native.js";
export { hasExpired } from "../chain/owners.js";
export { accountAddress } from "../flows/contracts.js";
export { serviceAddress } from "../flows/move_target.js";
export { payeeOf } from "../flows/payee.js";
export { preparedPayment } from "../flows/pay.js";
export { withStore } from "../vault/store.js";
export { endWaiting as endWaitingPasskeys } from "../passkeys/ceremony.js";

/** Loads the pairing module when a pairing begins. */
export const pairing = () => import("../pairing/pairing.js");

/**
 * @typedef {import("../holdfast.js").AccountChange} AccountChange
 * @typedef {import("../holdfast.js").AccountDid} AccountDid
 * @typedef {import("../holdfast.js").AccountView} AccountView
 * @typedef {import("../holdfast.js").RegisteredDid} RegisteredDid
 * @typedef {import("../holdfast.js").VaultKey} VaultKey
 * @typedef {import("../flows/move.js").MadePasskey} MadePasskey
 * @typedef {import("../generated/types.js").Credential} Credential
 * @typedef {import("../generated/types.js").DidRecord} DidRecord
 * @typedef {import("../generated/types.js").PaymentResult} PaymentResult
 * @typedef {import("../generated/types.js").UserOp} UserOp
 */
