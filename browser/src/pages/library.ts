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
} from "../holdfast.ts";
export { isStale } from "../chain/errors.ts";
export { feeIn } from "../chain/fees.ts";
export { checkedAddress } from "../chain/addresses.ts";
export { checksumAddress, textHash } from "../chain/names.ts";
export { NATIVE } from "../chain/native.ts";
export { hasExpired } from "../chain/owners.ts";
export { accountAddress } from "../flows/contracts.ts";
export { serviceAddress } from "../flows/move_target.ts";
export { payeeOf } from "../flows/payee.ts";
export { preparedPayment } from "../flows/pay.ts";
export { withStore } from "../vault/store.ts";
export { endWaiting as endWaitingPasskeys } from "../passkeys/ceremony.ts";

/** Loads the pairing module when a pairing begins. */
export const pairing = () => import("../pairing/pairing.ts");

/** Loads the snapshots' module, which reads sealed vaults. */
export const snapshots = () => import("../snapshots/main.ts");
