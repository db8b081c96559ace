/** Tests a backup file: opens it with its password, as an empty browser would. */

import { text } from "../parts/language.ts";
import { buttons, field, form, paragraph, submit } from "../parts/nodes.ts";
import { shown } from "../parts/passwords.ts";
import { go } from "../parts/router.ts";
import { run, show } from "../parts/screen.ts";
import { back, openDid } from "./card.ts";
import { noteTrial, tryFile } from "./trials.ts";

/** The screen that tests a backup file. */
export function drillFile() {
  const file = field(text("import.file"), { type: "file", name: "file", accept: ".mtrv,application/octet-stream" });
  const password = field(text("import.password"), { type: "password", name: "password", autocomplete: "off" });
  const trial = async () => {
    const did = await openDid();
    const chosen = file.input.files?.[0] as File;
    await tryFile(did, new Uint8Array(await chosen.arrayBuffer()), password.input.value);
    await noteTrial(did, "file");
    await go("home", { said: text("drill.file.works") });
  };
  const ask = (it: HTMLFormElement) => {
    const missing = [
      { it: file, empty: !file.input.files?.[0] },
      { it: password, empty: !password.input.value },
    ].filter(({ it, empty }) => (it.judge(empty ? text("choose.empty") : ""), empty));
    if (missing.length > 0) return missing[0].it.input.focus();
    return run(it.querySelector("button[type=submit]"), trial, text("working"));
  };
  show({
    name: "drill-file",
    heading: text("drill.file"),
    redraw: drillFile,
    body: [
      paragraph("drill.file.lead"),
      form(ask, file.node, password.node, shown(password.input), buttons(submit(text("drill.try")), back())),
    ],
  });
}
