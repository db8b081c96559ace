/** The screens with which a payment ends. */

import type { PaymentResult } from "../generated/types.ts";
import { el } from "../kit/el.ts";
import { showReceive } from "./receive.ts";
import type { Refusal, Request } from "./request.ts";
import { screen } from "./screens.ts";
import { amountOf } from "./sheet.ts";
import { text, type TextKey } from "./text.ts";

export function showOver(title: TextKey, said: TextKey) {
  screen(text(title), [el("p", { id: "outcome" }, text(said))], []);
}

export function showPaid(request: Request, { explorerUrl }: PaymentResult) {
  const said = el("p", { id: "outcome" }, text("done_text", { amount: amountOf(request), host: request.site.host }));
  screen(text("done"), [said], explorerUrl ? [{ id: "explorer", href: explorerUrl, text: text("explorer") }] : []);
}

/**
 * Shows why the payment was not made, or that its outcome is not known.
 *
 * @param onBack called when the person returns to the shop
 */
export function showRefusal({ code, values }: Refusal, onBack: () => void) {
  const shown = { ...values, ...(values.what && { what: text(values.what as TextKey) }) };
  const open = code === "unconfirmed";
  const said = [el("p", { id: "refusal" }, text(code as TextKey, shown))];
  if (!open && code !== "chain_failed") said.push(el("p", {}, text("nothing_paid")));
  const register = code === "no_vault" ? [{ id: "register", href: "/", text: text("register") }] : [];
  const back = { id: "back", main: true, text: text("back"), onclick: onBack };
  screen(text(open ? "unconfirmed_title" : "refused_title"), said, [...register, back]);
  showReceive(values.account);
}
