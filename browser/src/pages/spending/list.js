/** What apps may spend without asking, with what they used, and what ends it. */

import "../keys/texts.js";
import { text } from "../parts/language.js";
import { about, button, buttons, el, paragraph } from "../parts/nodes.js";
import { go } from "../parts/router.js";
import { preparing, run, say, show } from "../parts/screen.js";
import { ready } from "../parts/vault_client.js";
import { amountOf, payeeText, periodText, untilText } from "./terms.js";

/** @typedef {Awaited<ReturnType<import("../../account/spending.js").AccountSpending["list"]>>[number]} Listed */

/** @param {{said?: string}} [how] `said`: what happened just now */
export async function spending({ said = "" } = {}) {
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
        button(text("back"), () => go("home"), { kind: "plain", name: "back" }),
      ),
    ],
  });
  say(said);
}

/** Shows the list on the vault's screen. @param {HTMLElement} container */
export async function spendingRows(container) {
  container.replaceChildren(el("ul", { class: "rows" }, ...(await rowsOf(await ready()))));
}

/** @param {import("../library.js").Client} client */
async function rowsOf(client) {
  const found = await (await client.accountSpending()).list();
  return Promise.all(found.map((it) => row(client, it)));
}

/** @param {import("../library.js").Client} client @param {Listed} it */
async function row(client, { id, permission, spent, to }) {
  const [app, payee] = [to ?? text("spend.key", { key: permission.keyId }), await payeeText(client, permission)];
  const facts = { amount: amountOf(permission, permission.allowance), period: periodText(permission.period) };
  const end = (/** @type {Event} */ event) =>
    run(/** @type {HTMLElement} */ (event.currentTarget), () => ended(id), text("working"));
  return el(
    "li",
    { "data-permission": id },
    el("p", {}, el("strong", {}, text("spend.row", facts))),
    el("p", { "data-name": "used" }, text("spend.used", { amount: amountOf(permission, spent) })),
    el("p", {}, text("spend.until", { time: untilText(permission) })),
    el("p", {}, payee ? text("spend.only", { payee }) : text("spend.anyone")),
    el("p", { class: "small mono" }, app),
    to === null && paragraph("spend.undelegated", {}, "small"),
    el(
      "div",
      { class: "buttons" },
      about(button(text("spend.end"), end, { kind: "plain", name: "end-spending" }), app),
    ),
  );
}

/** @param {string} id */
async function ended(id) {
  await (await (await ready()).accountSpending()).end(id);
  await go("spending", { said: text("spend.ended") });
}
