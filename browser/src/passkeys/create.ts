/** Creates passkeys. */

import { randomBytes, toBase64, toBase64url } from "../bytes.ts";
import { WebAuthnError } from "../errors.ts";
import type { CreatePasskeyOptions, CreatePasskeyResult } from "../generated/types.ts";
import { ownAddress } from "../http/service.ts";
import { ceremony } from "./ceremony.ts";
import { keepSecret, prfExtension, takeResult } from "./secrets.ts";

/** The relying party's display name and the timeout in milliseconds that the interface sets by default. */
export const DEFAULT_RP_NAME = "Holdfast";
export const DEFAULT_TIMEOUT_MS = 60000;
/** The COSE algorithms that the enclave verifies: ES256, EdDSA and RS256. */
export const ALGORITHMS = [-7, -8, -257];

/**
 * The options that the interface documents, plus some that the pages need. `userName`: what the device shows;
 * `userHandle`: at most 64 bytes, by default 32 random ones; `hints`: "client-device", "security-key", "hybrid", by
 * preference
 */
export type PasskeyOptions = CreatePasskeyOptions & {
  userName?: string;
  userDisplayName?: string;
  userHandle?: BufferSource;
  hints?: string[];
  authenticatorAttachment?: "platform" | "cross-platform";
  algorithms?: number[];
  signal?: AbortSignal;
};

/**
 * Creates a discoverable passkey with user verification. `passkeyKey(result)` returns its vault key, if it has one.
 *
 * @returns `credential`: base64 of the credential's JSON, without any secret
 * @throws {WebAuthnError} `reason` says why
 */
export async function createPasskey(options: PasskeyOptions = {}): Promise<CreatePasskeyResult> {
  const timeout = options.timeout ?? DEFAULT_TIMEOUT_MS;
  const made = await ceremony({ timeout, signal: options.signal, run: (signal) => created(options, timeout, signal) });
  const secret = takeResult(made.getClientExtensionResults());
  checkAlgorithm(made, options.algorithms ?? ALGORITHMS);
  const result = { credential: serialised(made), credentialId: made.id };
  keepSecret(result, made.id, secret);
  return result;
}

async function created(options: PasskeyOptions, timeout: number, signal: AbortSignal): Promise<PublicKeyCredential> {
  const started = performance.now();
  try {
    return await requested(options, timeout, signal, prfExtension());
  } catch (error) {
    // Some systems fail whenever PRF is requested, so retry without it within the same time limit.
    const left = timeout - (performance.now() - started);
    if (!(error instanceof DOMException) || error.name !== "UnknownError" || left <= 0) throw error;
    return requested(options, left, signal, {});
  }
}

async function requested(options: PasskeyOptions, timeout: number, signal: AbortSignal, extensions: object) {
  const publicKey = creationOptions(options, timeout, extensions);
  const made = await navigator.credentials.create({ publicKey, signal });
  if (!made) throw new WebAuthnError("the browser created no passkey", "failed");
  return made as PublicKeyCredential;
}

function creationOptions(
  options: PasskeyOptions,
  timeout: number,
  extensions: object,
): PublicKeyCredentialCreationOptions {
  const name = options.userName ?? options.rpName ?? DEFAULT_RP_NAME;
  return {
    rp: { id: options.rpId ?? new URL(ownAddress()).hostname, name: options.rpName ?? DEFAULT_RP_NAME },
    user: { id: options.userHandle ?? randomBytes(32), name, displayName: options.userDisplayName ?? name },
    challenge: randomBytes(32),
    pubKeyCredParams: (options.algorithms ?? ALGORITHMS).map((alg) => ({ type: "public-key", alg })),
    timeout,
    excludeCredentials: options.excludeCredentials ?? [],
    authenticatorSelection: {
      residentKey: "required",
      requireResidentKey: true,
      userVerification: "required",
      ...(options.authenticatorAttachment && { authenticatorAttachment: options.authenticatorAttachment }),
    },
    attestation: "none",
    extensions,
    ...(options.hints && { hints: options.hints }),
  } as PublicKeyCredentialCreationOptions;
}

function checkAlgorithm(made: PublicKeyCredential, algorithms: number[]) {
  const response = made.response as AuthenticatorAttestationResponse;
  const algorithm = response.getPublicKeyAlgorithm();
  if (algorithms.includes(algorithm) && ALGORITHMS.includes(algorithm)) return;
  throw new WebAuthnError(
    `the authenticator created a key with another algorithm (${algorithm}): use another one`,
    "no_algorithm",
  );
}

/**
 * Returns the credential in the enclave's form: base64 of its JSON (WebAuthn Level 3, `toJSON`) without extension
 * results.
 */
export function serialised(credential: PublicKeyCredential): string {
  const { id, rawId, type, authenticatorAttachment, response } = credential;
  const fields = { id, rawId: toBase64url(rawId), type, authenticatorAttachment, clientExtensionResults: {} };
  const json = JSON.stringify({ ...fields, response: responseFields(response) });
  return toBase64(new TextEncoder().encode(json));
}

/** @param response of either ceremony */
function responseFields(response: Partial<AuthenticatorAttestationResponse & AuthenticatorAssertionResponse>) {
  const fields: Record<string, unknown> = {};
  const binary = ["clientDataJSON", "attestationObject", "authenticatorData", "signature", "userHandle"] as const;
  for (const name of binary) {
    const bytes = response[name];
    if (bytes) fields[name] = toBase64url(bytes);
  }
  if (response.getTransports) fields.transports = response.getTransports();
  return fields;
}
