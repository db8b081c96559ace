/** Written by `tools/browser_client.py` from `src/holdfast/rules/chains.py`; not edited by hand. */

/** Block explorers that show a user operation by its hash, keyed by chain ID. */
export const EXPLORERS: Record<number, string> = {
  84532: "https://base-sepolia.blockscout.com",
  8453: "https://base.blockscout.com",
  1: "https://eth.blockscout.com",
};
