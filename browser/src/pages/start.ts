/** The first screen: what this service is, whether it is working, and how to register or open a vault. */

import { meta } from "../kit/meta.ts";
import { language, text, type TextKey } from "./parts/language.ts";
import { button, buttons, el, paragraph } from "./parts/nodes.ts";
import { begun, type Begun, hadVault, setBegun } from "./parts/notes.ts";
import { obstacle } from "./parts/obstacle.ts";
import { go, opening } from "./parts/router.ts";
import { SERVICE, preparing, show } from "./parts/screen.ts";
import { SLOW_MS, service } from "./parts/vault_client.ts";
import { resume } from "./register/flow.ts";

/** the points, and the path of each point's picture */
const POINTS: [string, string][] = [
  [
    "key",
    "M14 3a5 5 0 0 0-4.8 6.4L3 15.6V21h4v-2.5h2.5V16H12l1-1.2A5 5 0 1 0 14 3Zm1.5 3a1.5 1.5 0 1 1 0 3 1.5 1.5 0 0 1 0-3Z",
  ],
  [
    "vault",
    "M12 2 4 5v6c0 5 3.4 9.3 8 11 4.6-1.7 8-6 8-11V5l-8-3Zm0 6a2.5 2.5 0 0 1 1.2 4.7V16h-2.4v-3.3A2.5 2.5 0 0 1 12 8Z",
  ],
  [
    "account",
    "M3 6a2 2 0 0 1 2-2h12v3h2a2 2 0 0 1 2 2v9a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2V6Zm2 0v1h10V6H5Zm12 6a1.5 1.5 0 1 0 0 3 1.5 1.5 0 0 0 0-3Z",
  ],
];

export async function start({ quiet = false }: { quiet?: boolean } = {}) {
  const still = preparing();
  const row = await begun().catch(() => null);
  if (!still()) return;
  if (row) return unfinished(row, quiet);
  welcome(quiet);
}

function welcome(quiet: boolean) {
  const here = hadVault();
  show({
    name: "start",
    heading: text("start.heading"),
    quiet,
    redraw: () => welcome(true),
    body: [
      paragraph("start.lead", {}, "lead"),
      ...actions(here, obstacle()),
      el(
        "ul",
        { class: "points" },
        ...POINTS.map(([name, path]) =>
          el("li", {}, picture(path), el("span", {}, text(`start.point.${name}` as TextKey, { name: SERVICE }))),
        ),
      ),
    ],
  });
}

/**
 * @param here whether this browser has a vault
 * @param obstacle why registering is impossible
 */
function actions(here: boolean, obstacle: HTMLElement | null) {
  const register = button(text("start.register"), () => go("choose"), { kind: here ? "" : "main", name: "register" });
  const back = button(text(here ? "start.open" : "start.return"), opening("vault"), {
    kind: here ? "main" : "",
    name: "return",
  });
  if (meta("registration") === "closed")
    return [here && paragraph("start.stored"), paragraph("start.closed"), buttons(back)];
  const stored = here && paragraph("start.stored");
  // Even where passkeys do not work, a stored vault that has a password can be opened.
  if (obstacle) return [obstacle, stored, here && buttons(back)];
  return [el("div", {}, stored, here ? buttons(back, register) : buttons(register, back))];
}

/** Offers to continue an interrupted registration. */
function unfinished(row: Begun, quiet: boolean) {
  const { identifier } = row;
  const other = async () => {
    // Keep a stored vault. A passkey without a vault is discarded when the next passkey is created.
    await setBegun({ ...row, attestation: undefined });
    await go("choose", row);
  };
  show({
    name: "resume",
    heading: text("resume.heading"),
    quiet,
    redraw: () => unfinished(row, true),
    body: [
      paragraph("resume.lead", { identifier }),
      buttons(
        button(text("resume.continue"), (event) => resume(row, event.currentTarget), {
          kind: "main",
          name: "continue",
        }),
        button(text("resume.other"), other, { kind: "plain", name: "other" }),
      ),
    ],
  });
}

function picture(path: string) {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  const drawn = document.createElementNS(space, "path");
  drawn.setAttribute("d", path);
  drawn.setAttribute("fill", "currentColor");
  svg.append(drawn);
  return svg;
}

/** Counts the requests for the state: an answer that comes late does not replace a newer one. */
let latest = 0;

/**
 * Requests the service's state once and shows it in the footer. Requests a balance to test whether the chain is
 * reachable.
 */
export async function showState(node: HTMLElement) {
  const turn = ++latest;
  const set = (key: TextKey, look: string) => {
    if (turn !== latest) return;
    node.textContent = text(key);
    node.className = `state ${look}`;
    node.lang = language;
  };
  if (!navigator.onLine) return set("footer.offline", "bad");
  set("footer.checking", "");
  const late = setTimeout(() => set("footer.down", "bad"), SLOW_MS);
  try {
    const { chainId } = await service().status();
    await service().readyz();
    clearTimeout(late);
    set("footer.works", "good");
    const account = `0x${"00".repeat(20)}`;
    await service()
      .balance({ account, token: "ETH", chainId: String(chainId) })
      .catch(() => set("footer.partly", ""));
  } catch {
    clearTimeout(late);
    set("footer.down", "bad");
  }
}
