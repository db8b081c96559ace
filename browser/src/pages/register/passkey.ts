/** Creates the passkey and the vault. If the passkey returns no secret (PRF), a password protects the vault. */

import type { PasskeyOptions } from "../../passkeys/create.ts";
import type { VaultKey } from "../../passkeys/secrets.ts";
import { WebAuthnError, passkeyKey } from "../library.ts";
import { meta } from "../../kit/meta.ts";
import { text } from "../parts/language.ts";
import { button, buttons, el, paragraph, type Press } from "../parts/nodes.ts";
import { addFacts } from "../../kit/notes.ts";
import { type Begun, markVault, setBegun, setVaultOf } from "../parts/notes.ts";
import { newPassword } from "../parts/passwords.ts";
import { described } from "../parts/providers.ts";
import { go } from "../parts/router.ts";
import { SERVICE, run, say, show } from "../parts/screen.ts";
import { ready } from "../parts/vault_client.ts";
import { withoutOrphan } from "./flow.ts";

type Made = { credential: string; credentialId: string };

export function passkey(row: Begun) {
  const make = (event: Press, options: PasskeyOptions = { hints: ["client-device"] }) =>
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

async function created(row: Begun, options: PasskeyOptions) {
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

function key(made: Made): Promise<VaultKey> {
  return passkeyKey(made, { hints: ["client-device"] });
}

/** Asks for the new passkey once more, because the person did not complete the second prompt. */
function again(row: Begun, made: Made, error: WebAuthnError) {
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
        button(text("again"), (event) => run(event.currentTarget, retry, text("passkey.open")), {
          kind: "main",
          name: "again",
        }),
        button(text("unlock.usePassword"), () => password(row, made), { kind: "plain", name: "use-password" }),
      ),
    ],
  });
  throw error;
}

function password(row: Begun, made: Made) {
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

/** Creates and stores the vault. */
async function sealed(row: Begun, made: Made, key: VaultKey) {
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
