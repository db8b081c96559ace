/** Asks whether this service alone may give the account new keys, and says what that means. */

import "./texts.ts";
import type { AccountKeys } from "../../account/keys.ts";
import { confirmed } from "../parts/dialog.ts";
import { text, type TextKey } from "../parts/language.ts";
import { el } from "../parts/nodes.ts";
import { SERVICE } from "../parts/screen.ts";
import { ready } from "../parts/vault_client.ts";
import { duration } from "./durations.ts";

export async function agreedToServiceAlone(keys: AccountKeys): Promise<boolean> {
  const [{ settings }, { waitSeconds }] = [await keys.view(), await (await ready()).recoveryTerms()];
  const values = { name: SERVICE, wait: duration(waitSeconds), time: duration(settings.delay) };
  const point = (key: TextKey) => el("li", {}, text(key, values));
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
