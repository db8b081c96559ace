/**
 * Registers an unlocked vault's DID. Each step is recorded before it is taken, so that a later call can continue an
 * interrupted registration.
 */

import "../core.js";
import { ClientStateError, RegistrationRefused, RequestRefused } from "../errors.js";
import { registerOnChain } from "./chain_registration.js";
import { Journal } from "./journal.js";
import { signatureOf } from "./signature.js";

/** The placeholder that is sent as the transaction hash to a service without a bundler. */
export const NO_TRANSACTION = `0x${"00".repeat(32)}`;
const CODE_ATTEMPTS = 5; // the interface's MAX_VERIFY_ATTEMPTS
const SPARE_MS = 5000;
const SERVER_ERROR = 500;
/** How the service answers a repeated registration; the second, if it brings no attestation. */
const REPEATED = new Set(["credential_already_registered", "attestation_required"]);
const OF_ATTESTATION = new Set(["invalid", "mismatch", "expired", "used"].map((it) => `attestation_${it}`));

/**
 * @typedef {import("../client.js").Client} Client
 * @typedef {import("../generated/types.js").Attestation} Attestation
 * @typedef {import("../generated/types.js").DidRecord} DidRecord
 * @typedef {"session" | "code sent" | "verified" | "commitment sent" | "committed" | "sent to the chain" | "on the chain" | "registered"} RegistrationStep
 *
 * @typedef {object} RegistrationRequest exactly one of `handle`, `email` and `sms`
 * @property {string} [handle]
 * @property {string} [email]
 * @property {string} [sms] a phone number in E.164 form
 * @property {(message: string) => Promise<string | null> | string | null} [code] called for the code that was sent, with
 *   a sentence for the person; returns the code, or null to give up
 * @property {Attestation} [attestation] instead of `code`, if the page has verified the identifier itself
 * @property {(step: RegistrationStep) => void} [onProgress]
 * @property {string} [passkey] the credential ID to register; by default the vault's first
 * @property {DidRecord} [known] the DID's registration at another service, whose transaction this one states too
 */

/**
 * @param {Client} client its vault is open
 * @param {RegistrationRequest} request
 * @returns {Promise<DidRecord>}
 */
export async function register(client, request) {
  const requested = chosen(request);
  const { did, credentials } = await client.vault.query();
  if (credentials.length === 0) throw new ClientStateError("the vault holds no passkey");
  const credentialId = request.passkey ?? credentials[0].credential_id;
  const known = await client.lookupDid({ credentialId });
  const { identifier, channel } = known.found ? /** @type {DidRecord} */ (known) : requested;
  const journal = await Journal.open(client.vault.dbName, did, identifier, channel);
  if (known.found) return again(client, journal, /** @type {DidRecord} */ (known), request, credentialId);
  await adopt(journal, request);
  await openSession(client, journal, request);
  if (channel !== "handle") await verify(client, journal, request);
  await registerOnChain(client, journal, request);
  return record(client, journal, credentialId, request);
}

/**
 * Returns the registration; if it states no transaction, and the service has a bundler now, adds one first.
 *
 * @param {Client} client
 * @param {Journal} journal
 * @param {DidRecord} known
 * @param {RegistrationRequest} request
 * @param {string} credentialId
 */
async function again(client, journal, known, request, credentialId) {
  const { did } = journal.row;
  if (known.did !== did || known.txHash !== NO_TRANSACTION) return finished(journal, known, did);
  try {
    await registerOnChain(client, journal, request);
  } catch (error) {
    if (!(error instanceof RegistrationRefused)) throw error;
    return finished(journal, known, did); // the DID is on the chain, by a transaction that this store does not know
  }
  return journal.row.txHash ? record(client, journal, credentialId, request) : finished(journal, known, did);
}

/** Notes the transaction that registered the DID on the chain for another service. @param {Journal} journal @param {RegistrationRequest} request */
async function adopt(journal, { known }) {
  if (!known || known.txHash === NO_TRANSACTION) return;
  const { txHash, blockNumber, smartAccount } = known;
  await journal.write({ txHash, ...(blockNumber && { blockNumber }), ...(smartAccount && { smartAccount }) });
}

/** @param {RegistrationRequest} request */
function chosen({ handle, email, sms }) {
  const given = Object.entries({ handle, email, sms }).filter(([, value]) => value);
  if (given.length !== 1) throw new TypeError("exactly one of handle, email and sms");
  return { identifier: /** @type {string} */ (given[0][1]), channel: given[0][0] };
}

/**
 * @param {Client} client
 * @param {Journal} journal
 * @param {RegistrationRequest} request
 */
async function openSession(client, journal, { onProgress }) {
  const { identifier, channel, did, sessionAsked } = journal.row;
  if (sessionAsked && (journal.row.attestation || journal.row.operationHash || journal.row.txHash)) return;
  await journal.write({ sessionAsked: true });
  try {
    await client.createSession({ identifier, channel, did });
  } catch (error) {
    // An interrupted attempt may already have reserved the identifier; POST /api/dids decides, because it knows who
    // holds it.
    if (!(error instanceof RequestRefused)) throw error;
    const taken = error.code === "identifier_taken";
    if (!taken || !(sessionAsked || channel !== "handle" || (await isOurs(client, identifier, did)))) {
      // If there is no session, a later attempt must not take another's for this one.
      if (error.status < SERVER_ERROR && error.code !== "idempotency_key_in_use") await journal.end();
      throw error;
    }
  }
  onProgress?.("session");
}

/**
 * Whether a DID holds a handle, for example from a registration that the chain refused.
 *
 * @param {Client} client
 * @param {string} handle
 * @param {string} did
 */
async function isOurs(client, handle, did) {
  if ((await client.checkAlias({ alias: handle })).did === did) return true;
  // A handle that became reserved after its registration is taken only to its own DID; to others it is reserved.
  return (await client.checkSession({ identifier: handle })).reason === "reserved";
}

/**
 * @param {Client} client
 * @param {Journal} journal
 * @param {RegistrationRequest} request
 */
async function verify(client, journal, { code, attestation, onProgress }) {
  const { identifier, channel } = journal.row;
  if (attestation) return journal.write({ attestation });
  const noted = journal.row.attestation;
  if (noted && Date.parse(noted.expires_at) > Date.now() + SPARE_MS) return;
  if (!code) throw new TypeError("code: a function that returns the code that was sent");
  await client.sendCode({ identifier, channel });
  onProgress?.("code sent");
  await journal.write({ attestation: await checkedCode(client, journal, code) });
  onProgress?.("verified");
}

/**
 * @param {Client} client
 * @param {Journal} journal
 * @param {NonNullable<RegistrationRequest["code"]>} ask
 * @returns {Promise<Attestation>}
 */
async function checkedCode(client, journal, ask) {
  const { identifier, channel } = journal.row;
  let message = "";
  for (let tries = 0; tries < CODE_ATTEMPTS; tries += 1) {
    const code = await ask(message || `code sent to ${identifier}`);
    if (!code) break;
    const checked = await client.checkCode({ identifier, channel, code });
    if ("attestation" in checked) return checked.attestation;
    message = checked.message || "the code is incorrect";
  }
  throw new RegistrationRefused(message || "no code was given");
}

/**
 * @param {Client} client
 * @param {Journal} journal
 * @param {string} credentialId
 * @param {RegistrationRequest} request
 * @returns {Promise<DidRecord>}
 */
async function record(client, journal, credentialId, { onProgress }) {
  const { identifier, channel, did, txHash, blockNumber, smartAccount, attestation } = journal.row;
  const proof = attestation ? { attestation } : {};
  const mined = { ...(blockNumber && { blockNumber }), ...(smartAccount && { smartAccount }) };
  try {
    const registration = {
      credentialId,
      identifier,
      channel,
      did,
      txHash: txHash ?? NO_TRANSACTION,
      ...mined,
      ...proof,
    };
    await client.registerDid(registration, await signatureOf(client, credentialId));
  } catch (error) {
    await resolved(client, journal, credentialId, error);
  }
  const known = await client.lookupDid({ credentialId });
  if (!known.found)
    throw new RegistrationRefused("the service accepted the registration but does not return it: try again later");
  onProgress?.("registered");
  return finished(journal, /** @type {DidRecord} */ (known), did);
}

/**
 * Returns if the registration that failed is nevertheless there; throws otherwise.
 *
 * @param {Client} client
 * @param {Journal} journal
 * @param {string} credentialId
 * @param {unknown} error
 */
async function resolved(client, journal, credentialId, error) {
  const code = error instanceof RequestRefused ? error.code : "";
  // The response to an earlier attempt may have been lost, after the service had stored the registration; or too few
  // blocks follow the transaction for adding it.
  if (REPEATED.has(code) && (await client.lookupDid({ credentialId })).found) return;
  // The next attempt asks for another code.
  if (OF_ATTESTATION.has(code)) await journal.write({ attestation: undefined });
  if (code === "registration_unproven" && !journal.row.txHash)
    throw new RegistrationRefused(
      "the service requires a transaction that registers this DID, and has no bundler that could send one",
      { cause: error },
    );
  throw error;
}

/**
 * @param {Journal} journal
 * @param {DidRecord} known
 * @param {string} did
 */
async function finished(journal, known, did) {
  if (known.did !== did) throw new RegistrationRefused("this passkey is registered for another DID");
  const isComplete = known.txHash !== NO_TRANSACTION || !journal.row.txHash; // if not, the next call adds the transaction
  await (isComplete ? journal.end() : journal.close());
  return known;
}
