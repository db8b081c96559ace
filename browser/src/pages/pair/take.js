/**
 * The screens of the new device: it finds the other device, compares six digits, receives the vault and adds a key to
 * it.
 */

import { PluginCallError, pairing, passkeyKey, usePasskey } from "../library.js";
import { text } from "../parts/language.js";
import { button, buttons, el, field, form, paragraph, submit } from "../parts/nodes.js";
import { markVault, setReceived, setVaultOf } from "../parts/notes.js";
import { newPassword } from "../parts/passwords.js";
import { copiesOf } from "../parts/providers.js";
import { go } from "../parts/router.js";
import { run, show } from "../parts/screen.js";
import { ready } from "../parts/vault_client.js";
import { addPasskey } from "../vault/adding.js";
import { addressOf } from "./address.js";
import { readable } from "./give.js";
import { RELAY } from "./relay.js";

/** The temporary key that opens a received vault until the person has chosen a permanent one. */
const BETWEEN = { kind: /** @type {"secret"} */ ("secret"), id: "pairing" };

/** @param {{link?: string}} [given] from the address, if another device's link was opened */
export function take({ link = "" } = {}) {
  const addressField = field(
    text("take.place"),
    { name: "address", value: link, autocapitalize: "none", spellcheck: "false", autocomplete: "off" },
    text("take.place.hint"),
  );
  const begin = () => {
    const found = addressOf(addressField.input.value, RELAY);
    addressField.judge(found ? "" : text("take.bad"));
    if (!found) return addressField.input.focus();
    return run(entry.querySelector("button"), () => taken(found), text("pair.connecting"));
  };
  const entry = form(
    begin,
    addressField.node,
    buttons(
      submit(text("take.begin")),
      button(text("back"), () => go("vault"), { kind: "plain", name: "back" }),
    ),
  );
  show({
    name: "take",
    heading: text("take.heading"),
    redraw: () => take({ link: addressField.input.value }),
    body: [paragraph("take.lead"), link !== "" && paragraph("take.foreign", {}, "notice"), entry],
  });
}

/** @param {import("./address.js").PairingAddress} found */
async function taken({ address, meeting }) {
  const { asker, linkTo, receive } = await pairing();
  const client = await ready();
  const { vault } = client;
  const link = await linkTo(vault, address).catch((error) => Promise.reject(readable(error)));
  try {
    const continueFrom = async (/** @type {unknown} */ record) => (await client.snapshots()).continueFrom(record);
    const secret = crypto.getRandomValues(new Uint8Array(32));
    const { did = "" } = await receive(vault, asker(link, meeting), { ...BETWEEN, secret }, agreed, continueFrom);
    await setReceived(did);
    key();
  } catch (error) {
    await vault.lock().catch(() => {}); // the first error says more
    take();
    throw error instanceof PluginCallError ? error : readable(error);
  } finally {
    await link.end();
  }
}

/**
 * @param {string} digits
 * @returns {Promise<boolean>}
 */
function agreed(digits) {
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
function key() {
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
  const pressing = (/** @type {() => Promise<void>} */ work) => (/** @type {Event} */ event) =>
    run(/** @type {HTMLElement} */ (event.currentTarget), work, text("passkey.open"));
  show({
    name: "take-key",
    heading: text("take.key.heading"),
    redraw: key,
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
  const use = async (/** @type {string} */ chosen) => {
    const { vault } = await ready();
    await added(vault, { kind: "password", password: chosen });
    await stored(vault);
  };
  show({
    name: "take-password",
    heading: text("password.heading"),
    redraw: password,
    body: [newPassword(text("password.save"), use, button(text("back"), key, { kind: "plain", name: "back" }))],
  });
}

/**
 * Adds a key unless the received vault already has it, as with a synced passkey. The other device's password remains
 * valid.
 *
 * @param {import("../../vault/vault.js").Vault} vault
 * @param {import("../library.js").VaultKey} key
 */
async function added(vault, key) {
  const { wraps } = await vault.keys();
  const came = wraps.some(({ kind, id }) => kind === key.kind && id === (key.id ?? ""));
  if (!came) await vault.addKey(key);
  else if (key.kind === "password") await vault.addKey({ ...key, id: `password-${wraps.length}` });
}

/** @param {import("../../vault/vault.js").Vault} vault */
async function stored(vault) {
  await vault.removeKey(BETWEEN.kind, BETWEEN.id);
  await setReceived(null);
  markVault();
  await go("home", { said: text("take.done") });
}

/** Returns the name under which the password manager lists the passkey. */
async function nameOf() {
  const client = await ready();
  const { did, credentials } = await client.vault.query();
  for (const { credential_id: credentialId } of credentials) {
    const known = await client.lookupDid({ credentialId }).catch(() => null);
    if (known?.found && "identifier" in known) return known.identifier;
  }
  return did;
}
