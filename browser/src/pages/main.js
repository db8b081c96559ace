/** The pages' entry point: screens by name, the language switch, the service's state. */

import { footer } from "./footer.js";
import { go, goToAddress } from "./parts/router.js";
import { ready, whenGone } from "./parts/vault_client.js";
import { nameScreens } from "./screens.js";
import { linked } from "./vault/received.js";
import { gone } from "./vault/unlock.js";

/** Shows what the address identifies: a page, or a permission that someone passes on. */
function shown() {
  const container = linked();
  return container ? go("received", container) : goToAddress();
}

document.querySelector(".home")?.addEventListener("click", (event) => {
  event.preventDefault();
  void go("start");
});
addEventListener("popstate", () => void shown());
addEventListener("hashchange", () => void shown());
nameScreens();
whenGone(gone);
footer();
void shown();
// The enclave starts while the person is reading; code that needs it waits for it and gets the error if it fails.
void ready().catch(() => {});
