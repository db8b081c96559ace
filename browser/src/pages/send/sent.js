/** Stores the payments sent from this browser and their results. */

import { VaultStore } from "../library.js";
import { service } from "../parts/vault_client.js";

const KEPT = 50;
const ASKED_FOR_MS = 2000;

/**
 * @typedef {{hash: string, to: string, amount: string, symbol: string, time: string, state: "sent" | "confirmed" | "failed"}} Sent
 *   `hash`: of the operation; `amount`: decimal
 */

/**
 * Returns the payments sent from a vault, newest last. The receipts of pending payments are requested again.
 *
 * @param {string} did
 * @returns {Promise<Sent[]>}
 */
export async function sentFrom(did) {
  const rows = await rowsOf(did);
  const late = new Promise((resolve) => setTimeout(resolve, ASKED_FOR_MS));
  await Promise.race([late, Promise.all(rows.filter(({ state }) => state === "sent").map((it) => followed(did, it)))]);
  return rowsOf(did);
}

/** Returns the names, DIDs and addresses to which a vault has made confirmed payments. @param {string} did */
export async function paidFrom(did) {
  return (await rowsOf(did)).filter(({ state }) => state === "confirmed").map(({ to }) => to);
}

/** @param {string} did @returns {Promise<Sent[]>} */
function rowsOf(did) {
  return noted(async (store) => (await store.note(`pages:sent:${did}`)) ?? []);
}

/**
 * Records a payment or its result.
 *
 * @param {string} did
 * @param {Sent} row
 */
export async function note(did, row) {
  await noted(async (store) => {
    const before = /** @type {Sent[]} */ ((await store.note(`pages:sent:${did}`)) ?? []);
    await store.setNote(`pages:sent:${did}`, [...before.filter(({ hash }) => hash !== row.hash), row].slice(-KEPT));
  });
}

/** @param {string} did @param {Sent} row */
async function followed(did, row) {
  const receipt = await service().bundler("eth_getUserOperationReceipt", [row.hash]).catch(() => null);
  if (receipt) await note(did, { ...row, state: receipt.success ? "confirmed" : "failed" });
}

/**
 * @template T
 * @param {(store: VaultStore) => Promise<T>} work
 * @returns {Promise<T>}
 */
async function noted(work) {
  const store = new VaultStore();
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}
