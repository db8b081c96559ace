/** Changes the account on every chain of the service, and shows where the change is done and where it is left. */

import "./texts.ts";
import type { Change as AccountChange, SignedChanges } from "../../account/changes.ts";
import { text } from "../parts/language.ts";
import { button, buttons, el, paragraph } from "../parts/nodes.ts";
import { problem } from "../parts/problems.ts";
import { go, opening } from "../parts/router.ts";
import { run, show } from "../parts/screen.ts";
import { explainedMissing } from "../parts/second_key.ts";
import { ready } from "../parts/vault_client.ts";
import { chainsOfChanges } from "./card.ts";
import { nextSequence, noteSequences } from "./places.ts";
import { agreedToServiceAlone } from "./service_alone.ts";

/**
 * Signs changes once, and brings them to the chains.
 *
 * @param before what happens first on the main chain
 */
export async function change(heading: string, changes: AccountChange[], before: () => Promise<void> = async () => {}) {
  const client = await ready();
  const main = await client.accountKeys();
  const sequence = await nextSequence(main);
  if (sequence === null) return;
  const serviceAlone = await main.givesServiceAlone(changes);
  if (serviceAlone && !(await agreedToServiceAlone(main))) return;
  /** once: what an interrupted attempt brought is then not brought again */
  let signed: SignedChanges[] = [];
  const first = async () => {
    if (!signed.length) {
      await before();
      signed = [await main.sign(changes, { sequence, serviceAlone }).catch(missing)];
    }
    await noteSequences(signed[0].account, { signed: sequence + 1 });
    await main.bring(signed);
    await noteSequences(signed[0].account, { brought: sequence + 1 });
  };
  const missing = async (error: unknown) => {
    throw await explainedMissing(error, (await client.vault.query()).did);
  };
  await everywhere(heading, first, () => signed);
}

/** Brings the changes that the main chain has to the other chains, which may lack some. */
export async function bringChanges() {
  await everywhere(
    text("keys.bring"),
    async () => {},
    () => [],
  );
}

/**
 * @param first what happens on the main chain
 * @param signed here. They are always brought with the history: an endpoint may hide the change, or show only a
 *   forged one in its place
 */
async function everywhere(heading: string, first: () => Promise<void>, signed: () => SignedChanges[]) {
  const client = await ready();
  const further = async (chainId: number) => {
    const main = await client.accountKeys();
    const [history, origin] = [await main.history(), (await main.origin()) ?? undefined];
    const all = [...signed(), ...history];
    if (all.length) await (await client.accountKeys(undefined, chainId)).bring(all, { origin });
  };
  const chains = await chainsOfChanges(client);
  const steps = chains.map((it) => ({ name: it.name, work: it.main ? first : () => further(it.chainId) }));
  await shown(heading, steps);
}

/** what happens on one chain */
type Step = { name: string; work: () => Promise<void> };

type State = "waiting" | "working" | "done" | "left";

async function shown(heading: string, steps: Step[], done: Set<Step> = new Set()) {
  const again = button(text("again"), (event) => run(event.currentTarget, () => shown(heading, steps, done)), {
    kind: "main",
    name: "again",
  });
  const back = button(text("back"), opening("keys"), { kind: "plain", name: "back" });
  const rows = steps.map((step) => row(step, done.has(step)));
  again.hidden = back.hidden = true;
  show({
    name: "keys-change",
    heading,
    body: [
      paragraph("keys.change.lead"),
      el("ul", { class: "rows" }, ...rows.map(({ node }) => node)),
      buttons(again, back),
    ],
  });
  for (const { step, mark } of rows) {
    if (done.has(step)) continue;
    mark("working");
    try {
      await step.work();
    } catch (error) {
      mark("left", problem(error));
      if (step === steps[0]) break; // the others take the change from the first
      continue;
    }
    done.add(step);
    mark("done");
  }
  if (done.size === steps.length)
    return go("keys", { said: text("keys.change.said", { chain: steps.map(({ name }) => name).join(", ") }) });
  again.hidden = back.hidden = false;
}

function row(step: Step, isDone: boolean) {
  const state = el("p", { class: "small", role: "status" });
  const node = el("li", { "data-chain": step.name }, el("h2", {}, step.name), state);
  const mark = (now: State, reason = "") => {
    node.dataset.state = now;
    state.textContent = text(`keys.change.${now}`, { reason });
  };
  mark(isDone ? "done" : "waiting");
  return { step, node, mark };
}
