/** The boot events that starts and reports give (vectors/service/boot.json). */

import assert from "node:assert/strict";
import { test } from "node:test";

import { BootLog } from "../src/vault/boot.ts";
import { vectors } from "./vector_files.js";

for (const { steps, events, ready } of vectors("service/boot.json").cases)
  test(steps.join(", "), async () => {
    const told = [];
    const log = new BootLog(({ status }) => told.push(status));
    let [started, starting] = [Promise.withResolvers(), Promise.resolve()];
    for (const step of steps) {
      if (step === "begin") {
        started = Promise.withResolvers();
        starting = log.starting("helia", () => started.promise).catch(() => {});
      }
      if (step === "finish") started.resolve();
      if (step === "break") started.reject(new Error("broken"));
      if (step === "finish" || step === "break") await starting;
      if (step === "fail") log.report("helia", "no answer");
      if (step === "work") log.report("helia", null);
      if (step === "end") log.ended();
    }
    assert.deepEqual([told, log.status.helia], [events, ready]);
  });
