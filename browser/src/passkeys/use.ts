/** Uses passkeys: with a prompt, or by waiting for the browser's autofill. */

import { fromBase64, randomBytes, toBase64url } from "../bytes.ts";
import { WebAuthnError } from "../errors.ts";
import type { CreatePasskeyResult } from "../generated/types.ts";
import { ownAddress } from "../http/service.ts";
import { ceremony } from "./ceremony.ts";
import { DEFAULT_TIMEOUT_MS, serialised } from "./create.ts";
import { keepSecret, prfExtension, takeKey, takeResult, type VaultKey, withoutPrf } from "./secrets.ts";

/** The maximum length of a key's name in a sealed vault, in characters (docs/formats.md). */
const LONGEST_ID = 128;

export interface UseOptions {
  /** by default the service's host */ rpId?: string;
  /** base64url; by default any passkey of this relying party */ credentialIds?: string[];
  /** by default 32 random bytes */ challenge?: BufferSource;
  /** "conditional": waits for the browser's autofill */ mediation?: "conditional" | "optional";
  hints?: string[];
  /** milliseconds; 60000 by default */ timeout?: number;
  signal?: AbortSignal;
}

export interface UsedPasskey {
  /** base64url */ credentialId: string;
  /** base64url */ userHandle: string | null;
  /** base64 of the assertion's JSON, without any secret */ assertion: string;
  /** which kind of authenticator was used */ attachment: "platform" | "cross-platform" | null;
  /** whether `passkeyKey` returns a vault key without another prompt */ hasKey: boolean;
}

/**
 * Requests an assertion with user verification, because the authenticator's PRF secret differs without it.
 *
 * @throws {WebAuthnError}
 */
export async function usePasskey(options: UseOptions = {}): Promise<UsedPasskey> {
  const timeout = options.timeout ?? DEFAULT_TIMEOUT_MS;
  const conditional = options.mediation === "conditional";
  // Autofill waits until the person uses the field, so no timeout applies.
  const run = (signal: AbortSignal) => got(options, timeout, signal);
  const used = await ceremony({ timeout: conditional ? Infinity : timeout, signal: options.signal, conditional, run });
  const secret = takeResult(used.getClientExtensionResults());
  const { userHandle } = used.response as AuthenticatorAssertionResponse;
  const result = {
    credentialId: used.id,
    userHandle: userHandle ? toBase64url(userHandle) : null,
    assertion: serialised(used),
    attachment: (used.authenticatorAttachment ?? null) as UsedPasskey["attachment"],
    hasKey: secret !== null,
  };
  keepSecret(result, used.id, secret);
  return result;
}

/**
 * Returns the key that opens a vault, from the result of `createPasskey` or `usePasskey`. If creating the passkey
 * returned no PRF secret, as in Firefox, the person is prompted once more.
 *
 * @param options for that second prompt
 * @returns works only once
 * @throws {WebAuthnError} `reason` "no_prf": the passkey cannot open a vault; a password is needed
 */
export async function passkeyKey(
  passkey: CreatePasskeyResult | UsedPasskey,
  options: UseOptions = {},
): Promise<VaultKey> {
  const key = takeKey(passkey) ?? takeKey(await usePasskey({ ...options, credentialIds: [passkey.credentialId] }));
  if (!key) throw withoutPrf();
  return { ...key, id: await keyId(passkey.credentialId) };
}

/**
 * Returns the name of a passkey's key among the vault's keys: its credential ID or, if that is too long, `sha256:` and
 * the hash of the ID.
 *
 * @param credentialId base64url
 */
export async function keyId(credentialId: string): Promise<string> {
  if (credentialId.length <= LONGEST_ID) return credentialId;
  return `sha256:${toBase64url(await crypto.subtle.digest("SHA-256", fromBase64(credentialId)))}`;
}

async function got(options: UseOptions, timeout: number, signal: AbortSignal): Promise<PublicKeyCredential> {
  const publicKey = requestOptions(options, timeout);
  const mediation = (options.mediation ?? "optional") as CredentialMediationRequirement;
  const used = await navigator.credentials.get({ publicKey, signal, mediation });
  if (!used) throw new WebAuthnError("the browser returned no passkey", "failed");
  return used as PublicKeyCredential;
}

function requestOptions(options: UseOptions, timeout: number): PublicKeyCredentialRequestOptions {
  return {
    challenge: options.challenge ?? randomBytes(32),
    rpId: options.rpId ?? new URL(ownAddress()).hostname,
    allowCredentials: (options.credentialIds ?? []).map((id) => ({ type: "public-key", id: fromBase64(id) })),
    userVerification: "required",
    timeout,
    extensions: prfExtension(),
    ...(options.hints && { hints: options.hints }),
  };
}
