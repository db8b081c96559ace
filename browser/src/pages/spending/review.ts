/** Everything that is signed for an app that may spend without asking, before the passkey is used. */

import "../keys/texts.ts";
import type { Proposal } from "../../account/spending.ts";
import { grantedBy, type Permission } from "../../chain/permissions.ts";
import { copyButton } from "../parts/copy.ts";
import { text, type TextKey } from "../parts/language.ts";
import { button, buttons, el, field, form, paragraph } from "../parts/nodes.ts";
import { ProblemError } from "../parts/problems.ts";
import { go, opening } from "../parts/router.ts";
import { run, show } from "../parts/screen.ts";
import { ready } from "../parts/vault_client.ts";
import { sendError } from "../send/errors.ts";
import type { Payee } from "../send/payee.ts";
import { byPasskey, byPassword } from "../send/person.ts";
import { testMoney } from "../vault/account.ts";
import { grouped } from "../vault/values.ts";
import type { Typed } from "./form.ts";
import { amountOf, callNote, payeeText, periodText, untilText } from "./terms.ts";

interface Planned {
  typed: Typed;
  payee: Payee | null;
  proposal: Proposal;
}

export async function spendingReview(planned: Planned) {
  const client = await ready();
  // Decoded from the bytes that are signed, not from what was typed.
  const permission = grantedBy(planned.proposal.call);
  if (!permission) throw new ProblemError("problem.unknown", { reason: "grant" });
  const [{ wraps }, { chain }] = await Promise.all([client.vault.keys(), client.status()]);
  const hasPasskey = wraps.some(({ kind }) => kind === "prf");
  draw(planned, permission, { chain, payee: await payeeText(client, permission), withPassword: !hasPasskey });
}

function draw(
  planned: Planned,
  permission: Permission,
  { chain, payee, withPassword }: { chain: string; payee: string; withPassword: boolean },
) {
  const { proposal, typed } = planned;
  const password = field(text("password.label"), { type: "password", autocomplete: "current-password" });
  const pressed = () =>
    run(document.querySelector('[data-name="confirm"]'), async () => {
      await (withPassword ? byPassword(password.input.value) : byPasskey());
      await allowed(proposal);
    });
  const amount = `${amountOf(permission, permission.allowance)} ${periodText(permission.period)}`;
  show({
    name: "spending-review",
    heading: text("spend.review"),
    redraw: () => draw(planned, permission, { chain, payee, withPassword }),
    body: [
      el(
        "dl",
        { class: "facts" },
        ...row("spend.may", el("span", { class: "amount", "data-name": "amount" }, amount)),
        ...row("spend.until.label", untilText(permission)),
        ...row("spend.app", el("p", { class: "mono", "data-name": "app" }, `did:new:${permission.keyId}`)),
        ...row(
          "spend.receiver",
          payee
            ? el("p", { class: "mono", "data-name": "payee" }, grouped(payee))
            : paragraph("spend.anyone.warning", {}, "notice"),
          planned.payee?.name ? el("p", { class: "small" }, planned.payee.name) : false,
          callNote(permission),
        ),
        ...row("sheet.chain", `${chain} (${proposal.chainId})`, testMoney()),
        ...row("send.from", el("span", { class: "mono" }, grouped(proposal.account))),
      ),
      paragraph("spend.review.text"),
      withPassword && form(pressed, password.node),
      buttons(
        button(text("spend.allow"), pressed, { kind: "main", name: "confirm" }),
        button(text("back"), () => go("spending-new", typed), { kind: "plain", name: "back" }),
      ),
    ],
  });
}

async function allowed(proposal: Proposal) {
  const spending = await (await ready()).accountSpending();
  const { container } = await spending.allow(proposal).catch((error) => {
    throw sendError(error);
  });
  handOver(container);
}

/** Shows the delegation, which the person passes on to the app. */
function handOver(container: string) {
  const box = el("textarea", { id: "spending", readonly: true, rows: 6, class: "mono" });
  box.value = container;
  show({
    name: "spending-done",
    heading: text("allow.token.heading"),
    redraw: () => handOver(container),
    body: [
      paragraph("spend.token.lead"),
      el("label", { for: "spending" }, text("allow.token")),
      box,
      buttons(copyButton(container), button(text("allow.done"), opening("spending"), { kind: "main", name: "done" })),
    ],
  });
}

function row(key: TextKey, ...values: (Node | string | false)[]) {
  return [el("dt", {}, text(key)), el("dd", {}, ...values)];
}
