/** Written by `tools/browser_client.py` from `interface/client_types.json`, `src/holdfast/wire/` and its error table; not edited by hand. */

export interface GenerateInput {
  credential: string;
  identifier?: string;
  channel?: "email" | "sms";
  verification_proof?: string;
}

export interface GenerateOutput {
  did: string;
  database: number[];
  enclave_id: string;
  public_key: string;
  pubkey_x?: string;
  pubkey_y?: string;
  accounts: AccountInfo[];
}

export interface GenerateOutputWithShares {
  did: string;
  database: number[];
  enclave_id: string;
  public_key: string;
  pubkey_x?: string;
  pubkey_y?: string;
  accounts: AccountInfo[];
  encrypted_shares?: EncryptedShares;
  public_key_hex?: string;
}

export interface GenerateResult {
  success: boolean;
  did: string;
  address: string;
  shares: SharesOfEnclave;
  parsed_credential: Record<string, unknown>;
}

export interface AccountInfo {
  address: string;
  chain_id: string;
}

export interface Account {
  address: string;
  chain_id: string;
  coin_type: number;
  account_index: number;
  address_index: number;
  label: string;
  is_default: boolean;
}

export interface VerificationMethod {
  id: string;
  type: string;
  controller: string;
  public_key: string;
  purpose: string;
}

export interface Credential {
  credential_id: string;
  device_name: string;
  device_type: "platform" | "cross-platform";
  authenticator: string;
  transports: string[];
  created_at: string;
  last_used: string;
}

export interface CreateRegistrationInput {
  sender: string;
  alias: string;
  cid?: string;
  did?: string;
}

export interface RegistrationResult {
  user_op: UserOp | null;
  did_hash: string;
  alias_hash: string;
  metadata_cid: string;
  call_data: string;
  entry_point: string;
  registry_addr: string;
}

export interface LoadInput {
  database: number[] | BufferSource;
}

export interface LoadOutput {
  success: boolean;
  did?: string;
  error?: string;
}

export interface LockOutput {
  success: boolean;
  database?: number[];
  error?: string;
}

export interface UnlockInput {
  database: number[] | BufferSource;
}

export interface UnlockOutput {
  success: boolean;
  did?: string;
  error?: string;
}

export interface StatusOutput {
  locked: boolean;
  initialized: boolean;
  did?: string;
  last_activity?: string;
}

export interface QueryInput {
  did: string;
}

export interface QueryOutput {
  did: string;
  controller: string;
  verification_methods: VerificationMethod[];
  accounts: Account[];
  credentials: Credential[];
}

export interface ExecInput {
  filter: string;
  token?: string;
}

export interface ExecOutput<T> {
  success: boolean;
  result?: T;
  error?: string;
}

export interface VaultExportOutput {
  success: boolean;
  data?: number[];
  did?: string;
  exported_at?: string;
  error?: string;
}

export interface VaultImportOutput {
  success: boolean;
  did?: string;
  accounts?: number;
  credentials?: number;
  error?: string;
}

export interface VaultExportOptions {
  password: string;
}

export interface VaultImportOptions {
  data: number[] | BufferSource;
  password: string;
}

export interface UserOp {
  sender: string;
  nonce: string;
  callData: string;
  callGasLimit: string;
  verificationGasLimit: string;
  preVerificationGas: string;
  maxFeePerGas: string;
  maxPriorityFeePerGas: string;
  signature: string;
  factory: string | null;
  factoryData: string | null;
  paymaster: string | null;
  paymasterVerificationGasLimit: string | null;
  paymasterPostOpGasLimit: string | null;
  paymasterData: string | null;
}

export interface SignUserOpResult {
  signature: string;
  user_op_hash: string;
  enclave_id: string;
  public_key: string;
}

export interface GetSmartAccountAddressInput {
  pubKeyX: string;
  pubKeyY: string;
  /** by default 0 */ salt?: string | number | bigint;
  vaultUrl?: string;
}

export interface GetAccountStateInput {
  account: string;
  vaultUrl?: string;
}

export interface AccountState {
  nonce: string;
  did: string;
  isActive: boolean;
  pubKeyX: string;
  pubKeyY: string;
}

export type Resource = "accounts" | "credentials" | "sessions" | "grants" | "enclaves" | "delegations" | "ucans" | "verification_methods" | "services" | "service_configs" | "tokens" | "invocations" | "sync" | "oidc";

export interface DelegationOptions {
  to: string;
  command: string;
  expiration?: number;
  caveats?: Record<string, unknown>;
}

export interface InvocationOptions {
  command: string;
  args?: Record<string, unknown>;
  token?: string;
}

export interface SyncInitResult {
  success: boolean;
  session_id?: string;
  public_key?: string;
  expires_at?: string;
  error?: string;
}

export interface SyncRespondResult {
  success: boolean;
  session_id?: string;
  public_key?: string;
  encrypted_vault?: string;
  status?: string;
  error?: string;
}

export interface SyncCompleteResult {
  success: boolean;
  session_id?: string;
  did?: string;
  status?: string;
  error?: string;
}

export interface PaymentParams {
  to: string;
  amount: string;
  token: string;
  chainId: number;
  ucan?: string;
  label?: string;
}

export interface PaymentResult {
  txHash: string;
  userOpHash: string;
  chain: number;
  token: string;
  explorerUrl: string;
}

export interface PaymentHandlerOptions {
  /** by default "/pay/sw.js" */ swUrl?: string;
  /** by default "/pay/" */ scope?: string;
  methodUrl?: string;
}

export interface PaymentHandlerRegistration {
  success: boolean;
  scope: string;
  error?: string;
}

export type BinaryPayload = number[] | string;

export interface EncryptedShares {
  public_key: BinaryPayload;
  public_key_hex?: string;
  val_share: BinaryPayload;
  user_share: BinaryPayload;
  nonce: BinaryPayload;
  curve: "P-256" | "secp256k1";
  pubkey_x?: string;
  pubkey_y?: string;
}

export interface SignResult {
  signature: number[];
}

export interface DeriveAddressResult {
  address: string;
  chain: string;
}

export interface MintUcanResult {
  signed_dag_cbor: number[];
}

export interface ParseWebAuthnResult {
  parsed: Record<string, unknown>;
}

export type Keccak256Fn = (bytes: Uint8Array | number[] | string) => string;

export interface BootStatus {
  enclave: boolean;
  helia: boolean;
  libp2p: boolean;
  ready: boolean;
}

export interface BootEvent {
  type: "boot-progress";
  subsystem: "enclave" | "helia" | "libp2p";
  status: "booting" | "ready" | "failed";
  error?: string;
}

export interface CreatePasskeyResult {
  credential: string;
  credentialId: string;
}

export interface CreatePasskeyOptions {
  /** by default "Holdfast" */ rpName?: string;
  rpId?: string;
  /** by default 60000 */ timeout?: number;
  excludeCredentials?: CredentialDescriptor[];
}

export interface DeviceCapabilities {
  webAuthnSupported: boolean;
  platformAuthAvailable: boolean;
  conditionalMediationAvailable: boolean;
}

export interface VaultManifest {
  rootCid: string | null;
  did: string;
  updatedAt: number;
  wasmVersion: string;
  schemaVersion: 1;
}

export interface VaultStoreConfig {
  /** by default "holdfast-vault" */ dbName?: string;
}

export interface VaultSnapshotConfig {
  gatewayUrl?: string;
}

export type PinStatus = "queued" | "pinning" | "pinned" | "failed";

export interface PinRequest {
  cid: string;
  name?: string;
  origins?: string[];
  meta?: Record<string, string>;
}

export interface PinInfo {
  requestId: string;
  status: PinStatus;
  created: string;
  pin: PinRequest;
  delegates: string[];
}

export interface IndexerAlias {
  found: boolean;
  alias_hash?: string;
  did_hash?: string;
  active?: boolean;
  controller?: string;
}

export interface IndexerDid {
  found: boolean;
  did_hash?: string;
  controller?: string;
  metadata_cid?: string;
  active?: boolean;
  block_number?: string;
  tx_hash?: string;
}

export interface IndexerAccount {
  found: boolean;
  account_address?: string;
  owner_address?: string;
  block_number?: string;
  tx_hash?: string;
}

export interface IndexerStats {
  total_dids?: number;
  active_dids?: number;
  total_aliases?: number;
  total_accounts?: number;
  last_block_number?: number;
}

export interface IndexerHealth {
  ok?: boolean;
  chain?: number;
}

export interface SharesOfEnclave {
  public_key: BinaryPayload;
  public_key_hex?: string;
  val_share: BinaryPayload;
  user_share: BinaryPayload;
  nonce: BinaryPayload;
  curve: "P-256" | "secp256k1";
  pubkey_x?: string;
  pubkey_y?: string;
  enclave_id: string;
}

export interface CredentialDescriptor {
  id: number[] | BufferSource;
  type: "public-key";
  transports?: string[];
}

/** POST /api/bundler: one JSON-RPC 2.0 request. */
export interface CallBundler {
  jsonrpc?: unknown;
  id?: unknown;
  method: string;
  params?: unknown;
}

/** GET /api/accounts/predict. */
export interface PredictAddress {
  pubKeyX: string;
  pubKeyY: string;
  /** by default "0" */ salt?: string;
}

/** GET /api/accounts/state. */
export interface ReadAccount {
  account: string;
}

/** GET /api/balance. */
export interface ReadBalance {
  account: string;
  token: string;
  chainId: string;
}

/** GET /api/dids/lookup. */
export interface LookUpDid {
  credentialId: string;
}

/** GET /api/aliases/check. */
export interface CheckAlias {
  alias: string;
}

/** POST /api/sessions. If only `handle` is given, the channel is "handle". */
export interface OpenSession {
  identifier: string;
  channel: string;
  did: string;
}

/** GET /api/sessions/check. */
export interface CheckSession {
  identifier: string;
  /** by default "handle" */ channel?: string;
}

/** POST /api/verify/send. */
export interface SendCode {
  identifier: string;
  channel: string;
}

/** POST /api/verify/check. */
export interface CheckCode {
  identifier: string;
  channel: string;
  code: string;
}

/** GET /api/verify/status. */
export interface ReadVerification {
  identifier: string;
  channel: string;
}

/** POST /api/recovery/send. Each new owner is a signer in 0x-hex; `account` is by default the DID's. */
export interface AskRecovery {
  identifier: string;
  channel: string;
  newOwners: string[];
  account?: string | null;
}

/** POST /api/recovery/check. */
export interface CheckRecovery {
  request: string;
  code: string;
}

/** POST /api/recovery/sign. */
export interface SignRecovery {
  account: string;
  newOwners: string[];
}

/** POST /api/recovery/stop. */
export interface StopRecovery {
  request: string;
}

/** POST /api/dids. A channel other than "handle" needs the attestation from POST /api/verify/check. */
export interface RegisterDid {
  credentialId: string;
  identifier: string;
  channel: string;
  did: string;
  txHash: string;
  blockNumber?: number | null;
  smartAccount?: string | null;
  attestation?: Attestation | null;
}

/** GET /api/contracts. */
export interface ContractSet {
  chainId: number;
  entryPoint: string;
  didRegistry: string;
  accountHelper: string;
  sessionSBT: string;
  appFactory: string;
}

/** GET /api/status. */
export interface Status {
  chain: string;
  chainId: number;
  rpc: string;
  database: string;
}

/** GET /api/chains, the main chain first. */
export interface ServedChains {
  chains: ServedChain[];
}

/** GET /api/accounts/predict. */
export interface PredictedAddress {
  address: string;
}

/** GET /api/balance. */
export interface Balance {
  balance: string;
  decimals: number;
  symbol: string;
  formatted: string;
}

/** GET /api/sessions/status. */
export interface RegistrationCounters {
  ip_registrations: number;
  ip_limit: number;
  total_registrations: number;
}

/** GET /api/dids/lookup, found. */
export interface DidRecord {
  found: true;
  identifier: string;
  channel: string;
  did: string;
  txHash: string;
  blockNumber: number | null;
  smartAccount: string | null;
  createdAt: string;
}

/** GET /api/dids/lookup, not found. */
export interface DidNotFound {
  found: false;
}

/** GET /api/aliases/check. `did` is present only if the alias is registered. */
export interface AliasAvailability {
  available: boolean;
  did?: string;
}

/** POST /api/sessions. */
export interface SessionCreated {
  ok: boolean;
  identifier: string;
  channel: string;
  did: string;
}

/** GET /api/sessions/check. `message` is there only when the reason is "reserved". */
export interface Availability {
  available: boolean;
  reason: string | null;
  message?: string;
}

/** POST /api/verify/send. */
export interface CodeSent {
  ok: boolean;
  channel: string;
}

/** POST /api/verify/check, correct code. */
export interface CodeAccepted {
  ok: boolean;
  verified: true;
  attestation: Attestation;
}

/** POST /api/verify/check, any other code. */
export interface CodeRefused {
  ok: boolean;
  verified: false;
  message: string;
}

/** GET /api/verify/status. */
export interface VerificationStatus {
  identifier: string;
  channel: string;
  verified: boolean;
  verifiedAt: string | null;
}

/** GET /api/recovery. */
export interface RecoveryTerms {
  guardian: string | null;
  guardians: string[];
  waitSeconds: number;
  channels: string[];
}

/** POST /api/recovery/send. `request` identifies what the code confirms. */
export interface RecoveryCodeSent {
  ok: boolean;
  channel: string;
  request: string;
}

/** POST /api/recovery/check with a correct code. The service signs from `ready_at` on (ISO 8601). */
export interface RecoveryConfirmed {
  ok: boolean;
  verified: true;
  account: string;
  readyAt: string;
}

/** POST /api/recovery/sign: the service's signature as a guardian, in 0x-hex, for the recovery of this number. */
export interface RecoverySigned {
  nonce: number;
  signer: string;
  signature: string;
}

/** POST /api/recovery/stop. `stopped` is false if there was nothing to stop. */
export interface RecoveryStopped {
  stopped: boolean;
}

/** POST /api/dids. */
export interface DidRegistered {
  ok: boolean;
  identifier: string;
  channel: string;
  txHash: string;
}

/** The attestation that POST /api/verify/check returns and POST /api/dids accepts. */
export interface Attestation {
  identifier: string;
  channel: string;
  verified_at: string;
  expires_at: string;
  registrar: string;
  signature: string;
}

/** Every error body. */
export interface ErrorBody {
  error: string;
}

/** GET /api/person: all rows about a DID, by kind; times in RFC 3339. */
export interface PersonExport {
  did: string;
  exportedAt: string;
  identifiers: Record<string, unknown>[];
  credentials: Record<string, unknown>[];
  codes: Record<string, unknown>[];
  audit: Record<string, unknown>[];
  snapshots: Record<string, unknown>[];
  pins: Record<string, unknown>[];
  names: Record<string, unknown>[];
  uploads: Record<string, unknown>[];
  recoveries: Record<string, unknown>[];
  recovery_mails: Record<string, unknown>[];
  revocations: Record<string, unknown>[];
}

/** POST /api/person/removals: how many were removed of each kind. */
export interface PersonRemoved {
  ok: boolean;
  identifiers: number;
  credentials: number;
  snapshots: number;
  pins: number;
}

/** POST /api/person/identifiers: the address that the DID holds. */
export interface AddressAdded {
  ok: boolean;
  identifier: string;
  channel: string;
}

/** A signed UCAN token, its CID, and a `container` for the recipient, with the token and its delegations. */
export interface MintedUcan {
  signed_dag_cbor: number[];
  cid: string;
  issuer: string;
  container: string;
}

/** The claims of a verified UCAN token; for a chain of delegations, those of the last one. */
export interface UcanClaims {
  valid: boolean;
  kind: "delegation" | "invocation";
  cid: string;
  path: string[];
  issuer: string;
  audience?: string | null;
  subject?: string | null;
  command: string;
  policy?: unknown[] | null;
  args?: Record<string, unknown> | null;
  proofs?: string[] | null;
  not_before?: number | null;
  expiration?: number | null;
  meta?: Record<string, unknown> | null;
}

/** A signature that holds on every chain, its digest, and the vault's key as a signer of the account; in 0x-hex. */
export interface SignedAccountMessage {
  signature: string;
  digest: string;
  signer: string;
  enclave_id: string;
}

/** The public key for the vault's IPNS records (enclave/ABI.md, "Publishing"). */
export interface PublishingKey {
  public_key: string;
  name: string;
  did: string;
  pending: boolean;
}

/** A chain in the response of GET /api/chains. */
export interface ServedChain {
  chainId: number;
  name: string;
  main: boolean;
  testMoney: boolean;
  rpc: string;
  explorer: string;
  usdc: string | null;
  payments: boolean;
}

/** The service's error texts. */
export type ErrorCode = "Invalid Idempotency-Key. Must be 1 to 128 visible ASCII characters" | "Invalid JSON-RPC request" | "Invalid account: expected 20-byte hex address" | "Invalid channel. Must be \"handle\", \"email\" or \"sms\"" | "Invalid channel. Must be \"sms\" or \"email\"" | "Invalid credentialId" | "Invalid did" | "Invalid identifier" | "Invalid newOwners: expected 1 to 16 different signers in hex" | "Invalid pubKeyX or pubKeyY: expected uint256 hex string" | "Invalid salt: expected uint256 decimal or hex string" | "Invalid txHash" | "Missing query parameter: account" | "Missing query parameter: alias" | "Missing query parameter: credentialId" | "Missing query parameter: identifier" | "Missing query parameters: account, token, chainId" | "Missing query parameters: identifier, channel" | "Missing query parameters: pubKeyX, pubKeyY" | "Missing required field: request" | "Missing required fields: account, newOwners" | "Missing required fields: credentialId, identifier, channel, did, txHash" | "Missing required fields: identifier, channel" | "Missing required fields: identifier, channel, code" | "Missing required fields: identifier, channel, did" | "Missing required fields: identifier, channel, newOwners" | "Missing required fields: request, code" | "USDC not available on this chain" | "Unsupported chainId" | "Unsupported country" | "Unsupported token. Supported: ETH, USDC" | "ambiguous_request" | "attestation_expired" | "attestation_invalid" | "attestation_mismatch" | "attestation_required" | "attestation_used" | "body_too_large" | "bundler_error" | "bundler_not_configured" | "credential_already_registered" | "credential_limit_reached" | "database_unavailable" | "email_send_failed" | "foreign_page" | "guardian_not_configured" | "idempotency_key_in_use" | "idempotency_key_reused" | "identifier_reserved" | "identifier_taken" | "indexer_error" | "indexer_not_configured" | "internal_error" | "invitation_invalid" | "invitation_required" | "ip_limit_reached" | "method_not_allowed" | "not_found" | "rate_limited" | "recovery_not_found" | "recovery_not_possible" | "recovery_waits" | "registration_closed" | "registration_unproven" | "request_timeout" | "rpc_error" | "rpc_method_not_allowed" | "service_busy" | "sms_check_failed" | "sms_send_failed" | "too_many_responses" | "workflow_not_configured";

/** One request's form. */
export interface Endpoint {
  method: string;
  path: string;
  reads: "json" | "text" | "bytes";
  /** the request is sent with an `Idempotency-Key`, because the service stores its response */ keyed?: boolean;
  /** which of generated/forms.ts the response must have */ form?: string;
}
