/**
 * Permissions for apps are delegations with a limit and an expiry. Permissions are passed on as text, and can be
 * withdrawn.
 */

import type { Delegation } from "../../enclave-answers.ts";
import { confirmed } from "../parts/dialog.ts";
import { amount, day, text } from "../parts/language.ts";
import { about, button, el, paragraph, type Press } from "../parts/nodes.ts";
import { ProblemError } from "../parts/problems.ts";
import { go, opening } from "../parts/router.ts";
import { run } from "../parts/screen.ts";
import { ready } from "../parts/vault_client.ts";
import { card } from "./card.ts";
import type { Facts } from "./home.ts";
import { USDC, limitOf } from "./permission.ts";

/** As in chain/permissions.ts, which is loaded on demand. */
const SPEND = "/accounts/spend";

export function delegationsCard({ delegations }: Facts) {
  const listed = delegations.filter(({ command }) => command !== SPEND);
  const spending = el("div");
  // What the account enforces, and what was used, only the chain knows.
  if (listed.length < delegations.length) void go("spending-rows", spending).catch(() => {});
  return card(
    "delegations",
    text("allow.heading"),
    delegations.length === 0 && paragraph("allow.none"),
    listed.length > 0 && el("ul", { class: "rows" }, ...listed.map(row)),
    spending,
    el(
      "div",
      { class: "buttons" },
      USDC !== "" && button(text("allow.make"), opening("delegate"), { name: "delegate" }),
      button(text("allow.spending"), opening("spending"), { name: "spending" }),
    ),
  );
}

/** @param it a row of the vault's delegations */
function row(it: Delegation) {
  const ended = it.expiration && it.expiration * 1000 < Date.now();
  const state = it.revoked_at ? "allow.revoked" : ended ? "allow.ended" : null;
  const withdraw = (event: Press) => run(event.currentTarget, () => withdrawn(it));
  const words = el("p", {}, sentence(it));
  void limitOf(it).then(
    (limit) =>
      limit &&
      it.expiration &&
      (words.textContent = text(state ? "allow.row.past" : "allow.row", {
        to: it.audience,
        amount: amount(limit),
        date: day(it.expiration * 1000),
      })),
  );
  const item = el("li", { "data-cid": it.cid }, words);
  if (state) item.append(el("p", { class: "small" }, text(state)));
  else
    item.append(
      el(
        "div",
        { class: "buttons" },
        about(button(text("allow.revoke"), withdraw, { kind: "plain", name: "revoke" }), it.audience),
      ),
    );
  return item;
}

function sentence({ audience: to, command, expiration }: Delegation) {
  return expiration
    ? text("allow.row.other", { to, command, date: day(expiration * 1000) })
    : text("allow.row.forever", { to, command });
}

async function withdrawn({ cid, audience }: Delegation) {
  const question = {
    heading: text("allow.revoke.heading"),
    words: text("allow.revoke.text", { to: audience }),
    yes: text("allow.revoke"),
  };
  if (!(await confirmed(question))) return;
  const answer = await (await ready()).vault.exec("resource:delegations action:revoke", { cid });
  if (!answer.success) throw new ProblemError("problem.unknown", { reason: answer.error ?? "revoke" });
  await go("home", { said: text("allow.withdrawn") });
}
