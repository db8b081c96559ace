/**
 * The screens of the new device: it finds the other device, compares six digits, receives the vault and adds a key to
 * it.
 */

import type { VaultKey } from "../../passkeys/secrets.ts";
import type { Vault } from "../../vault/vault.ts";
import { PluginCallError, pairing, passkeyKey, usePasskey } from "../library.ts";
import { text } from "../parts/language.ts";
import { button, buttons, el, field, form, paragraph, submit, type Press } from "../parts/nodes.ts";
import { BETWEEN, markVault, setReceived, setVaultOf, settled } from "../parts/notes.ts";
import { newPassword } from "../parts/passwords.ts";
import { copiesOf } from "../parts/providers.ts";
import { go, opening } from "../parts/router.ts";
import { run, show } from "../parts/screen.ts";
import { ready } from "../parts/vault_client.ts";
import { addPasskey } from "../vault/adding.ts";
import { addressOf, type PairingAddress } from "./address.ts";
import { readable } from "./give.ts";
import { RELAY } from "./relay.ts";

/**
 * @param given `link`: from the address, if another device's link was opened; `replace`: a stored vault of the same DID
 *   cannot be opened
 */
export function take({ link = "", replace = false }: { link?: string; replace?: boolean } = {}) {
  const addressField = field(
    text("take.place"),
    { name: "address", value: link, autocapitalize: "none", spellcheck: "false", autocomplete: "off" },
    text("take.place.hint"),
  );
  const begin = () => {
    const found = addressOf(addressField.input.value, RELAY);
    addressField.judge(found ? "" : text("take.bad"));
    if (!found) return addressField.input.focus();
    return run(entry.querySelector("button"), () => taken(found, replace), text("pair.connecting"));
  };
  const entry = form(
    begin,
    addressField.node,
    buttons(submit(text("take.begin")), button(text("back"), opening("vault"), { kind: "plain", name: "back" })),
  );
  show({
    name: "take",
    heading: text("take.heading"),
    redraw: () => take({ link: addressField.input.value, replace }),
    body: [paragraph("take.lead"), link !== "" && paragraph("take.foreign", {}, "notice"), entry],
  });
}

async function taken({ address, meeting }: PairingAddress, replace: boolean) {
  const { asker, linkTo, receive } = await pairing();
  const client = await ready();
  const { vault } = client;
  const link = await linkTo(vault, address).catch((error) => Promise.reject(readable(error)));
  try {
    const continueFrom = async (record: unknown) => (await client.snapshots()).continueFrom(record);
    const secret = crypto.getRandomValues(new Uint8Array(32));
    const key = { ...BETWEEN, secret };
    const { did = "" } = await receive(vault, asker(link, meeting), key, agreed, continueFrom, { replace });
    await setReceived(did);
    chooseKey();
  } catch (error) {
    await vault.lock().catch(() => {}); // the first error says more
    take({ replace });
    throw error instanceof PluginCallError ? error : readable(error);
  } finally {
    await link.end();
  }
}

function agreed(digits: string): Promise<boolean> {
  return new Promise((resolve) => {
    const yes = button(text("take.same"), () => (resolve(true), waiting()), { kind: "main", name: "same" });
    const waiting = () => {
      yes.disabled = true;
      yes.textContent = text("take.waiting");
    };
    show({
      name: "take-digits",
      heading: text("pair.compare"),
      body: [
        paragraph("take.shows"),
        el("p", { class: "digits", "data-name": "digits" }, digits),
        paragraph("take.type"),
        buttons(
          yes,
          button(text("pair.differ"), () => resolve(false), { kind: "plain", name: "differ" }),
        ),
      ],
    });
  });
}

/** Asks which key should open the received vault from now on. */
function chooseKey() {
  const made = async () => {
    const { vault } = await ready();
    await addPasskey({ userName: await nameOf(), hints: ["client-device"] });
    await stored(vault);
  };
  const had = async () => {
    const { vault } = await ready();
    const { did, credentials } = await vault.query();
    const used = await usePasskey({ credentialIds: credentials.map((it) => it.credential_id) });
    await added(vault, await passkeyKey(used));
    await setVaultOf(used.credentialId, { did, copies: await copiesOf(used.assertion) });
    await stored(vault);
  };
  const pressing = (work: () => Promise<void>) => (event: Press) =>
    run(event.currentTarget, work, text("passkey.open"));
  show({
    name: "take-key",
    heading: text("take.key.heading"),
    redraw: chooseKey,
    body: [
      paragraph("take.key.lead"),
      buttons(
        button(text("passkey.create"), pressing(made), { kind: "main", name: "create" }),
        button(text("take.key.had"), pressing(had), { name: "had" }),
        button(text("take.key.password"), password, { kind: "plain", name: "use-password" }),
      ),
    ],
  });
}

function password() {
  const use = async (chosen: string) => {
    const { vault } = await ready();
    await added(vault, { kind: "password", password: chosen });
    await stored(vault);
  };
  show({
    name: "take-password",
    heading: text("password.heading"),
    redraw: password,
    body: [newPassword(text("password.save"), use, button(text("back"), chooseKey, { kind: "plain", name: "back" }))],
  });
}

/**
 * Adds a key unless the received vault already has it, as with a synced passkey. The other device's password remains
 * valid.
 */
async function added(vault: Vault, key: VaultKey) {
  const { wraps } = await vault.keys();
  const came = wraps.some(({ kind, id }) => kind === key.kind && id === (key.id ?? ""));
  if (!came) await vault.addKey(key);
  else if (key.kind === "password") await vault.addKey({ ...key, id: `password-${wraps.length}` });
}

async function stored(vault: Vault) {
  await settled(vault);
  markVault();
  await go("home", { said: text("take.done") });
}

/** Returns the name under which the password manager lists the passkey. */
async function nameOf() {
  const client = await ready();
  const { did, credentials } = await client.vault.query();
  for (const { credential_id: credentialId } of credentials) {
    const known = await client.lookupDid({ credentialId }).catch(() => null);
    if (known?.found && known.did === did) return known.identifier;
  }
  return did;
}
