/** The pages' entry point, which registers the screens and draws the footer and the screen for the address. */

import "../kit/kit.ts";
import { footer } from "./footer.ts";
import { noteScreen, throughHistory, wentBack } from "./parts/back.ts";
import { addScreens, go, goToAddress } from "./parts/router.ts";
import { whenDrawn } from "./parts/screen.ts";
import { ready, whenGone } from "./parts/vault_client.ts";
import { nameScreens } from "./screens.ts";
import { linked } from "./vault/received.ts";
import { gone } from "./vault/unlock.ts";

/** What a mail about a recovery links to (service/mail/notice_mail.py). */
const STOPPED = /^#stop-recovery=([0-9a-f]{32})$/;

/** Shows the screen that the address identifies, or the permission that its fragment contains. */
function shown() {
  const request = STOPPED.exec(location.hash)?.[1];
  if (request) return go("stop-service", { request });
  const container = linked();
  return container ? go("received", container) : goToAddress();
}

document.querySelector(".home")?.addEventListener("click", (event) => {
  event.preventDefault();
  void go("start");
});
whenDrawn(noteScreen);
addEventListener("click", throughHistory, { capture: true });
addEventListener("popstate", () => wentBack() || void shown());
addEventListener("hashchange", () => void shown());
nameScreens();
const onDemand = () => import("./keys/screen.ts");
addScreens({
  keys: async (given) => (await onDemand()).keys(given),
  identity: async (given) => (await onDemand()).identity(given),
  "keys-notice": async (given) => (await onDemand()).noticed(given),
  "stop-service": async (given) => (await onDemand()).stopService(given),
  delegate: async () => (await onDemand()).delegate(),
  "drill-account": async () => (await onDemand()).drillAccount(),
  spending: async (given) => (await onDemand()).spending(given),
  "spending-new": async (given) => (await onDemand()).spendingNew(given),
  "spending-review": async (given) => (await onDemand()).spendingReview(given),
  "spending-rows": async (given) => (await onDemand()).spendingRows(given),
});
whenGone(gone);
footer();
void shown();
// The enclave starts while the person is reading. Code that needs it waits, and gets the error if starting it fails.
void ready().catch(() => {});
