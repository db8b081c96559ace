/**
 * Permissions for apps are delegations with a limit and an expiry. Permissions are passed on as text, and can be
 * withdrawn.
 */

import type { Delegation } from "../../enclave-answers.ts";
import { typedAmount } from "../parts/amounts.ts";
import { copyButton } from "../parts/copy.ts";
import { confirmed } from "../parts/dialog.ts";
import { amount, day, text } from "../parts/language.ts";
import { about, button, buttons, el, field, form, paragraph, submit, type Press } from "../parts/nodes.ts";
import { ProblemError } from "../parts/problems.ts";
import { go, opening } from "../parts/router.ts";
import { run, show } from "../parts/screen.ts";
import { ready } from "../parts/vault_client.ts";
import { card } from "./card.ts";
import type { Facts } from "./home.ts";
import { USDC, USDC_DECIMALS, limitOf, permission } from "./permission.ts";
import { qrCode } from "../../kit/qr_code.ts";
import { linkTo } from "./received.ts";
import { decimalOf } from "./values.ts";

const DAY_S = 86_400;
const MOST_DAYS = 365;
/** As in chain/permissions.ts, which is loaded on demand. */
const SPEND = "/accounts/spend";
/** A `did:new` has the hash of a key; of other methods only the form is known. */
const A_DID = /^did:(new:0x[0-9a-f]{64}|(?!new:)[a-z0-9]+:\S+)$/;

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
      USDC !== "" && button(text("allow.make"), () => go("delegate"), { name: "delegate" }),
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

/** The screen that creates a permission. */
export function delegate() {
  const to = field(
    text("allow.to"),
    { name: "to", autocapitalize: "none", spellcheck: "false" },
    text("allow.to.hint"),
  );
  const limit = field(text("allow.limit"), { name: "limit", inputmode: "decimal" }, text("allow.limit.hint"));
  const days = field(text("allow.days"), { name: "days", inputmode: "numeric", value: "30" });
  const give = (it: HTMLFormElement) => {
    const { value: most, bad: badLimit } = typedAmount(limit.input.value, USDC_DECIMALS);
    const count = Number(days.input.value);
    const wrong: { it: ReturnType<typeof field>; bad: string }[] = [
      { it: to, bad: A_DID.test(to.input.value.trim()) ? "" : text("allow.bad.to") },
      { it: limit, bad: badLimit },
      { it: days, bad: Number.isInteger(count) && count >= 1 && count <= MOST_DAYS ? "" : text("allow.bad.days") },
    ];
    wrong.forEach(({ it: entry, bad }) => entry.judge(bad));
    const first = wrong.find(({ bad }) => bad);
    if (first) return first.it.input.focus();
    return run(
      it.querySelector("button[type=submit]"),
      () => given(to.input.value.trim(), most, count),
      text("working"),
    );
  };
  show({
    name: "delegate",
    heading: text("allow.form.heading"),
    redraw: delegate,
    body: [
      form(
        give,
        to.node,
        limit.node,
        days.node,
        buttons(submit(text("allow.allow")), button(text("back"), opening("home"), { kind: "plain", name: "back" })),
      ),
    ],
  });
}

/**
 * @param most in millionths of USDC
 * @param count days
 */
async function given(to: string, most: bigint, count: number) {
  const expiration = Math.floor(Date.now() / 1000) + count * DAY_S;
  const { container } = await permission({ to, most, expiration });
  const spent = decimalOf(most, USDC_DECIMALS);
  handOver({ to, amount: amount(spent), date: day(expiration * 1000) }, container);
}

/** Shows a new permission's token, which the person passes on to the app. The pages never show the token again. */
function handOver(limits: { to: string; amount: string; date: string }, container: string) {
  const box = el("textarea", { id: "permission", readonly: true, rows: 6, class: "mono" });
  box.value = container;
  const link = linkTo(container);
  show({
    name: "delegated",
    heading: text("allow.token.heading"),
    redraw: () => handOver(limits, container),
    body: [
      paragraph("allow.token.lead", limits),
      qrCode(link, text("allow.qr", limits), true),
      paragraph("allow.qr.hint", limits, "small"),
      el("label", { for: "permission" }, text("allow.token")),
      box,
      buttons(
        copyButton(container),
        copyButton(link, text("allow.copyLink"), "copy-link"),
        button(text("allow.done"), opening("home"), { kind: "main", name: "done" }),
      ),
    ],
  });
}
