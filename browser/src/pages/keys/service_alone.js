/** Asks whether this service alone may give the account new keys, and says what that means. */

import "./texts.js";
import { confirmed } from "../parts/dialog.js";
import { text } from "../parts/language.js";
import { el } from "../parts/nodes.js";
import { SERVICE } from "../parts/screen.js";
import { ready } from "../parts/vault_client.js";
import { duration } from "./durations.js";

/**
 * @param {import("../../account/keys.js").AccountKeys} keys
 * @returns {Promise<boolean>}
 */
export async function agreedToServiceAlone(keys) {
  const [{ settings }, { waitSeconds }] = [await keys.view(), await (await ready()).recoveryTerms()];
  const values = { name: SERVICE, wait: duration(waitSeconds), time: duration(settings.delay) };
  const point = (/** @type {import("../parts/language.js").TextKey} */ key) => el("li", {}, text(key, values));
  return confirmed({
    heading: text("keys.alone.heading", values),
    words: text("keys.alone.text", values),
    yes: text("keys.alone.yes"),
    more: [
      el("ul", {}, point("keys.alone.service"), point("keys.alone.mail"), point("keys.alone.time")),
      el("p", { class: "notice" }, text("keys.alone.better")),
    ],
  });
}
