/** Creates the passkey and the vault. If the passkey returns no secret (PRF), a password protects the vault. */

import { WebAuthnError, passkeyKey } from "../library.js";
import { meta } from "../../kit/meta.js";
import { text } from "../parts/language.js";
import { button, buttons, el, paragraph } from "../parts/nodes.js";
import { addFacts } from "../../kit/notes.js";
import { markVault, setBegun, setVaultOf } from "../parts/notes.js";
import { newPassword } from "../parts/passwords.js";
import { described } from "../parts/providers.js";
import { go } from "../parts/router.js";
import { SERVICE, run, say, show } from "../parts/screen.js";
import { ready } from "../parts/vault_client.js";
import { withoutOrphan } from "./flow.js";

/**
 * @typedef {import("../parts/notes.js").Begun} Begun
 * @typedef {import("../library.js").VaultKey} VaultKey
 * @typedef {{credential: string, credentialId: string}} Made
 */

/** @param {Begun} row */
export function passkey(row) {
  const make = (/** @type {any} */ event, /** @type {object} */ options = { hints: ["client-device"] }) =>
    run(event.currentTarget, () => created(row, options), text("passkey.open"));
  show({
    name: "passkey",
    heading: text("passkey.heading"),
    redraw: () => passkey(row),
    body: [
      paragraph("passkey.lead"),
      el("p", { class: "small" }, text("passkey.for", { identifier: row.identifier })),
      buttons(
        button(text("passkey.create"), make, { kind: "main", name: "create" }),
        button(text("passkey.phone"), (event) => make(event, { hints: ["hybrid"] }), { kind: "plain", name: "phone" }),
        button(
          text("passkey.key"),
          (event) => make(event, { hints: ["security-key"], authenticatorAttachment: "cross-platform" }),
          { kind: "plain", name: "key" },
        ),
        button(text("back"), () => go("choose", { ...row, typed: row.identifier }), { kind: "plain", name: "back" }),
      ),
    ],
  });
}

/**
 * @param {Begun} row
 * @param {object} options
 */
async function created(row, options) {
  const client = await ready();
  if (row.credentialId) row = await withoutOrphan(row); // created by an attempt that stored no vault
  const made = await client.createPasskey({ rpName: SERVICE, userName: row.identifier, ...options });
  const noted = { ...row, credentialId: made.credentialId };
  await setBegun(noted);
  try {
    await sealed(noted, made, await key(made));
  } catch (error) {
    if (!(error instanceof WebAuthnError)) throw error;
    if (error.reason !== "no_prf") return again(noted, made, error);
    password(noted, made);
  }
}

/** @param {Made} made @returns {Promise<VaultKey>} */
function key(made) {
  return passkeyKey(made, { hints: ["client-device"] });
}

/**
 * Asks for the new passkey once more, because the person did not complete the second prompt.
 *
 * @param {Begun} row
 * @param {Made} made
 * @param {WebAuthnError} error
 */
function again(row, made, error) {
  const retry = async () => {
    try {
      await sealed(row, made, await key(made));
    } catch (failed) {
      if (!(failed instanceof WebAuthnError && failed.reason === "no_prf")) throw failed;
      password(row, made);
    }
  };
  show({
    name: "passkey-again",
    heading: text("passkey.heading"),
    body: [
      paragraph("passkey.once"),
      buttons(
        button(
          text("again"),
          (event) => run(/** @type {HTMLElement} */ (event.currentTarget), retry, text("passkey.open")),
          { kind: "main", name: "again" },
        ),
        button(text("unlock.usePassword"), () => password(row, made), { kind: "plain", name: "use-password" }),
      ),
    ],
  });
  throw error;
}

/**
 * @param {Begun} row
 * @param {Made} made
 */
function password(row, made) {
  show({
    name: "password",
    heading: text("password.heading"),
    redraw: () => password(row, made),
    body: [
      paragraph("password.lead"),
      newPassword(text("password.save"), (chosen) =>
        sealed({ ...row, password: true }, made, { kind: "password", password: chosen }),
      ),
    ],
  });
}

/**
 * Creates and stores the vault.
 *
 * @param {Begun} row
 * @param {Made} made
 * @param {VaultKey} key
 */
async function sealed(row, made, key) {
  const { vault } = await ready();
  say(text("working"));
  const about = await described(made.credential);
  const { did } = await vault.generate(
    { credential: made.credential, device_name: about.name, chain_id: Number(meta("chain")) },
    key,
  );
  markVault();
  await setVaultOf(made.credentialId, { did, copies: about.copies });
  await addFacts(did, { identifier: row.identifier });
  const noted = { ...row, did };
  await setBegun(noted);
  await go("finish", noted);
}
