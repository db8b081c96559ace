/**
 * Spending permissions through the vault: one act of the person writes the permission on the chain and the delegation for
 * the app, and one act ends both. The same rules as in the Python client's client/account/spending_methods.py.
 */

import "../core.ts";
import { toHex, fromHex, randomBytes } from "../bytes.ts";
import { type Call, execute } from "../chain/calls.ts";
import { PaymentRefused } from "../chain/errors.ts";
import { type Granted, permissionsOf } from "../chain/granted.ts";
import type { AccountOnChain } from "../chain/logs.ts";
import { checkedAddress } from "../chain/addresses.ts";
import { NATIVE } from "../chain/native.ts";
import { p256Signer } from "../chain/owners.ts";
import * as permissions from "../chain/permissions.ts";
import type { Spending, SpendingTerms } from "../chain/permissions.ts";
import type { Client } from "../client.ts";
import { SmartAccount } from "../flows/account.ts";
import { type OnProgress, operated } from "./operating.ts";
import { exists, startOf } from "./reads.ts";
import type { UcanClaims } from "../generated/types.ts";
import type { Foreign } from "../http/http.ts";
import type { InTurn } from "../vault/turns.ts";

/** what `allow` signs: the call that grants the permission, and the policy of the delegation to `to` */
export type Proposal = Spending & { to: string; call: Call; policy: unknown[] };

/** The spending permissions of the client's account on the service's main chain, and of accounts that allow this vault. */
export class AccountSpending {
  #client;
  #inTurn;

  /** @param inTurn runs operations one at a time */
  constructor(client: Client, inTurn: InTurn) {
    this.#client = client;
    this.#inTurn = inTurn;
  }

  /**
   * Returns the permissions that are granted, oldest first, each with the DID and the CID of its delegation in this
   * vault.
   *
   * @returns `to`, `cid`: null if this vault has none
   */
  async list(): Promise<(Granted & { to: string | null; cid: string | null })[]> {
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
   * @param terms with addresses in any case
   * @throws {TypeError} the app's DID is not a `did:new`, or an address is malformed
   */
  async proposed(terms: SpendingTerms): Promise<Proposal> {
    const smartAccount = await this.#account();
    const { address: account, contracts } = smartAccount;
    const { vault } = this.#client;
    const token = terms.token === NATIVE ? NATIVE : await checkedAddress(vault, terms.token, "token");
    const payee = terms.payee ? await checkedAddress(vault, terms.payee, "payee") : null;
    const salt = BigInt(toHex(randomBytes(8)));
    const permission = permissions.permissionOf(
      { ...terms, token, payee },
      await startOf(await smartAccount.endpoint()),
      salt,
    );
    const permissionId = await this.#client.vault.keccak256(fromHex(permissions.wordsOf(permission)));
    const spending = { account, chainId: contracts.chainId, permissionId };
    const policy = permissions.policyOf(spending, permission);
    return { ...spending, to: terms.to, call: permissions.grantPermission(account, permission), policy };
  }

  /**
   * Lets an app's key spend within a limit that the account enforces, and delegates it to the app's DID. The
   * delegation's token is returned only once the permission is on the chain. If it fails to get there, the delegation
   * is revoked.
   *
   * @returns `container`: for the app
   * @throws {OperationFailed} the chain refused the permission
   */
  async allow(
    { to, call, policy, permissionId }: Proposal,
    { onProgress }: { onProgress?: OnProgress } = {},
  ): Promise<{ container: string; cid: string; permissionId: string }> {
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
   * @throws {OperationFailed} the chain refused it
   */
  async allowAlone(
    terms: { token: string; allowance: bigint; period: number }[],
    { onProgress }: { onProgress?: OnProgress } = {},
  ) {
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

  /** Returns what the vault's own key may pay alone where two owners must sign. */
  async alone(): Promise<Granted[]> {
    const own = await this.#client.vault.keccak256(fromHex(p256Signer((await this.#account()).key)));
    return (await this.list()).filter(({ permission }) => permission.keyId === own);
  }

  /**
   * Revokes a permission on the chain, and first its delegation in this vault.
   *
   * @returns the operation's hash; null if the chain has no such permission any more
   */
  async end(permissionId: string, { onProgress }: { onProgress?: OnProgress } = {}): Promise<string | null> {
    const named = (await this.#delegations()).filter((it) => it.permissionId === permissionId);
    for (const { cid } of named) await this.#undelegate(cid);
    const account = await this.#account();
    if (!(await permissionsOf(await this.#chainAccount(account), permissionId)).length) return null;
    return this.#operated(account, execute(permissions.revokePermission(account.address, permissionId)), onProgress);
  }

  /**
   * Transfers from the account that a delegation names, as the app that holds it. No device of the person takes part.
   * The service's sponsor must pay for the gas.
   *
   * @param container the delegation to this vault's DID
   * @param payment `to`: an address; `amount`: in the token's smallest unit
   * @returns the operation's hash
   * @throws {PaymentRefused} the delegation does not allow it, the account has no such permission, or too little is
   *   left
   * @throws {OperationFailed} the chain refused it
   */
  async spend(
    container: string,
    { to, amount }: { to: string; amount: bigint },
    { onProgress }: { onProgress?: OnProgress } = {},
  ): Promise<string> {
    const payee = await checkedAddress(this.#client.vault, to, "to");
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

  #operated(account: SmartAccount, callData: string, onProgress?: OnProgress) {
    return this.#inTurn(() => operated(account, callData, onProgress));
  }

  async #chainAccount(account: SmartAccount): Promise<AccountOnChain> {
    const url = await account.knownEndpoint();
    return { vault: this.#client.vault, url, address: account.address };
  }

  /** @returns those that are not revoked */
  async #delegations(): Promise<{ cid: string; audience: string; permissionId: string }[]> {
    const { result } = await this.#client.vault.exec("resource:delegations action:list");
    const rows = (result ?? []).filter(
      ({ command, revoked_at: ended }) => command === permissions.SPEND_COMMAND && !ended,
    );
    const named = rows.map(async ({ cid, audience, token }) => {
      const { value } = await this.#client.vault.call("dag_cbor_decode", { data: token });
      const [, signed] = value as [unknown, Record<string, Foreign>];
      const payload = Object.entries(signed).find(([name]) => name.startsWith("ucan/dlg@"))?.[1];
      const found = permissions.spendingIn(payload?.pol);
      return found ? [{ cid, audience, permissionId: found.permissionId }] : [];
    });
    return (await Promise.all(named)).flat();
  }

  /** @returns the claims */
  async #allowed(container: string, args?: object): Promise<UcanClaims> {
    const { did: audience } = await this.#client.vault.status();
    const demand = args ? { command: permissions.SPEND_COMMAND, args } : {};
    const question = { token: container, audience, ...demand };
    const answer = await this.#client.vault.exec("resource:delegations action:verify", question);
    if (answer.success && answer.result) return answer.result;
    const code = answer.error ?? "delegation";
    throw new PaymentRefused(`the delegation does not allow this payment (${code})`, code);
  }

  #undelegate(cid: string) {
    return this.#client.vault.exec("resource:delegations action:revoke", { cid });
  }
}

/** @throws {PaymentRefused} the permission is not granted, or less than the amount is left */
function usable(found: Granted[], amount: bigint) {
  if (!found.length)
    throw new PaymentRefused("the account has not granted this permission, or it was revoked", "permission");
  if (amount > found[0].left)
    throw new PaymentRefused(`${found[0].left} of the permission are left in this period`, "permission");
  return found[0];
}
