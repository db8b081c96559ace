/** The card that adds names to the DID on the chain, and deactivates them. The chain has only hashes, so it lists none. */

import { text } from "../parts/language.js";
import { button, el, field, form, paragraph, submit } from "../parts/nodes.js";
import { confirmed } from "../parts/dialog.js";
import { RequestRefused, textHash } from "../library.js";
import { ProblemError } from "../parts/problems.js";
import { go } from "../parts/router.js";
import { SERVICE, run } from "../parts/screen.js";
import { ready } from "../parts/vault_client.js";
import { card } from "../vault/card.js";

/** @typedef {import("./screen.js").Known} Known */
/** @typedef {"free" | "taken" | "active" | "inactive"} State whose a name is; `active` and `inactive`: this DID's */

/** @param {Known} known */
export function namesCard(known) {
  const plain = { autocapitalize: "none", spellcheck: "false", autocomplete: "off" };
  const name = field(text("did.name"), { name: "alias", ...plain });
  const result = el("div", { "data-name": "alias-found" });
  const look = (/** @type {HTMLFormElement} */ it) =>
    run(
      it.querySelector("button"),
      async () => {
        result.replaceChildren();
        result.replaceChildren(...foundNodes(known, await looked(known, name.input.value)));
      },
      text("working"),
    );
  return card(
    "did-names",
    text("did.names"),
    paragraph("did.names.lead", { name: SERVICE }),
    form(look, name.node, el("div", { class: "buttons" }, submit(text("did.name.look")))),
    result,
  );
}

/** @param {Known} known @param {string} typed @returns {Promise<{alias: string, state: State}>} @throws {ProblemError} no handle */
async function looked({ at, found }, typed) {
  const client = await ready();
  const { alias, didHash, active } = await at.registeredAlias(typed);
  // The service says what a handle is, and whether someone has it there who is not on the chain yet.
  const served = await client.checkAlias({ alias }).catch((error) => {
    throw error instanceof RequestRefused && error.status === 400 ? new ProblemError("problem.invalid") : error;
  });
  const isOwn = didHash === (await textHash(client.vault, found.did));
  if (isOwn) return { alias, state: active ? "active" : "inactive" };
  const isFree = didHash === null && (served.available || served.did === found.did);
  return { alias, state: isFree ? "free" : "taken" };
}

/** @param {Known} known @param {{alias: string, state: State}} it */
function foundNodes({ at }, { alias, state }) {
  const said = el("p", { role: "status" }, text(`did.name.${state}`, { alias }));
  if (state === "taken") return [said];
  const act = /** @type {const} */ ({ free: "add", active: "deactivate", inactive: "activate" })[state];
  const press = (/** @type {Event} */ event) =>
    run(/** @type {HTMLElement} */ (event.currentTarget), () => acted(at, alias, act), text("working"));
  return [
    said,
    el("div", { class: "buttons" }, button(text(`did.name.${act}`), press, { kind: "plain", name: `alias-${act}` })),
  ];
}

/** @param {import("../library.js").AccountDid} at @param {string} alias @param {"add" | "deactivate" | "activate"} act */
async function acted(at, alias, act) {
  const question = {
    heading: text("did.name.sure", { alias }),
    words: text("did.name.sure.text"),
    yes: text("did.name.deactivate"),
  };
  if (act === "deactivate" && !(await confirmed(question))) return;
  await (act === "add" ? at.registerAlias(alias) : at.setAliasActive(alias, act === "activate"));
  await go("identity", { said: text(`did.name.done.${act}`, { alias }) });
}
