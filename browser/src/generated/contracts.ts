/** Written by `tools/browser_client.py` from `src/holdfast/chain/` and `src/holdfast/rules/chains.py`; not edited by hand. */

/** The factory of this release's accounts. */
export const APP_FACTORY = "0xAb73DfB925Dc0eA3d9E4bdA63b15267113eBf48B";

/** The versions of the entry point that accounts obey. */
export const ENTRY_POINTS = ["0x0000000071727De22E5E9d8BAf0edAc6f37da032", "0x4337084D9E255Ff0702461CF8895CE9E3b5Ff108", "0x433709009B8330FDa32311DF1C2AFA402eD8D009"];

/** USDC, by the chain's ID. */
export const USDC: Record<number, string | undefined> = {"84532": "0x036CbD53842c5426634e7929541eC2318f3dCF7e", "8453": "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", "1": "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"};
