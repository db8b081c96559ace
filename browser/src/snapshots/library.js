/**
 * Collects in one place what the snapshot modules import from the client, so that the built module shares the client's
 * file.
 */

export {
  ClientStateError,
  NetworkError,
  PluginCallError,
  RequestRefused,
  ServiceError,
  StorageError,
  Vault,
  VaultStore,
  WebAuthnError,
  passkeyKey,
  usePasskey,
} from "../holdfast.js";

/**
 * @typedef {import("../client.js").Client} Client
 * @typedef {import("../holdfast.js").VaultKey} VaultKey
 * @typedef {import("../passkeys/use.js").UsedPasskey} UsedPasskey
 * @typedef {import("../generated/types.js").PinInfo} PinInfo
 * @typedef {import("../generated/types.js").PinRequest} PinRequest
 */
