/**
 * Spending permissions through the vault: one act of the person writes the permission on the chain and the delegation for
 * the app, and one act ends both. The same rules as in the Python client's client/account/spending_methods.py.
 */

import "../core.js";
import { toHex, fromHex, randomBytes } from "../bytes.js";
import { execute, isAddress } from "../chain/calls.js";
import { PaymentRefused } from "../chain/errors.js";
import { permissionsOf } from "../chain/granted.js";
import { checksumAddress } from "../chain/names.js";
import { NATIVE } from "../chain/native.js";
import { p256Signer } from "../chain/owners.js";
import * as permissions from "../chain/permissions.js";
import { SmartAccount } from "../flows/account.js";
import { operated } from "./operating.js";
import { exists } from "./reads.js";

/**
 * @typedef {import("../client.js").Client} Client
 * @typedef {import("../chain/permissions.js").Spending} Spending
 * @typedef {import("../chain/granted.js").Granted} Granted
 * @typedef {import("./keys.js").OnProgress} OnProgress
 *
 * @typedef {Spending & {to: string, call: import("../chain/calls.js").Call, policy: unknown[]}} Proposal what `allow` signs:
 *   the call that grants the permission, and the policy of the delegation to `to`
 */

/** The spending permissions of the client's account on the service's main chain, and of accounts that allow this vault. */
export class AccountSpending {
  #client;
  #inTurn;

  /**
   * @param {Client} client
   * @param {<T>(work: () => Promise<T>) => Promise<T>} inTurn runs operations one at a time
   */
  constructor(client, inTurn) {
    this.#client = client;
    this.#inTurn = inTurn;
  }

  /**
   * Returns the permissions that are granted, oldest first, each with the DID and the CID of its delegation in this vault.
   *
   * @returns {Promise<(Granted & {to: string | null, cid: string | null})[]>} `to`, `cid`: null if this vault has none
   */
  async list() {
    const chainAccount = await this.#chainAccount(await this.#account());
    const found = (await exists(chainAccount)) ? await permissionsOf(chainAccount) : [];
    const delegations = await this.#delegations();
    return found.map((it) => {
      const row = delegations.find(({ permissionId }) => permissionId === it.id);
      return { ...it, to: row?.audience ?? null, cid: row?.cid ?? null };
    });
  }

  /**
   * Returns what `allow` signs for these terms, so that a page can show exactly that.
   *
   * @param {import("../chain/permissions.js").SpendingTerms} terms with addresses in any case
   * @returns {Promise<Proposal>}
   * @throws {TypeError} the app's DID is not a `did:new`, or an address is malformed
   */
  async proposed(terms) {
    const { address: account, contracts } = await this.#account();
    const token = terms.token === NATIVE ? NATIVE : await this.#address(terms.token);
    const payee = terms.payee ? await this.#address(terms.payee) : null;
    const salt = BigInt(toHex(randomBytes(8)));
    const permission = permissions.permissionOf({ ...terms, token, payee }, Math.floor(Date.now() / 1000), salt);
    const permissionId = await this.#client.vault.keccak256(fromHex(permissions.wordsOf(permission)));
    const spending = { account, chainId: contracts.chainId, permissionId };
    const policy = permissions.policyOf(spending, permission);
    return { ...spending, to: terms.to, call: permissions.grantPermission(account, permission), policy };
  }

  /**
   * Lets an app's key spend within a limit that the account enforces, and delegates it to the app's DID. The delegation's
   * token is returned only once the permission is on the chain. If it fails to get there, the delegation is revoked.
   *
   * @param {Proposal} proposal
   * @param {{onProgress?: OnProgress}} [how]
   * @returns {Promise<{container: string, cid: string, permissionId: string}>} `container`: for the app
   * @throws {OperationFailed} the chain refused the permission
   */
  async allow({ to, call, policy, permissionId }, { onProgress } = {}) {
    const { vault } = this.#client;
    const expiration = permissions.grantedBy(call)?.until || undefined;
    const { container, cid } = await vault.delegate({ to, command: permissions.SPEND_COMMAND, expiration, policy });
    try {
      await this.#operated(await this.#account(), execute(call), onProgress);
    } catch (error) {
      await this.#undelegate(cid);
      throw error;
    }
    return { container, cid, permissionId };
  }

  /**
   * Lets the vault's own key pay alone up to these sums where two owners must sign. Earlier sums end.
   *
   * @param {{token: string, allowance: bigint, period: number}[]} terms
   * @param {{onProgress?: OnProgress}} [how]
   * @throws {OperationFailed} the chain refused it
   */
  async allowAlone(terms, { onProgress } = {}) {
    const account = await this.#account();
    const own = await this.#client.vault.keccak256(fromHex(p256Signer(account.key)));
    for (const { id, permission } of await this.list())
      if (permission.keyId === own)
        await this.#operated(account, execute(permissions.revokePermission(account.address, id)), onProgress);
    for (const it of terms) {
      const { call } = await this.proposed({ ...it, to: `did:new:${own}` });
      await this.#operated(account, execute(call), onProgress);
    }
  }

  /** Returns what the vault's own key may pay alone where two owners must sign. @returns {Promise<Granted[]>} */
  async alone() {
    const own = await this.#client.vault.keccak256(fromHex(p256Signer((await this.#account()).key)));
    return (await this.list()).filter(({ permission }) => permission.keyId === own);
  }

  /**
   * Revokes a permission on the chain, and first its delegation in this vault.
   *
   * @param {string} permissionId
   * @param {{onProgress?: OnProgress}} [how]
   * @returns {Promise<string | null>} the operation's hash; null if the chain has no such permission any more
   */
  async end(permissionId, { onProgress } = {}) {
    const named = (await this.#delegations()).filter((it) => it.permissionId === permissionId);
    for (const { cid } of named) await this.#undelegate(cid);
    const account = await this.#account();
    if (!(await permissionsOf(await this.#chainAccount(account), permissionId)).length) return null;
    return this.#operated(account, execute(permissions.revokePermission(account.address, permissionId)), onProgress);
  }

  /**
   * Transfers from the account that a delegation names, as the app that holds it. No device of the person takes part. The
   * service's sponsor must pay for the gas.
   *
   * @param {string} container the delegation to this vault's DID
   * @param {{to: string, amount: bigint}} payment `to`: an address; `amount`: in the token's smallest unit
   * @param {{onProgress?: OnProgress}} [how]
   * @returns {Promise<string>} the operation's hash
   * @throws {PaymentRefused} the delegation does not allow it, the account has no such permission, or too little is left
   * @throws {OperationFailed} the chain refused it
   */
  async spend(container, { to, amount }, { onProgress } = {}) {
    const payee = await this.#address(to);
    if (amount < 0n || amount >> 256n) throw new TypeError("amount: a whole number in the token's smallest unit");
    const spending = permissions.spendingIn((await this.#allowed(container)).policy);
    if (!spending) throw new PaymentRefused("the delegation names no permission of an account", "delegation");
    const { account: address, chainId, permissionId } = spending;
    const account = await SmartAccount.ofSpender(this.#client, address, permissionId);
    if (account.contracts.chainId !== chainId)
      throw new TypeError(`chainId: this service's chain is ${account.contracts.chainId}, not ${chainId}`);
    const { permission } = usable(await permissionsOf(await this.#chainAccount(account), permissionId), amount);
    const args = { account: address, chainId, permission: permissionId, token: permissions.tokenOf(permission) };
    await this.#allowed(container, { ...args, to: payee, amount });
    return this.#operated(account, permissions.spend(address, permission, payee, amount).data, onProgress);
  }

  #account() {
    return SmartAccount.ofClient(this.#client);
  }

  /**
   * @param {SmartAccount} account
   * @param {string} callData
   * @param {OnProgress} [onProgress]
   */
  #operated(account, callData, onProgress) {
    return this.#inTurn(() => operated(account, callData, onProgress));
  }

  /** @param {SmartAccount} account @returns {Promise<import("./reads.js").AccountOnChain>} */
  async #chainAccount(account) {
    const url = await account.knownEndpoint();
    return { vault: this.#client.vault, url, address: account.address };
  }

  /** @returns {Promise<{cid: string, audience: string, permissionId: string}[]>} those that are not revoked */
  async #delegations() {
    const { result } = await this.#client.vault.exec("resource:delegations action:list");
    const rows = /** @type {any[]} */ (result ?? []).filter(
      ({ command, revoked_at: ended }) => command === permissions.SPEND_COMMAND && !ended,
    );
    const named = rows.map(async ({ cid, audience, token }) => {
      const { value } = await this.#client.vault.call("dag_cbor_decode", { data: token });
      const payload = Object.entries(value[1]).find(([name]) => name.startsWith("ucan/dlg@"))?.[1];
      const found = permissions.spendingIn(/** @type {any} */ (payload)?.pol);
      return found ? [{ cid, audience, permissionId: found.permissionId }] : [];
    });
    return (await Promise.all(named)).flat();
  }

  /** @param {string} container @param {object} [args] @returns {Promise<any>} the claims */
  async #allowed(container, args) {
    const { did: audience } = await this.#client.vault.status();
    const demand = args ? { command: permissions.SPEND_COMMAND, args } : {};
    const question = { token: container, audience, ...demand };
    const answer = await this.#client.vault.exec("resource:delegations action:verify", question);
    if (answer.success && answer.result) return answer.result;
    const code = answer.error ?? "delegation";
    throw new PaymentRefused(`the delegation does not allow this payment (${code})`, code);
  }

  /** @param {string} cid */
  #undelegate(cid) {
    return this.#client.vault.exec("resource:delegations action:revoke", { cid });
  }

  /** @param {string} address */
  #address(address) {
    if (!isAddress(address)) throw new TypeError("not an address");
    return checksumAddress(this.#client.vault, address);
  }
}

/**
 * @param {Granted[]} found
 * @param {bigint} amount
 * @throws {PaymentRefused} the permission is not granted, or less than the amount is left
 */
function usable(found, amount) {
  if (!found.length)
    throw new PaymentRefused("the account has not granted this permission, or it was revoked", "permission");
  if (amount > found[0].left)
    throw new PaymentRefused(`${found[0].left} of the permission are left in this period`, "permission");
  return found[0];
}
