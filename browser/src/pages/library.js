/** What the pages take from the client: one import, so that a built page shares the client's file with other users of it. */

export {
  Client,
  ClientStateError,
  NetworkError,
  NATIVE,
  OperationFailed,
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
  keyId,
  passkeyKey,
  signalUnknownCredential,
  usePasskey,
} from "../holdfast.js";

/**
 * @typedef {import("../holdfast.js").VaultKey} VaultKey
 * @typedef {import("../generated/types.js").Credential} Credential
 * @typedef {import("../generated/types.js").DidRecord} DidRecord
 */
