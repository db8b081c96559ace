/**
 * The screen for a permission received through a link: it shows what is allowed, whether the token is valid, and the
 * token's text for the app.
 */

import type { UcanClaims } from "../../generated/types.ts";
import { amount, day, text } from "../parts/language.ts";
import { copyButton } from "../parts/copy.ts";
import { button, buttons, el, paragraph } from "../parts/nodes.ts";
import { ADDRESS } from "../parts/problems.ts";
import { go } from "../parts/router.ts";
import { preparing, show } from "../parts/screen.ts";
import { ready } from "../parts/vault_client.ts";
import { limitOfPolicy } from "./permission.ts";

const MARK = "#permission=";

/** Returns a link that contains the permission in its fragment, which browsers never send to a server. */
export function linkTo(container: string) {
  return `${ADDRESS}/vault${MARK}${container}`;
}

/** Returns the permission in this page's URL, or an empty string. */
export function linked() {
  return location.hash.startsWith(MARK) ? location.hash.slice(MARK.length) : "";
}

export async function received(container: string) {
  const still = preparing();
  const claims = await (await ready()).vault.verifyUcan(container).catch(() => null);
  if (still()) draw(container, claims?.kind === "delegation" ? claims : null);
}

/** @param claims null if it is not valid */
function draw(container: string, claims: UcanClaims | null) {
  const box = el("textarea", { id: "permission", readonly: true, rows: 6, class: "mono" });
  box.value = container;
  show({
    name: "received",
    heading: text("received.heading"),
    redraw: () => draw(container, claims),
    body: claims
      ? [
          el("p", { "data-name": "sentence" }, sentence(claims)),
          paragraph("received.from", { from: claims.subject ?? claims.issuer }),
          paragraph("received.lead", {}, "small"),
          el("label", { for: "permission" }, text("allow.token")),
          box,
          buttons(copyButton(container), button(text("received.vault"), leave, { kind: "plain", name: "vault" })),
        ]
      : [paragraph("received.bad", {}, "notice"), buttons(button(text("received.vault"), leave, { name: "vault" }))],
  });
}

function sentence({ audience, command, expiration, policy }: UcanClaims) {
  const to = audience ?? "";
  const limit = limitOfPolicy(policy);
  if (!expiration) return text("allow.row.forever", { to, command });
  const date = day(expiration * 1000);
  if (command !== "/accounts/pay" || limit === null) return text("allow.row.other", { to, command, date });
  return text("allow.row", { to, amount: amount(limit), date });
}

function leave() {
  history.replaceState(null, "", location.pathname);
  return go("vault");
}
