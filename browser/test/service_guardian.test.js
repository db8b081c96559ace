/** Which changes of guardians need the person's consent, by the vectors that all clients share. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { givesServiceAlone } from "../src/account/guardians.js";
import { vectors } from "./vector_files.js";

for (const { name, changes, alone, ...before } of vectors("accounts/service_alone.json").vectors)
  test(`consent: ${name}`, () => assert.equal(givesServiceAlone(before, changes), alone));
