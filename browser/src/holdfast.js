/**
 * Holdfast in a browser: passkeys, the vault, the service.
 *
 *     import { Client, passkeyKey } from "https://vault.example/client/holdfast.js";
 *     const client = new Client();
 *     await client.boot();
 *     const passkey = await client.createPasskey({ userName: "alice" });
 *     await client.vault.generate({ credential: passkey.credential }, await passkeyKey(passkey));
 *     await client.register({ handle: "alice" });
 */

export { AccountNotFunded, GasTooDear, OperationFailed, PaymentRefused, SecondKeyMissing } from "./chain/errors.js";
export { Client } from "./client.js";
export {
  ClientStateError,
  ForeignContracts,
  MoveRefused,
  NetworkError,
  PluginCallError,
  RegistrationRefused,
  RequestRefused,
  ServiceError,
  StorageError,
  WasmLoadError,
  WebAuthnError,
} from "./errors.js";
export { getAccountState, getSmartAccountAddress } from "./chain/lookups.js";
export { RpcError } from "./http/json_rpc.js";
export { ServiceClient } from "./http/service.js";
export { createPasskey } from "./passkeys/create.js";
export {
  getDeviceCapabilities,
  signalAllAcceptedCredentials,
  signalCurrentUserDetails,
  signalUnknownCredential,
} from "./passkeys/platform.js";
export { keyId, passkeyKey, usePasskey } from "./passkeys/use.js";
export { registerPaymentHandler } from "./payment/handler.js";
export { scriptAddress } from "./trusted.js";
export { generateResult } from "./vault/result.js";
export { VaultStore } from "./vault/store.js";
export { Vault } from "./vault/vault.js";

/**
 * @typedef {import("./passkeys/secrets.js").VaultKey} VaultKey
 * @typedef {import("./account/did.js").AccountDid} AccountDid
 * @typedef {import("./account/did.js").RegisteredAlias} RegisteredAlias
 * @typedef {import("./account/did.js").RegisteredDid} RegisteredDid
 * @typedef {import("./account/keys.js").AccountKeys} AccountKeys
 * @typedef {import("./account/keys.js").AccountView} AccountView
 * @typedef {import("./account/changes.js").Change} AccountChange
 * @typedef {import("./account/changes.js").SignedChanges} SignedChanges
 */
