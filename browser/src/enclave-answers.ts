/** What the enclave's functions return (enclave/ABI.md). */

import type {
  Account,
  Credential,
  DeriveAddressResult,
  EncryptedShares,
  ExecOutput,
  GenerateOutputWithShares,
  LoadOutput,
  LockOutput,
  MintedUcan,
  ParseWebAuthnResult,
  PublishingKey,
  QueryOutput,
  RegistrationResult,
  SignResult,
  SignUserOpResult,
  SignedAccountMessage,
  StatusOutput,
  SyncCompleteResult,
  SyncInitResult,
  SyncRespondResult,
  UcanClaims,
  UnlockOutput,
  VaultExportOutput,
  VaultImportOutput,
  VaultManifest,
} from "./generated/types.ts";

/** The keys that open a vault. */
export type Wraps = { wraps: { kind: string; id: string }[] };

interface Answers {
  // Functions of the worker itself.
  boot: { wasmVersion: string };
  stored: VaultManifest[];
  // The enclave's functions.
  version: { abi: number; schema_version: number; functions: string[] };
  status: StatusOutput & { revision?: number; unsaved?: boolean; idle_seconds: number };
  generate: GenerateOutputWithShares & { parsed_credential: Record<string, unknown> };
  load: LoadOutput;
  unlock: UnlockOutput;
  lock: LockOutput;
  save: { database: number[]; revision: number };
  query: QueryOutput;
  exec: ExecOutput<unknown>;
  export: VaultExportOutput;
  import: VaultImportOutput;
  sign: SignResult & { recovery: number };
  sign_user_op: SignUserOpResult;
  sign_account_message: SignedAccountMessage;
  user_op_hash: { user_op_hash: string };
  verify_signature: { valid: boolean };
  recover_public_keys: { public_keys: string[] };
  refresh_shares: EncryptedShares;
  derive_address: DeriveAddressResult;
  derive_key: { public_key: string; compressed: string; chain_code: string; fingerprint: string };
  create_registration: RegistrationResult;
  mint_ucan: MintedUcan;
  invoke_ucan: MintedUcan;
  publishing_key: PublishingKey;
  publish: { record: number[]; name: string };
  publishing_delegation: MintedUcan;
  verify_ucan: UcanClaims;
  inspect_ucan: { tokens: Omit<UcanClaims, "valid" | "path">[] };
  evaluate_policy: { holds: boolean };
  parse_webauthn: ParseWebAuthnResult;
  keccak256: { hash: string };
  dag_cbor_encode: { data: string; cid: string };
  dag_cbor_decode: { value: unknown; cid: string };
  did_key: { did: string; curve: string; public_key: string; did_new?: string };
  add_wrap: Wraps;
  remove_wrap: Wraps;
  list_wraps: Wraps;
  set_auto_lock: { idle_seconds: number };
  sync_init: SyncInitResult;
  sync_respond: SyncRespondResult & { sealed_vault?: string };
  sync_compare: SyncCompared;
  sync_complete: SyncCompleteResult;
}

/** Rows of a vault's tables. Bytes are in base64, and a key's point in hex. */
interface Rows {
  accounts: Account & { id: string; enclave_id?: string; created_at: string };
  credentials: Credential & { public_key?: string; sign_count: number };
  delegations: Delegation;
  enclaves: { enclave_id: string; curve: "P-256" | "secp256k1"; public_key: string; created_at: string };
  tokens: { id: string; kind: string; value: string; created_at: string };
}

export type Delegation = {
  cid: string;
  issuer: string;
  audience: string;
  subject?: string | null;
  command: string;
  not_before?: number | null;
  expiration?: number | null;
  token: string;
  created_at: string;
  revoked_at?: string | null;
};

/** What actions on a vault's tables return, by the filter of `exec`. */
export type Results = { [Table in keyof Rows as `resource:${Table} action:list`]: Rows[Table][] } & {
  "resource:accounts action:derive": Rows["accounts"];
  "resource:delegations action:verify": UcanClaims;
  "resource:credentials action:verify":
    | { valid: true; credential_id: string; user_verified: boolean; sign_count: number }
    | { valid: false; reason: string; credential_id: string };
};

/** `code`: the six digits; `reveal`: what the new device sends to the other device. */
export type SyncCompared = {
  success: boolean;
  session_id?: string;
  code?: string;
  reveal?: string;
  expires_at?: string;
  error?: string;
};

/** A function's response, with bytes as numbers, as the vault's worker returns them. */
export type Answer<Fn extends string> = Fn extends keyof Answers ? Answers[Fn] : Record<string, unknown>;

/** A function's response with bytes in base64, as the enclave returns them. */
export type RawAnswer<Fn extends string> = {
  [Field in keyof Answer<Fn>]: Exclude<Answer<Fn>[Field], undefined> extends number[] ? string : Answer<Fn>[Field];
};
