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

export type { VaultKey } from "./passkeys/secrets.ts";
export type { AccountDid, RegisteredAlias, RegisteredDid } from "./account/did.ts";
export type { AccountKeys, AccountView } from "./account/keys.ts";
export type { Change as AccountChange, SignedChanges } from "./account/changes.ts";

export { AccountNotFunded, GasTooDear, OperationFailed, PaymentRefused, SecondKeyMissing } from "./chain/errors.ts";
export { Client } from "./client.ts";
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
} from "./errors.ts";
export { getAccountState, getSmartAccountAddress } from "./chain/lookups.ts";
export { RpcError } from "./http/json_rpc.ts";
export { ServiceClient } from "./http/service.ts";
export { createPasskey } from "./passkeys/create.ts";
export {
  getDeviceCapabilities,
  signalAllAcceptedCredentials,
  signalCurrentUserDetails,
  signalUnknownCredential,
} from "./passkeys/platform.ts";
export { keyId, passkeyKey, usePasskey } from "./passkeys/use.ts";
export { registerPaymentHandler } from "./payment/handler.ts";
export { scriptAddress } from "./trusted.ts";
export { generateResult } from "./vault/result.ts";
export { VaultStore } from "./vault/store.ts";
export { Vault } from "./vault/vault.ts";
