/**
 * The requests that the worker accepts from the page: `{id, fn, args}`, answered with `{id, result}` or `{id, error}`.
 *
 * The table lists every function and every field that it accepts. Unknown functions and fields, values of the wrong
 * kind, and values beyond their limits are refused before they reach the enclave.
 */

const KIB = 1024;
const MIB = 1024 * KIB;
/**
 * Limits on the nesting depth and the number of members; a structured clone may exceed what the enclave
 * accepts.
 */
const DEPTH = 32;
const MEMBERS = 100000;

/** whether a value is of this kind and within its limit */
type Kind<T = unknown> = (value: unknown) => value is T;

type Fields = Record<string, Kind>;

type Octets = string | number[] | BufferSource;

type Key = { kind?: string | null; id?: string | null; secret?: Octets | null; password?: string | null };

/** @param limit characters */
const text =
  (limit: number) =>
  (value: unknown): value is string =>
    typeof value === "string" && value.length <= limit;
/** @param limit bytes */
const bytes =
  (limit: number) =>
  (value: unknown): value is Octets => {
    if (typeof value === "string") return value.length <= limit * 2;
    if (Array.isArray(value))
      return value.length <= limit && value.every((it) => Number.isInteger(it) && it >= 0 && it < 256);
    return (value instanceof ArrayBuffer || ArrayBuffer.isView(value)) && value.byteLength <= limit;
  };
const number = (value: unknown): value is number => typeof value === "number" && Number.isFinite(value);
const flag = (value: unknown): value is boolean => typeof value === "boolean";
const data = (value: unknown): value is unknown => size(value, DEPTH) <= MIB;
const list = (value: unknown): value is unknown[] => Array.isArray(value) && value.length <= 1000 && data(value);
const key = (value: unknown): value is Key =>
  hasOnly(value, { kind: text(16), id: text(2 * KIB), secret: bytes(KIB), password: text(4 * KIB) });
const keys = (value: unknown): value is Key[] => Array.isArray(value) && value.length <= 64 && value.every(key);
const textOrNumber = (value: unknown): value is string | number | bigint =>
  number(value) || text(100)(value) || typeof value === "bigint";

const word = text(KIB);
const token = bytes(MIB);
const vault = bytes(24 * MIB);
const opening = { did: word, takeOver: (value: unknown): value is boolean | string => flag(value) || text(16)(value) };
const options = { factory: word, implementation: word, salt: textOrNumber, chain_id: textOrNumber };
const signing = { enclave_id: word, val_share: bytes(KIB), deterministic: flag };
const minting = {
  ...signing,
  subject: word,
  version: word,
  meta: data,
  token,
  expiration: number,
  command: word,
  record: flag,
};

export const FUNCTIONS = {
  // Functions of the worker itself.
  boot: { wasmUrl: text(4 * KIB), dbName: text(128), sha256: text(64) },
  stored: {},
  forget: { did: word },
  // The enclave's functions (enclave/ABI.md), with some fields that only the worker reads.
  version: {},
  status: {},
  generate: {
    ...options,
    credential: bytes(MIB),
    identifier: word,
    channel: text(16),
    verification_proof: text(16 * KIB),
    key,
    curve: text(16),
    device_name: word,
    keep_val_share: flag,
  },
  load: { database: vault, key, min_revision: number, ...opening },
  unlock: { database: vault, key, min_revision: number, ...opening },
  lock: {},
  save: { forgetOlder: flag },
  query: { did: word },
  exec: { filter: word, token, args: data, audience: word },
  export: { password: text(4 * KIB) },
  import: { data: vault, password: text(4 * KIB), key, replace: flag, takeOver: flag },
  sign: { ...signing, digest: bytes(64), message: text(64 * KIB) },
  sign_user_op: { ...signing, user_op: data, entry_point: word, chain_id: textOrNumber },
  sign_account_message: {
    ...signing,
    account: word,
    message: text(16),
    sequence: number,
    changes: list,
    nonce: number,
    new_owners: list,
  },
  user_op_hash: { user_op: data, entry_point: word, chain_id: textOrNumber },
  verify_signature: { public_key: bytes(KIB), curve: text(16), digest: bytes(64), signature: bytes(KIB) },
  recover_public_keys: { digest: bytes(64), signature: bytes(KIB) },
  refresh_shares: { enclave_id: word, val_share: bytes(KIB), rotate: flag },
  derive_address: {
    ...options,
    chain: text(16),
    enclave_id: word,
    public_key: bytes(KIB),
    curve: text(16),
    form: text(16),
    prefix: text(100),
  },
  derive_key: { seed: bytes(64), path: word, curve: text(16) },
  create_registration: {
    ...options,
    sender: word,
    alias: word,
    cid: word,
    did: word,
    registry_addr: word,
    entry_point: word,
    nonce: textOrNumber,
    deployed: flag,
    secret: bytes(32),
    step: text(16),
    registered: flag,
  },
  mint_ucan: {
    ...minting,
    kind: text(16),
    to: word,
    caveats: data,
    policy: list,
    not_before: number,
    args: data,
    audience: word,
  },
  invoke_ucan: { ...minting, args: data, audience: word },
  publishing_key: {},
  publish: { root_cid: word, sequence: number, validity: text(30), ttl_ns: textOrNumber },
  publishing_delegation: { enclave_id: word, val_share: bytes(KIB) },
  verify_ucan: {
    token,
    proofs: list,
    subject: word,
    audience: word,
    command: word,
    args: data,
    added_args: data,
    now: number,
    revoked: list,
  },
  inspect_ucan: { token },
  evaluate_policy: { policy: list, args: data },
  parse_webauthn: { credential: bytes(MIB) },
  keccak256: { data: vault, text: text(MIB) },
  dag_cbor_encode: { value: data },
  dag_cbor_decode: { data: bytes(2 * MIB) },
  cid: { data: bytes(2 * MIB), codec: text(16), cid: word },
  did_key: { did: text(2 * KIB), curve: text(16), public_key: bytes(KIB) },
  add_wrap: { key },
  remove_wrap: { kind: text(16), id: text(2 * KIB), keys },
  list_wraps: {},
  set_auto_lock: { idle_seconds: number },
  sync_init: {},
  sync_respond: { session_id: word, public_key: word, code: text(16), with_keys: flag },
  sync_compare: { session_id: word, public_key: word, reveal: word },
  sync_complete: {
    session_id: word,
    code: text(16),
    encrypted_vault: vault,
    sealed_vault: vault,
    key,
    replace: flag,
    takeOver: flag,
  },
} satisfies Record<string, Fields>;

export type Functions = typeof FUNCTIONS;

/** The arguments of a function; absent ones may be null. */
export type Args<Fn extends keyof Functions> = {
  [Name in keyof Functions[Fn]]?: Functions[Fn][Name] extends Kind<infer T> ? T | null : never;
};

export type Request = { [Fn in keyof Functions]: { id: number; fn: Fn; args: Args<Fn> } }[keyof Functions];

/**
 * the worker's notifications: a vault was opened, or has a new revision; the vault locked itself, or another tab took
 * it over; `why`: what that tab said
 */
export type VaultEvent = { type: "opened" | "stored" | "locked" | "taken"; why?: string };

export type WorkerError = { name: string; functionName?: string; message: string; code?: string | null };

export type Reply = { id: number | null; result?: unknown; error?: WorkerError };

/** The response fields that the interface documents as `number[]` and that are transferred as buffers. */
export const OCTETS: Record<string, string> = {
  generate: "database",
  lock: "database",
  save: "database",
  export: "data",
  sign: "signature",
  mint_ucan: "signed_dag_cbor",
  invoke_ucan: "signed_dag_cbor",
  publishing_delegation: "signed_dag_cbor",
  publish: "record",
};

/** Returns the request in a message, or the reason why it is refused. */
export function read(message: unknown): { request: Request } | { id: number | null; refused: string } {
  if (!isPlain(message)) return { id: null, refused: "the message is not an object" };
  const id = Number.isSafeInteger(message.id) && (message.id as number) > 0 ? (message.id as number) : null;
  if (id === null) return { id, refused: "id: a positive whole number" };
  const fields =
    typeof message.fn === "string" && Object.hasOwn(FUNCTIONS, message.fn)
      ? (FUNCTIONS as Record<string, Fields>)[message.fn]
      : null;
  if (!fields) return { id, refused: "fn: no such function" };
  if (Object.keys(message).some((name) => !["id", "fn", "args"].includes(name)))
    return { id, refused: "unknown field" };
  const wrong = firstWrong(message.args, fields);
  if (wrong !== null) return { id, refused: wrong };
  return { request: { id, fn: message.fn, args: message.args } as Request };
}

function firstWrong(args: unknown, fields: Fields) {
  if (!isPlain(args)) return "args: an object";
  for (const [name, value] of Object.entries(args)) {
    if (!Object.hasOwn(fields, name)) return "args: unknown field";
    if (value !== undefined && value !== null && !fields[name](value))
      return `${name}: another kind of value, or too large`;
  }
  return null;
}

function hasOnly(value: unknown, fields: Fields) {
  return firstWrong(value, fields) === null;
}

function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/**
 * Returns the approximate size of a value, or Infinity if it is nested too deeply or cannot be expressed in JSON and
 * bytes.
 */
function size(value: unknown, depth: number): number {
  if (typeof value === "string") return value.length + 2;
  if (value === null || value === undefined || typeof value === "boolean") return 5;
  if (typeof value === "number") return Number.isFinite(value) ? 20 : Infinity;
  if (typeof value === "bigint") return value > -(2n ** 64n) - 1n && value < 2n ** 64n ? 20 : Infinity;
  if (value instanceof ArrayBuffer || ArrayBuffer.isView(value)) return value.byteLength * 2;
  if (depth === 0 || !(Array.isArray(value) || isPlain(value))) return Infinity;
  const members = Object.entries(value);
  if (members.length > MEMBERS) return Infinity;
  return members.reduce((sum, [name, member]) => sum + name.length + size(member, depth - 1), 2);
}
