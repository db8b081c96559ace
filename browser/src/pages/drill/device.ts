/** Tests a paired device, which must compute six digits from a random number with the vault's key. */

import { text } from "../parts/language.ts";
import { buttons, button, el, field, form, paragraph, submit } from "../parts/nodes.ts";
import { ProblemError } from "../parts/problems.ts";
import { go } from "../parts/router.ts";
import { run, show } from "../parts/screen.ts";
import { ready } from "../parts/vault_client.ts";
import { back, openDid } from "./card.ts";
import { answerTo, newNumber, noteTrial } from "./trials.ts";

const SIX = /^\d{6}$/;

/** The screen of the device that shows the random number. */
export function drillDevice(number = newNumber()) {
  const answer = digits(text("drill.device.answer"), "answer");
  const trial = async () => {
    const expected = await answerTo(await ready(), number);
    if (read(answer) !== expected) throw new ProblemError("drill.device.wrong");
    await noteTrial(await openDid(), "device");
    await go("home", { said: text("drill.device.works") });
  };
  show({
    name: "drill-device",
    heading: text("drill.device"),
    redraw: () => drillDevice(number),
    body: [
      paragraph("drill.device.lead"),
      el("p", { class: "digits", "data-name": "number" }, number),
      answerForm(answer, text("drill.device.check"), trial),
      buttons(button(text("drill.device.other"), () => answerDevice(), { kind: "plain", name: "answer-device" })),
    ],
  });
}

/** The screen of the device that computes six digits from that number. */
export function answerDevice() {
  const number = digits(text("drill.device.number"), "number");
  const shown = el("p", { class: "digits", "data-name": "answer", role: "status" });
  const give = async () => {
    shown.textContent = await answerTo(await ready(), read(number));
  };
  show({
    name: "drill-answer",
    heading: text("drill.device.other"),
    redraw: answerDevice,
    body: [paragraph("drill.device.other.lead"), answerForm(number, text("drill.device.give"), give), shown],
  });
}

function digits(label: string, name: string) {
  return field(label, { name, inputmode: "numeric", autocomplete: "off" });
}

function read({ input }: ReturnType<typeof field>) {
  return input.value.replace(/\s/g, "");
}

function answerForm(it: ReturnType<typeof field>, label: string, work: () => Promise<void>) {
  const press = (node: HTMLFormElement) => {
    it.judge(SIX.test(read(it)) ? "" : text("drill.device.six"));
    if (!SIX.test(read(it))) return it.input.focus();
    return run(node.querySelector("button"), work);
  };
  return form(press, it.node, buttons(submit(label), back()));
}
