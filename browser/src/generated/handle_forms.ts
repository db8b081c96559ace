/** Written by `tools/browser_client.py` from `src/holdfast/rules/handle_forms.py`; not edited by hand. */

/** The endings of host names that people trust. */
export const ENDINGS = ["com", "org", "net", "edu", "gov", "int", "mil", "eth", "crypto", "nft", "wallet", "blockchain", "bitcoin", "dao", "x", "888", "zil", "polygon", "unstoppable", "sol", "bnb", "arb", "lens", "bit", "tez", "near", "apt", "sui", "ton", "avax", "algo", "btc", "stx", "fil"];

/** Labels that make such a host name together with a country's domain. */
export const BEFORE_COUNTRY = ["com", "org", "net", "edu", "gov", "mil", "co", "ac"];
