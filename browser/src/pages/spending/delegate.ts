/** The screen that creates a permission for an app to ask for payments, which is passed on as text. */

import "../keys/texts.ts";
import { qrCode } from "../../kit/qr_code.ts";
import { typedAmount } from "../parts/amounts.ts";
import { copyButton } from "../parts/copy.ts";
import { amount, day, text } from "../parts/language.ts";
import { button, buttons, el, field, form, paragraph, submit } from "../parts/nodes.ts";
import { opening } from "../parts/router.ts";
import { run, show } from "../parts/screen.ts";
import { USDC_DECIMALS, permission } from "../vault/permission.ts";
import { linkTo } from "../vault/received.ts";
import { decimalOf } from "../vault/values.ts";

const DAY_S = 86_400;
const MOST_DAYS = 365;
/** A `did:new` has the hash of a key; of other methods only the form is known. */
const A_DID = /^did:(new:0x[0-9a-f]{64}|(?!new:)[a-z0-9]+:\S+)$/;

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
