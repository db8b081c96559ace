/**
 * The modules that every visit needs. The client and each part that it loads on demand import this file, so that the
 * build writes these modules to one file instead of ten small ones, which would be larger.
 */

import "./bytes.js";
import "./chain/errors.js";
import "./chain/names.js";
import "./errors.js";
import "./chain/lookups.js";
import "./http/service.js";
import "./passkeys/platform.js";
import "./passkeys/use.js";
import "./trusted.js";
import "./vault/store.js";
import "./vault/vault.js";
