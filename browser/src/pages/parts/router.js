/** Registers screens by name, so that no screen's module needs to import that of another screen. */

import { depth } from "./back.js";

/** @type {Map<string, (given?: any) => unknown>} */
const screens = new Map();

/** The URL paths of screens. A screen without a path leaves the URL unchanged. @type {Record<string, string>} */
const PATHS = { start: "/", vault: "/vault" };
let staying = false;

/** Keeps the URL unchanged from now on, because the page is serving an application's request. */
export function stay() {
  staying = true;
}

/** Whether the page is serving an application's request, so that its screens lead back to the application. */
export function stays() {
  return staying;
}

/**
 * @param {string} name
 * @param {(given?: any) => unknown} draw
 */
export function screen(name, draw) {
  screens.set(name, draw);
}

/**
 * Goes to a screen.
 *
 * @param {string} name
 * @param {any} [given]
 * @returns {Promise<void>}
 */
export async function go(name, given) {
  const draw = screens.get(name);
  if (!draw) throw new TypeError(`no screen: ${name}`);
  const path = PATHS[name];
  // An entry that was added for a screen with a Back button makes way.
  if (!staying && path && location.pathname !== path) history[depth() ? "replaceState" : "pushState"](null, "", path);
  await draw(given);
}

/** Draws the screen that the URL identifies. */
export function goToAddress() {
  return go(location.pathname.replace(/\/+$/, "") === "/vault" ? "vault" : "start");
}
