/** The pages' entry: screens by name, the language switch, the service's state. */

import { language, switchLanguage, text } from "./parts/language.js";
import { button, el } from "./parts/nodes.js";
import { go, goToAddress, screen } from "./parts/router.js";
import { showAgain } from "./parts/screen.js";
import { ready, whenGone } from "./parts/vault_client.js";
import { choose } from "./register/choose.js";
import { finish } from "./register/finish.js";
import { passkey } from "./register/passkey.js";
import { prove } from "./register/prove.js";
import { safety } from "./register/safety.js";
import { showState, start } from "./start.js";
import { delegate } from "./vault/delegations.js";
import { exportVault, importVault } from "./vault/backup.js";
import { home } from "./vault/home.js";
import { recoverFile } from "./vault/recover.js";
import { versions } from "./vault/snapshots.js";
import { elsewhere, enter, gone } from "./vault/unlock.js";

screen("start", start);
screen("choose", choose);
screen("passkey", passkey);
screen("prove", prove);
screen("finish", finish);
screen("safety", safety);
screen("vault", enter);
screen("home", home);
screen("elsewhere", elsewhere);
screen("export", exportVault);
screen("import", importVault);
screen("delegate", delegate);
screen("recover-file", recoverFile);
screen("versions", versions);

function footer() {
  document.documentElement.lang = language;
  const state = el("span", { class: "state" });
  const other = button(text("language.other"), changed, { kind: "plain", name: "language" });
  other.lang = language === "en" ? "de" : "en";
  document.getElementById("footer")?.replaceChildren(state, el("a", { href: "/docs" }, text("footer.interface")), other);
  void showState(state);
}

function changed() {
  switchLanguage();
  footer();
  showAgain();
  /** @type {HTMLElement | null} */ (document.querySelector('[data-name="language"]'))?.focus();
}

document.querySelector(".home")?.addEventListener("click", (event) => {
  event.preventDefault();
  void go("start");
});
addEventListener("popstate", () => void goToAddress());
whenGone(gone);
footer();
void goToAddress();
// The enclave starts while the person reads; what needs it waits for it and is told if it fails.
void ready().catch(() => {});
