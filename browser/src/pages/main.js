/** The pages' entry: screens by name, the language switch, the service's state. */

import { footer } from "./footer.js";
import { go, goToAddress, screen } from "./parts/router.js";
import { ready, whenGone } from "./parts/vault_client.js";
import { drillDevice } from "./drill/device.js";
import { drillFile } from "./drill/file.js";
import { pair } from "./pair/give.js";
import { take } from "./pair/take.js";
import { choose } from "./register/choose.js";
import { finish } from "./register/finish.js";
import { passkey } from "./register/passkey.js";
import { prove } from "./register/prove.js";
import { safety } from "./register/safety.js";
import { start } from "./start.js";
import { passkeyProven } from "./vault/adding.js";
import { send } from "./send/form.js";
import { review } from "./send/review.js";
import { sending } from "./send/sending.js";
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
screen("pair", pair);
screen("take", take);
screen("drill-file", drillFile);
screen("drill-device", drillDevice);
screen("passkey-proven", passkeyProven);
screen("send", send);
screen("send-review", review);
screen("sending", sending);

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
