/**
 * Asks the person to confirm a payment with one of the vault's passkeys, which the enclave checks, or with the vault
 * password.
 */

import { usePasskey } from "../library.ts";
import { randomBytes, toBase64 } from "../../bytes.ts";
import { ProblemError, succeeded } from "../parts/problems.ts";
import { go } from "../parts/router.ts";
import { noteUse, ready } from "../parts/vault_client.ts";

/** Asks for one of the vault's passkeys. @throws {ProblemError} another passkey was used */
export async function byPasskey() {
  const { vault } = await ready();
  const { credentials } = await vault.query();
  const challenge = randomBytes(32);
  const credentialIds = credentials.map((it) => it.credential_id);
  const { assertion, credentialId } = await usePasskey({ challenge, credentialIds });
  const verification = { assertion, challenge: toBase64(challenge), origin: location.origin, rp_id: location.hostname };
  const { success, result } = await vault.exec("resource:credentials action:verify", verification);
  if (!success || !result?.valid) throw new ProblemError("problem.wrong_key");
  noteUse(credentialId);
}

/**
 * Confirms with the vault password by reopening the vault. If this fails, the screen is that of the locked vault.
 *
 * @param keepTyped called before that screen is shown
 * @throws {ProblemError} the password is wrong
 */
export async function byPassword(password: string, keepTyped: () => void = () => {}) {
  const { vault } = await ready();
  const { did } = await vault.query();
  await vault.lock();
  try {
    succeeded(await vault.unlock({ kind: "password", password }, null, { did }), "problem.wrong_password");
  } catch (error) {
    keepTyped();
    await go("vault", { locked: "unlock.locked" });
    throw error;
  }
}
