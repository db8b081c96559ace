/** Saves a backup file protected by a password, and restores it. */

import { confirmed } from "../parts/dialog.ts";
import { moment, text } from "../parts/language.ts";
import { button, buttons, el, field, form, paragraph, submit } from "../parts/nodes.ts";
import { addFacts } from "../../kit/notes.ts";
import { markVault } from "../parts/notes.ts";
import { obstacle } from "../parts/obstacle.ts";
import { newPassword, shown } from "../parts/passwords.ts";
import { ProblemError, succeeded } from "../parts/problems.ts";
import { go, opening } from "../parts/router.ts";
import { run, show } from "../parts/screen.ts";
import { ready } from "../parts/vault_client.ts";
import { card } from "./card.ts";
import type { Facts } from "./home.ts";
import { ofFile } from "./recover.ts";

/** The first bytes of a backup file with a separate password. */
const WITH_PASSWORD = "MTRV";

export function backupCard({ backupAt }: Facts) {
  return card(
    "backup",
    text("backup.heading"),
    backupAt ? paragraph("backup.last", { time: moment(backupAt) }) : paragraph("backup.none"),
    el(
      "div",
      { class: "buttons" },
      button(text("backup.make"), () => go("export"), { name: "export" }),
    ),
  );
}

/** The screen that saves a backup file. */
export function exportVault() {
  show({
    name: "export",
    heading: text("backup.heading"),
    redraw: exportVault,
    body: [
      paragraph("backup.lead"),
      newPassword(text("backup.save"), saved, button(text("back"), opening("vault"), { kind: "plain", name: "back" })),
    ],
  });
}

async function saved(password: string) {
  const { vault } = await ready();
  const { data, did } = succeeded(await vault.export({ password }));
  const address = URL.createObjectURL(new Blob([new Uint8Array(data ?? [])], { type: "application/octet-stream" }));
  const link = el("a", { href: address, download: `holdfast-${new Date().toISOString().slice(0, 10)}.mtrv` });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
  if (did) await addFacts(did, { backupAt: Date.now() });
  await go("home", { said: text("backup.saved") });
}

/** The screen that reads a backup file. */
export function importVault() {
  const file = field(text("import.file"), {
    type: "file",
    name: "file",
    accept: ".mtrv,.car,application/vnd.ipld.car,application/octet-stream",
  });
  const password = field(
    text("import.password"),
    { type: "password", name: "password", autocomplete: "current-password" },
    text("import.password.hint"),
  );
  const open = (it: HTMLFormElement) => {
    const chosen = file.input.files?.[0];
    file.judge(chosen ? "" : text("choose.empty"));
    if (!chosen) return file.input.focus();
    return run(it.querySelector("button[type=submit]"), () => read(chosen, password.input.value), text("working"));
  };
  show({
    name: "import",
    heading: text("import.heading"),
    redraw: importVault,
    body: [
      paragraph("import.lead"),
      form(
        open,
        file.node,
        password.node,
        shown(password.input),
        buttons(submit(text("import.open")), button(text("back"), opening("vault"), { kind: "plain", name: "back" })),
      ),
    ],
  });
}

async function read(file: File, password: string) {
  const { vault } = await ready();
  const data = new Uint8Array(await file.arrayBuffer());
  if (new TextDecoder().decode(data.subarray(0, 4)) !== WITH_PASSWORD) return ofFile(data, password);
  if (!password) throw new ProblemError("import.password.needed");
  const imported = (replace: boolean) => vault.import({ data, password }, { kind: "password", password }, { replace });
  const answer = await imported(false);
  succeeded(answer.error === "conflict" && (await replaces()) ? await imported(true) : answer);
  markVault();
  await go("home", { said: text(obstacle() ? "import.here" : "import.done") });
}

/** Asks whether the file's copy is to replace the vault that is stored here, which may be newer. */
function replaces() {
  return confirmed({
    heading: text("recover.older.heading"),
    words: text("import.older"),
    yes: text("recover.older.take"),
  });
}
