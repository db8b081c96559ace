/** All screens by name; each page's entry point registers them. */

import { drillDevice } from "./drill/device.ts";
import { drillFile } from "./drill/file.ts";
import { addressProven, leave } from "./leave/parts.ts";
import { screen } from "./parts/router.ts";
import { pair } from "./pair/give.ts";
import { take } from "./pair/take.ts";
import { choose } from "./register/choose.ts";
import { finish } from "./register/finish.ts";
import { passkey } from "./register/passkey.ts";
import { prove } from "./register/prove.ts";
import { safety } from "./register/safety.ts";
import { send } from "./send/form.ts";
import { review } from "./send/review.ts";
import { sending } from "./send/sending.ts";
import { start } from "./start.ts";
import { passkeyProven } from "./vault/adding.ts";
import { exportVault, importVault } from "./vault/backup.ts";
import { delegate } from "./vault/delegations.ts";
import { home } from "./vault/home.ts";
import { received } from "./vault/received.ts";
import { versions } from "./vault/snapshots.ts";
import { stuck } from "./vault/stuck.ts";
import { elsewhere, enter } from "./vault/unlock.ts";

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
