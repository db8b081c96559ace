/** What apps may spend without asking, with what they used, and what ends it. */

import "../keys/texts.ts";
import type { AccountSpending } from "../../account/spending.ts";
import type { Client } from "../library.ts";
import { text } from "../parts/language.ts";
import { about, button, buttons, el, paragraph, type Press } from "../parts/nodes.ts";
import { go, opening } from "../parts/router.ts";
import { preparing, run, say, show } from "../parts/screen.ts";
import { ready } from "../parts/vault_client.ts";
import { amountOf, callNote, payeeText, periodText, untilText } from "./terms.ts";

type Listed = Awaited<ReturnType<AccountSpending["list"]>>[number];

/** @param how `said`: what happened just now */
export async function spending({ said = "" }: { said?: string } = {}) {
  const still = preparing();
  const client = await ready();
  const rows = await rowsOf(client);
  if (!still()) return;
  show({
    name: "spending",
    heading: text("spend.heading"),
    redraw: () => void spending(),
    body: [
      paragraph("spend.lead"),
      rows.length === 0 && paragraph("spend.none"),
      el("ul", { class: "rows" }, ...rows),
      buttons(
        button(text("spend.make"), () => go("spending-new"), { kind: "main", name: "new" }),
        button(text("back"), opening("home"), { kind: "plain", name: "back" }),
      ),
    ],
  });
  say(said);
}

/** Shows the list on the vault's screen. */
export async function spendingRows(container: HTMLElement) {
  container.replaceChildren(el("ul", { class: "rows" }, ...(await rowsOf(await ready()))));
}

async function rowsOf(client: Client) {
  const found = await (await client.accountSpending()).list();
  return Promise.all(found.map((it) => row(client, it)));
}

async function row(client: Client, { id, permission, spent, to }: Listed) {
  const [app, payee] = [to ?? text("spend.key", { key: permission.keyId }), await payeeText(client, permission)];
  const facts = { amount: amountOf(permission, permission.allowance), period: periodText(permission.period) };
  const end = (event: Press) => run(event.currentTarget, () => ended(id), text("working"));
  return el(
    "li",
    { "data-permission": id },
    el("p", {}, el("strong", {}, text("spend.row", facts))),
    el("p", { "data-name": "used" }, text("spend.used", { amount: amountOf(permission, spent) })),
    el("p", {}, text("spend.until", { time: untilText(permission) })),
    el("p", {}, payee ? text("spend.only", { payee }) : text("spend.anyone")),
    callNote(permission),
    el("p", { class: "small mono" }, app),
    to === null && paragraph("spend.undelegated", {}, "small"),
    el(
      "div",
      { class: "buttons" },
      about(button(text("spend.end"), end, { kind: "plain", name: "end-spending" }), app),
    ),
  );
}

async function ended(id: string) {
  await (await (await ready()).accountSpending()).end(id);
  await go("spending", { said: text("spend.ended") });
}
