/** Written by `tools/browser_client.py` from `src/holdfast/client/types/service.py`; not edited by hand. */

import type { Form } from "../http/forms.ts";

/** What answers must have, as `fits` in http/forms.ts reads it. */
export const FORMS: Record<string, Form> = {
  ContractSet: { chainId: "n", entryPoint: /^0x[0-9a-fA-F]{40}$(?!\n)/, didRegistry: /^0x[0-9a-fA-F]{40}$(?!\n)/, accountHelper: "s", sessionSBT: "s", appFactory: /^0x[0-9a-fA-F]{40}$(?!\n)/ },
  Status: { chain: "s", chainId: "n", rpc: "s", database: "s" },
  ServedChains: { chains: { "[]": { chainId: "n", name: "s", main: "b", testMoney: "b", rpc: "s", explorer: "s", usdc: "sz", payments: "b" } } },
  PredictedAddress: { address: /^0x[0-9a-fA-F]{40}$(?!\n)/ },
  AccountState: { nonce: /^[0-9]{1,78}$(?!\n)/, did: /^0x([0-9a-fA-F]{2})*$(?!\n)/, isActive: "b", pubKeyX: /^0x[0-9a-fA-F]{1,64}$(?!\n)/, pubKeyY: /^0x[0-9a-fA-F]{1,64}$(?!\n)/ },
  Balance: { balance: "s", decimals: "n", symbol: "s", formatted: "s" },
  RegistrationCounters: { ip_registrations: "n", ip_limit: "n", total_registrations: "n" },
  DidRecord: [{ found: "b", identifier: "s", channel: "s", did: "s", txHash: "s", blockNumber: "unz", smartAccount: "usz", createdAt: "s" }, { found: false }],
  AliasAvailability: { available: "b", did: "usz" },
  SessionCreated: { ok: "ub", identifier: "s", channel: "s", did: "s" },
  Availability: { available: "b", reason: ["z", /^(taken|reserved)$/], message: "usz" },
  CodeSent: { ok: "ub", channel: "s" },
  CodeCheck: { ok: "b", verified: "b", attestation: ["uz", { identifier: "s", channel: "s", verified_at: "s", expires_at: "s", registrar: "s", signature: "s" }], message: "usz" },
  VerificationStatus: { identifier: "s", channel: "s", verified: "b", verifiedAt: "sz" },
  RecoveryTerms: { guardian: ["z", /^0x([0-9a-fA-F]{2})*$(?!\n)/], guardians: { "[]": /^0x([0-9a-fA-F]{2})*$(?!\n)/ }, waitSeconds: "n", channels: { "[]": "s" } },
  RecoveryCodeSent: { ok: "ub", channel: "s", request: "s" },
  RecoveryCheck: { ok: "b", verified: "b", account: "usz", readyAt: "usz", message: "usz" },
  RecoverySigned: { nonce: "n", signer: /^0x([0-9a-fA-F]{2})*$(?!\n)/, signature: /^0x([0-9a-fA-F]{2})*$(?!\n)/ },
  RecoveryStopped: { stopped: "b" },
  DidRegistered: { ok: "ub", identifier: "s", channel: "s", txHash: "s" },
  IndexerAlias: { found: "b", alias_hash: "usz", did_hash: "usz", active: "ubz", controller: "usz" },
  IndexerDid: { found: "b", did_hash: "usz", controller: "usz", metadata_cid: "usz", active: "ubz", block_number: "usz", tx_hash: "usz" },
  IndexerAccount: { found: "b", account_address: "usz", owner_address: "usz", block_number: "usz", tx_hash: "usz" },
  IndexerStats: { total_dids: "unz", active_dids: "unz", total_aliases: "unz", total_accounts: "unz", last_block_number: "unz" },
  IndexerHealth: { ok: "ubz", chain: "unz" },
  IndexerAccounts: { accounts: { "[]": { found: "b", account_address: "usz", owner_address: "usz", block_number: "usz", tx_hash: "usz" } }, next_cursor: "usz" },
  IndexerEvents: { events: { "[]": {} }, next_cursor: "usz" },
  PersonRemoved: { ok: "ub", identifiers: "n", credentials: "n", snapshots: "n", pins: "n" },
  AddressAdded: { ok: "ub", identifier: "s", channel: "s" },
};
