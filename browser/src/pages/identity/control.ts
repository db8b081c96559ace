/** The cards that hand the DID over to another account, and that take over a DID that was handed to this one. */

import type { AccountDid } from "../../account/did.ts";
import { text } from "../parts/language.ts";
import { button, el, field, form, paragraph, submit, type Press } from "../parts/nodes.ts";
import { confirmed } from "../parts/dialog.ts";
import { accountNodes, doubts } from "../keys/asking.ts";
import { accountOf } from "../keys/people.ts";
import { go } from "../parts/router.ts";
import { run } from "../parts/screen.ts";
import { ready } from "../parts/vault_client.ts";
import { card } from "../vault/card.ts";
import { grouped } from "../vault/values.ts";
import type { Known } from "./screen.ts";

/** As a controller, it withdraws a proposal. */
const NO_ONE = `0x${"0".repeat(40)}`;
const DID = /^did:[a-z0-9]+:\S+$/;
const PLAIN = { autocapitalize: "none", spellcheck: "false", autocomplete: "off" };

export function controlCard({ at, found }: Known) {
  const withdraw = (event: Press) => run(event.currentTarget, () => withdrawn(at), text("working"));
  const to = field(text("did.control.to"), { name: "controller", ...PLAIN });
  const propose = (it: HTMLFormElement) =>
    run(it.querySelector("button"), () => proposed(at, to.input.value), text("working"));
  return card(
    "did-control",
    text("did.control"),
    paragraph("did.control.lead"),
    ...(found.proposed === null
      ? [form(propose, to.node, el("div", { class: "buttons" }, submit(text("did.control.propose"))))]
      : [
          paragraph("did.control.proposed", {}, "notice"),
          el("p", { class: "mono", "data-name": "proposed" }, grouped(found.proposed)),
          el("div", { class: "buttons" }, button(text("did.control.withdraw"), withdraw, { name: "withdraw" })),
        ]),
  );
}

/** The card of an account that controls no DID yet. */
export function acceptCard() {
  const did = field(text("did.accept.did"), { name: "did", ...PLAIN });
  const accept = (it: HTMLFormElement) => {
    const typed = did.input.value.replace(/\s/g, "");
    did.judge(DID.test(typed) ? "" : text("did.accept.bad"));
    if (!DID.test(typed)) return did.input.focus();
    return run(it.querySelector("button"), () => accepted(typed), text("working"));
  };
  return card(
    "did-accept",
    text("did.accept"),
    paragraph("did.accept.lead"),
    form(accept, did.node, el("div", { class: "buttons" }, submit(text("did.accept.yes")))),
  );
}

async function proposed(at: AccountDid, typed: string) {
  const account = await accountOf(typed);
  const question = {
    heading: text("did.control.sure"),
    words: text("did.control.sure.text"),
    yes: text("did.control.propose"),
    more: [...(await doubts([account])), ...accountNodes(account).filter((it) => it !== false)],
  };
  if (!(await confirmed(question))) return;
  await at.proposeController(account.address);
  await go("identity", { said: text("did.control.done") });
}

async function withdrawn(at: AccountDid) {
  await at.proposeController(NO_ONE);
  await go("identity", { said: text("did.control.withdrawn") });
}

async function accepted(did: string) {
  await (await (await ready()).accountDid(did)).acceptController();
  await go("identity", { said: text("did.accepted", { did }) });
}
