/** The screens with which a payment ends. */

import { el } from "../kit/el.js";
import { showReceive } from "./receive.js";
import { screen } from "./screens.js";
import { amountOf } from "./sheet.js";
import { text } from "./text.js";

/** @typedef {import("./text.js").TextKey} TextKey */

/**
 * @param {TextKey} title
 * @param {TextKey} said
 */
export function showOver(title, said) {
  screen(text(title), [el("p", { id: "outcome" }, text(said))], []);
}

/**
 * @param {import("./request.js").Request} request
 * @param {import("../generated/types.js").PaymentResult} result
 */
export function showPaid(request, { explorerUrl }) {
  const said = el("p", { id: "outcome" }, text("done_text", { amount: amountOf(request), host: request.site.host }));
  screen(text("done"), [said], explorerUrl ? [{ id: "explorer", href: explorerUrl, text: text("explorer") }] : []);
}

/**
 * Shows why the payment was not made, or that its outcome is not known.
 *
 * @param {import("./request.js").Refusal} refusal
 * @param {() => void} onBack called when the person returns to the shop
 */
export function showRefusal({ code, values }, onBack) {
  const shown = { ...values, ...(values.what && { what: text(/** @type {TextKey} */ (values.what)) }) };
  const open = code === "unconfirmed";
  const said = [el("p", { id: "refusal" }, text(/** @type {TextKey} */ (code), shown))];
  if (!open && code !== "chain_failed") said.push(el("p", {}, text("nothing_paid")));
  const register = code === "no_vault" ? [{ id: "register", href: "/", text: text("register") }] : [];
  const back = { id: "back", main: true, text: text("back"), onclick: onBack };
  screen(text(open ? "unconfirmed_title" : "refused_title"), said, [...register, back]);
  showReceive(values.account);
}
