/** Collects in one place what the snapshot modules import from the client. */

export {
  ClientStateError,
  MoveRefused,
  NetworkError,
  PluginCallError,
  RequestRefused,
  ServiceError,
  StorageError,
  WebAuthnError,
} from "../errors.js";
export { passkeyKey, usePasskey } from "../passkeys/use.js";
export { VaultStore } from "../vault/store.js";
export { Vault } from "../vault/vault.js";

/**
 * @typedef {import("../client.js").Client} Client
 * @typedef {import("../holdfast.js").VaultKey} VaultKey
 * @typedef {import("../passkeys/use.js").UsedPasskey} UsedPasskey
 * @typedef {import("../generated/types.js").PinInfo} PinInfo
 * @typedef {import("../generated/types.js").PinRequest} PinRequest
 */
