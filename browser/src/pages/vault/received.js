/**
 * The screen for a permission received through a link: it shows what is allowed, whether the token is valid, and the
 * token's text for the app.
 */

import { amount, day, text } from "../parts/language.js";
import { copyButton } from "../parts/copy.js";
import { button, buttons, el, paragraph } from "../parts/nodes.js";
import { ADDRESS } from "../parts/problems.js";
import { go } from "../parts/router.js";
import { preparing, show } from "../parts/screen.js";
import { ready } from "../parts/vault_client.js";
import { limitOfPolicy } from "./permission.js";

const MARK = "#permission=";

/**
 * Returns a link that contains the permission in its fragment, which browsers never send to a server.
 *
 * @param {string} container
 */
export function linkTo(container) {
  return `${ADDRESS}/vault${MARK}${container}`;
}

/** Returns the permission in this page's URL, or an empty string. */
export function linked() {
  return location.hash.startsWith(MARK) ? location.hash.slice(MARK.length) : "";
}

/** @param {string} container */
export async function received(container) {
  const still = preparing();
  const claims = await (await ready()).vault.verifyUcan(container).catch(() => null);
  if (still()) draw(container, claims?.kind === "delegation" ? claims : null);
}

/**
 * @param {string} container
 * @param {any} claims null if it is not valid
 */
function draw(container, claims) {
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

/** @param {any} claims */
function sentence({ audience: to, command, expiration, policy }) {
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
