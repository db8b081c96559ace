/** Registers screens by name, so that no screen's module needs to import that of another screen. */

import type { Screens } from "../screens.ts";
import { depth } from "./back.ts";
import { text } from "./language.ts";
import type { Press } from "./nodes.ts";
import { run } from "./screen.ts";

/** What draws the screens, by their names. */
type Drawn = { [Name in keyof Screens]: (...given: Parameters<Screens[Name]>) => unknown };

const screens: Partial<Record<keyof Screens, (given?: unknown) => unknown>> = {};

/** The URL paths of screens. A screen without a path leaves the URL unchanged. */
const PATHS: Record<string, string> = { start: "/", vault: "/vault" };
let staying = false;

/** Keeps the URL unchanged from now on, because the page is serving an application's request. */
export function stay() {
  staying = true;
}

/** Whether the page is serving an application's request, so that its screens lead back to the application. */
export function stays() {
  return staying;
}

export function addScreens(added: Partial<Drawn>) {
  Object.assign(screens, added);
}

/** Goes to a screen. */
export function go<Name extends keyof Screens>(name: Name, ...given: Parameters<Screens[Name]>): Promise<void>;
export async function go(name: keyof Screens, given?: unknown): Promise<void> {
  const draw = screens[name];
  if (!draw) throw new TypeError(`no screen: ${name}`);
  const path = PATHS[name];
  // An entry that was added for a screen with a Back button makes way.
  if (!staying && path && location.pathname !== path) history[depth() ? "replaceState" : "pushState"](null, "", path);
  await draw(given);
}

/**
 * Returns what a button does that leads to a screen which is loaded, or asks the service, before it is drawn: the page
 * says that it takes a moment, and why the screen does not come.
 */
export function opening<Name extends keyof Screens>(name: Name, ...given: Parameters<Screens[Name]>) {
  return (event: Press) => run(event.currentTarget, () => go(name, ...given), text("working"));
}

/** Draws the screen that the URL identifies. */
export function goToAddress() {
  return go(location.pathname.replace(/\/+$/, "") === "/vault" ? "vault" : "start");
}
