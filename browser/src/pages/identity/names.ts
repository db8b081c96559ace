/** The card that adds names to the DID on the chain, and deactivates them. The chain has only hashes, so it lists none. */

import type { AccountDid } from "../../account/did.ts";
import { text } from "../parts/language.ts";
import { button, el, field, form, paragraph, submit, type Press } from "../parts/nodes.ts";
import { confirmed } from "../parts/dialog.ts";
import { RequestRefused, textHash } from "../library.ts";
import { ProblemError } from "../parts/problems.ts";
import { go } from "../parts/router.ts";
import { SERVICE, run } from "../parts/screen.ts";
import { ready } from "../parts/vault_client.ts";
import { card } from "../vault/card.ts";
import type { Known } from "./screen.ts";

/** whose a name is; `active` and `inactive`: this DID's */
type State = "free" | "taken" | "active" | "inactive";

export function namesCard(known: Known) {
  const plain = { autocapitalize: "none", spellcheck: "false", autocomplete: "off" };
  const name = field(text("did.name"), { name: "alias", ...plain });
  const result = el("div", { "data-name": "alias-found" });
  const look = (it: HTMLFormElement) =>
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

/** @throws {ProblemError} no handle */
async function looked({ at, found }: Known, typed: string): Promise<{ alias: string; state: State }> {
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

function foundNodes({ at }: Known, { alias, state }: { alias: string; state: State }) {
  const said = el("p", { role: "status" }, text(`did.name.${state}`, { alias }));
  if (state === "taken") return [said];
  const act = ({ free: "add", active: "deactivate", inactive: "activate" } as const)[state];
  const press = (event: Press) => run(event.currentTarget, () => acted(at, alias, act), text("working"));
  return [
    said,
    el("div", { class: "buttons" }, button(text(`did.name.${act}`), press, { kind: "plain", name: `alias-${act}` })),
  ];
}

async function acted(at: AccountDid, alias: string, act: "add" | "deactivate" | "activate") {
  const question = {
    heading: text("did.name.sure", { alias }),
    words: text("did.name.sure.text"),
    yes: text("did.name.deactivate"),
  };
  if (act === "deactivate" && !(await confirmed(question))) return;
  await (act === "add" ? at.registerAlias(alias) : at.setAliasActive(alias, act === "activate"));
  await go("identity", { said: text(`did.name.done.${act}`, { alias }) });
}
