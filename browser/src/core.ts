/**
 * The modules that every visit needs. The client and each part that it loads on demand import this file, so that the
 * build writes these modules to one file instead of ten small ones, which would be larger.
 */

import "./bytes.ts";
import "./chain/errors.ts";
import "./chain/names.ts";
import "./errors.ts";
import "./chain/lookups.ts";
import "./http/service.ts";
import "./passkeys/platform.ts";
import "./passkeys/use.ts";
import "./trusted.ts";
import "./vault/store.ts";
import "./vault/vault.ts";
