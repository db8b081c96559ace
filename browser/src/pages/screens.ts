/** All screens by name; each page's entry point registers them. */

import { drillDevice } from "./drill/device.ts";
import { drillFile } from "./drill/file.ts";
import { addressProven, leave } from "./leave/parts.ts";
import { addScreens } from "./parts/router.ts";
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
import { home } from "./vault/home.ts";
import { received } from "./vault/received.ts";
import { versions } from "./vault/snapshots.ts";
import { stuck } from "./vault/stuck.ts";
import { elsewhere, enter } from "./vault/unlock.ts";

const SCREENS = {
  start,
  choose,
  passkey,
  prove,
  finish,
  safety,
  vault: enter,
  home,
  elsewhere,
  stuck,
  export: exportVault,
  import: importVault,
  versions,
  pair,
  take,
  "drill-file": drillFile,
  "drill-device": drillDevice,
  "passkey-proven": passkeyProven,
  leave,
  "address-proven": addressProven,
  received,
  send,
  "send-review": review,
  sending,
};

type OnDemand = typeof import("./keys/screen.ts");

/** What draws each screen, by its name. */
export type Screens = typeof SCREENS &
  Pick<OnDemand, "keys" | "identity" | "spending" | "delegate"> & {
    "keys-notice": OnDemand["noticed"];
    "stop-service": OnDemand["stopService"];
    "drill-account": OnDemand["drillAccount"];
    "spending-new": OnDemand["spendingNew"];
    "spending-review": OnDemand["spendingReview"];
    "spending-rows": OnDemand["spendingRows"];
  };

/** Registers every screen. Screens do not register themselves on import, because the build would drop such modules. */
export function nameScreens() {
  addScreens(SCREENS);
}
