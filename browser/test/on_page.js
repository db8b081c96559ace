/** Tests of single screens of the pages, without a browser: an empty page, a client, and where the pages go. */

import { test } from "node:test";

import "./dom.js";
import "./scenarios/clients.js"; // keeps the vaults' stores in memory
import { Client, Vault } from "../src/holdfast.ts";
import { addScreens } from "../src/pages/parts/router.ts";
import { show } from "../src/pages/parts/screen.ts";

export const settled = () => new Promise((resolve) => setTimeout(resolve, 5));
/** Notes where the pages go. */
export const visited = [];
for (const name of ["home", "choose", "vault", "prove", "safety", "passkey", "finish"])
  addScreens({ [name]: (given) => void visited.push([name, given]) });

/** A test on an empty page. A hook would also run before the tests of other files. */
export const onPage = (name, work) =>
  test(name, (context) => {
    document.fill();
    show({ name: "", heading: "", body: [], quiet: true }); // ends the screen of the test before
    visited.length = 0;
    return work(context);
  });

/** What the form of a payment asks for. */
export const HELD = {
  account: async () => ({ address: "0x01" }),
  status: async () => ({ chainId: 1, chain: "Base" }),
  balance: async ({ token }) => ({ balance: token === "ETH" ? "0" : "5000000" }),
};

/** Replaces methods of the pages' client. */
export function client(context, methods) {
  const { vault = {}, ...rest } = methods;
  for (const [of, chosen] of [
    [Client.prototype, { boot: async () => ({}), ...rest }],
    [Vault.prototype, vault],
  ])
    for (const [name, method] of Object.entries(chosen)) context.mock.method(of, name, method);
}

export const ROW = { channel: "handle", identifier: "ada", did: "did:new:0x1", credentialId: "AAAA" };
