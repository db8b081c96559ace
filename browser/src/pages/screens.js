/** All screens by name; each page's entry point registers them. */

import { drillDevice } from "./drill/device.js";
import { drillFile } from "./drill/file.js";
import { addressProven, leave } from "./leave/parts.js";
import { screen } from "./parts/router.js";
import { pair } from "./pair/give.js";
import { take } from "./pair/take.js";
import { choose } from "./register/choose.js";
import { finish } from "./register/finish.js";
import { passkey } from "./register/passkey.js";
import { prove } from "./register/prove.js";
import { safety } from "./register/safety.js";
import { send } from "./send/form.js";
import { review } from "./send/review.js";
import { sending } from "./send/sending.js";
import { start } from "./start.js";
import { passkeyProven } from "./vault/adding.js";
import { exportVault, importVault } from "./vault/backup.js";
import { delegate } from "./vault/delegations.js";
import { home } from "./vault/home.js";
import { received } from "./vault/received.js";
import { versions } from "./vault/snapshots.js";
import { stuck } from "./vault/stuck.js";
import { elsewhere, enter } from "./vault/unlock.js";

/** Registers every screen. Screens do not register themselves on import, because the build would drop such modules. */
export function nameScreens() {
  screen("start", start);
  screen("choose", choose);
  screen("passkey", passkey);
  screen("prove", prove);
  screen("finish", finish);
  screen("safety", safety);
  screen("vault", enter);
  screen("home", home);
  screen("elsewhere", elsewhere);
  screen("stuck", stuck);
  screen("export", exportVault);
  screen("import", importVault);
  screen("delegate", delegate);
  screen("versions", versions);
  screen("pair", pair);
  screen("take", take);
  screen("drill-file", drillFile);
  screen("drill-device", drillDevice);
  screen("passkey-proven", passkeyProven);
  screen("leave", leave);
  screen("address-proven", addressProven);
  screen("received", received);
  screen("send", send);
  screen("send-review", review);
  screen("sending", sending);
}
