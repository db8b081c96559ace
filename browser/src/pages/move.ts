/**
 * Entry point of /move. At the service that a person leaves, it moves vault and name to another one; at the other one it
 * makes the passkey, because browsers make passkeys only for the address that they show.
 */

import "../kit/kit.ts";
import { footer } from "./footer.ts";
import { moveOrMoved } from "./move/leave.ts";
import { make } from "./move/make.ts";
import { FOR_PASSKEY } from "./move/messages.ts";
import "./move/texts.ts";
import { cannotStore } from "./parts/obstacle.ts";
import { problem } from "./parts/problems.ts";
import { addScreens, go, stay } from "./parts/router.ts";
import { alarm } from "./parts/screen.ts";
import { ready, whenGone } from "./parts/vault_client.ts";
import { nameScreens } from "./screens.ts";
import { blocked, gone } from "./vault/unlock.ts";

nameScreens();
stay();
addScreens({ home: moveOrMoved });
footer();
void (location.hash === FOR_PASSKEY ? make(window.opener) : began()).catch((error) => alarm(problem(error)));

async function began() {
  whenGone(gone);
  if (cannotStore()) return blocked();
  await ready();
  await go("vault");
}
