/**
 * Entry point of /move. At the service that a person leaves, it moves vault and name to another one; at the other one it
 * makes the passkey, because browsers make passkeys only for the address that they show.
 */

import "../kit/kit.js";
import { footer } from "./footer.js";
import { moveFrom } from "./move/leave.js";
import { make } from "./move/make.js";
import { FOR_PASSKEY } from "./move/messages.js";
import "./move/texts.js";
import { cannotStore } from "./parts/obstacle.js";
import { problem } from "./parts/problems.js";
import { go, screen, stay } from "./parts/router.js";
import { alarm } from "./parts/screen.js";
import { ready, whenGone } from "./parts/vault_client.js";
import { nameScreens } from "./screens.js";
import { blocked, gone } from "./vault/unlock.js";

nameScreens();
stay();
screen("home", moveFrom);
footer();
void (location.hash === FOR_PASSKEY ? make(window.opener) : began()).catch((error) => alarm(problem(error)));

async function began() {
  whenGone(gone);
  if (cannotStore()) return blocked();
  await ready();
  await go("vault");
}
