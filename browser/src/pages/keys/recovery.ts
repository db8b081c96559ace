/** What the pages say while a recovery of the account is under way, and what stops or finishes it. */

import "./texts.ts";
import type { Recovery } from "../../account/reads.ts";
import type { ServedChain } from "../../generated/types.ts";
import { moment, text } from "../parts/language.ts";
import { button, el, paragraph, type Press } from "../parts/nodes.ts";
import { go } from "../parts/router.ts";
import { run } from "../parts/screen.ts";
import { ready } from "../parts/vault_client.ts";
import { isAlone, keyList } from "./asking.ts";
import type { Namer } from "./people.ts";

/**
 * Returns the notice of a recovery, with the button that stops it: a warning with all new owners, unless this vault's
 * key becomes the only owner.
 *
 * @param own the signer of the vault's key
 * @param chain where it is under way
 */
export function notice({ readyAt, newOwners }: Recovery, own: string, named: Namer, chain: ServedChain) {
  const time = moment(readyAt * 1000);
  const isMine = isAlone(newOwners, own);
  return el(
    "section",
    { class: "notice", "data-name": "takeover" },
    el("h2", {}, text(isMine ? "keys.mine" : "keys.takeover")),
    paragraph(isMine ? "keys.mine.text" : "keys.takeover.text", { time }),
    !chain.main && paragraph("keys.takeover.chain", { chain: chain.name }),
    !isMine && paragraph(newOwners ? "keys.takeover.owners" : "keys.takeover.unknown"),
    !isMine && newOwners?.includes(own) && paragraph("keys.takeover.shared"),
    !isMine && newOwners && keyList(newOwners, named),
    el(
      "div",
      { class: "buttons" },
      button(text("keys.stop"), (event) => stop(event, chain), { kind: isMine ? "" : "bad", name: "stop" }),
    ),
  );
}

function stop(event: Press, { chainId, name: chain }: ServedChain) {
  const work = async () => {
    await (await (await ready()).accountKeys(undefined, chainId)).cancelRecovery();
    await go("home", { said: text("keys.stopped", { chain }) });
  };
  return run(event.currentTarget, work, text("working"));
}
