/** Why a vault cannot be recovered in this browser; vectors/flows has the recoveries themselves. */

import assert from "node:assert/strict";
import { test } from "node:test";

import "./dom.js";
import { RecoveryRefused } from "../src/snapshots/errors.ts";
import { readRecord } from "../src/snapshots/records.ts";
import { Recovery } from "../src/snapshots/recovery.ts";
import { vectors } from "./vector_files.js";

const KEY = { kind: "password", password: "correct horse battery" };
const status = (locked) => ({ vault: { status: async () => ({ locked }) } });

test("a browser that cannot verify Ed25519 signatures is told so", async (context) => {
  const unknown = async () => Promise.reject(new DOMException("Unrecognized name.", "NotSupportedError"));
  context.mock.method(crypto.subtle, "importKey", unknown);
  const [{ ipns_name: name, record }] = vectors("ipns/records.json").records;
  const answers = () => readRecord(name, Uint8Array.from(Buffer.from(record, "hex")));
  const recovery = new Recovery(status(true), {}, { gateways: { answers } }, { key: KEY, name });
  await assert.rejects(recovery.recover(), (error) => error instanceof RecoveryRefused && error.code === "unsupported");
});

test("a passkey without a secret needs another key, and an open vault is locked first", async () => {
  const passkey = { hasKey: false };
  await assert.rejects(new Recovery(status(true), {}, {}, { passkey }).recover(), { code: "no_prf" });
  const open = new Recovery(status(false), {}, {}, { passkey });
  await assert.rejects(open.recover(), { name: "ClientStateError", message: /lock it first/ });
});
