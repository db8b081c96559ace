/** Written by `tools/browser_client.py` from `interface/client_types.json`; not edited by hand. */

/** Every table of a vault. */
export const RESOURCES = ["accounts", "credentials", "sessions", "grants", "enclaves", "delegations", "ucans", "verification_methods", "services", "service_configs", "tokens", "invocations", "sync", "oidc"];
