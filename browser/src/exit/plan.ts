/** What an exit signs: the batch that moves everything, with its gas, paid by an ordinary address or by the account. */

import { hex } from "../chain/abi.ts";
import { type Bundler, EMPTY_OPERATION } from "../chain/bundler.ts";
import { createAccount } from "../chain/calls.ts";
import { greatestCost } from "../chain/fees.ts";
import { byName, named } from "../chain/owners.ts";
import { fromHex, toHex } from "../bytes.ts";
import { keccak256 } from "../did/keccak.ts";
import { APP_FACTORY } from "../generated/contracts.ts";
import {
  BYTE,
  DEPLOYMENT,
  ENTRY_POINT,
  MORE_CALL_DATA,
  NEW_ADDRESS,
  PERCENT,
  VERIFICATION,
  WEBAUTHN,
  WEBAUTHN_WITH_PRECOMPILE,
  WITHOUT_PRECOMPILE,
} from "../generated/gas.ts";
import type { UserOp } from "../generated/types.ts";
import { address, bytes, type Call, callData, executeBatch, handleOps, number } from "./abi.ts";
import { type AddressOwner, operationHash } from "./address.ts";
import { PasskeyAlone } from "./alone.ts";
import type { Nft } from "./nfts.ts";
import { feesOf, type Node } from "./node.ts";
import type { OpenedVault } from "./opened.ts";
import type { PasskeyOwner } from "./passkey.ts";
import type { Standing, Token } from "./standing.ts";

/** The most that fees may be unless the person types more, in ETH; as of `holdfast vault exit`. */
export const FEE_LIMIT = "0.01";
/** RIP-7212: SHA-256 of "holdfast", its signature by the key 1, and that key, for which the precompile returns 1. */
const PRECOMPILE = "0x0000000000000000000000000000000000000100";
const VALID =
  "0xd1580d2df7f24b6f5e2a861eba2918755c3a7246b7068817e349d8adc66a85665cf94c8a3692c9e4e75948dd2a2fe8cb8da525ee20e51acde70f5995b3f829c457b3b50765dc57b1989d845eb5c6d44e2d4c78df72b315fe2028dd108398a6336b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c2964fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5";

export type FirstOwner = OpenedVault | PasskeyAlone;

export type Keys = { vault: FirstOwner; second: SecondOwner | null };

/** where two must sign; `placeholder`: a signature for estimates of gas */
export type SecondOwner = OpenedVault | AddressOwner | PasskeyOwner;

export type Move = { kind: "token" | "nft" | "deposit" | "coin"; amount: bigint; token?: Token; nft?: Nft; call: Call };

export interface Plan {
  moves: Move[];
  /** complete except for its signature */ operation: UserOp;
  /** the most that the payer pays, in wei */ cost: bigint;
  /** null through a bundler */ transaction: { gas: bigint; tip: bigint; maxFee: bigint } | null;
}

/** Returns the batch that moves everything: tokens, the chosen NFTs, then the deposit and the coin. */
export function movesOf(
  { account, tokens, nfts, entryPoint }: Standing,
  to: string,
  { coin, deposit }: { coin: bigint; deposit: bigint },
): Move[] {
  const moves: Move[] = tokens
    .filter(({ balance }) => balance > 0n)
    .map((token) => {
      const data = callData("transfer(address,uint256)", address(to), number(token.balance));
      return { kind: "token", amount: token.balance, token, call: { to: token.address, value: 0n, data } };
    });
  moves.push(...nfts.filter(({ isChosen }) => isChosen).map((nft) => nftMove(nft, account, to)));
  const withdraw = callData("withdrawTo(address,uint256)", address(to), number(deposit));
  if (deposit) moves.push({ kind: "deposit", amount: deposit, call: { to: entryPoint, value: 0n, data: withdraw } });
  if (coin) moves.push({ kind: "coin", amount: coin, call: { to, value: coin, data: "0x" } });
  return moves;
}

function nftMove(nft: Nft, from: string, to: string): Move {
  const parts = [address(from), address(to), number(nft.id)];
  const data =
    nft.pieces === null
      ? callData("safeTransferFrom(address,address,uint256)", ...parts)
      : callData("safeTransferFrom(address,address,uint256,uint256,bytes)", ...parts, number(nft.pieces), bytes("0x"));
  return { kind: "nft", amount: nft.pieces ?? 1n, nft, call: { to: nft.contract, value: 0n, data } };
}

/**
 * Plans an exit by an ordinary transaction. The operation's own fees are zero, so the account gives all that it has.
 */
export async function ordinaryPlan(node: Node, standing: Standing, keys: Keys, to: string): Promise<Plan> {
  const moves = movesOf(standing, to, standing);
  let callGas = 0n;
  for (const { call } of moves) {
    callGas += await node.quantity("eth_estimateGas", [callFrom(standing.account, call)]);
    if (call.value) callGas += NEW_ADDRESS;
  }
  const each = VERIFICATION + ((await hasPrecompile(node)) ? 0n : WITHOUT_PRECOMPILE);
  const verification = (standing.second ? 2n : 1n) * each + (standing.isDeployed ? 0n : DEPLOYMENT);
  const operation = {
    ...unpaid(standing, keys, moves),
    callGasLimit: hex((callGas * PERCENT) / 100n),
    verificationGasLimit: hex(verification),
  };
  const { tip, maxFee } = await feesOf(node);
  const data = BYTE * BigInt(handleOps(operation, standing.account).length / 2 + 256);
  // The entry point requires that a 64th more than the call's gas is left (EIP-150).
  const gas = data + ENTRY_POINT + verification + (BigInt(operation.callGasLimit) * 64n) / 63n;
  return { moves, operation, cost: gas * maxFee, transaction: { gas, tip, maxFee } };
}

/**
 * Plans an exit through a bundler. The account pays from its deposit and its coin, and sends what the fees leave.
 *
 * @returns null: the account cannot pay the fees
 */
export async function bundledPlan(
  node: Node,
  bundler: Bundler,
  standing: Standing,
  keys: Keys,
  to: string,
): Promise<Plan | null> {
  const { coin, deposit } = standing;
  const probe = movesOf(standing, to, { coin: coin ? 1n : 0n, deposit: 0n });
  const { tip, maxFee } = await feesOf(node);
  const fees = { maxFeePerGas: hex(maxFee), maxPriorityFeePerGas: hex(tip) };
  const estimated = await bundler.estimated({ ...unpaid(standing, keys, probe), ...fees });
  const more = hex(BigInt(estimated.preVerificationGas) + MORE_CALL_DATA);
  const assertion = (await hasPrecompile(node)) ? WEBAUTHN_WITH_PRECOMPILE : WEBAUTHN;
  const lacking = keys.vault instanceof PasskeyAlone ? assertion : 0n;
  const verification = BigInt(estimated.verificationGasLimit) + lacking;
  const paid = { ...estimated, ...fees, preVerificationGas: more, verificationGasLimit: hex(verification) };
  const cost = greatestCost(paid);
  const left = coin - (cost > deposit ? cost - deposit : 0n);
  if (left < 0n) return null;
  const moves = movesOf(standing, to, { coin: left, deposit: 0n });
  const operation = { ...paid, callData: executeBatch(moves.map(({ call }) => call)) };
  return { moves, operation, cost, transaction: null };
}

/** Whether the chain verifies P-256 signatures itself. */
async function hasPrecompile(node: Node) {
  return (await node.word(PRECOMPILE, VALID)) === 1n;
}

/** Returns the operation with the signature, which names the keys unless only the primary one signs. */
export async function signed(
  { vault, second }: Keys,
  standing: Standing,
  operation: UserOp,
): Promise<{ operation: UserOp; hash: string }> {
  const { entryPoint, chainId, second: other } = standing;
  const computed = operationHash(operation, standing);
  const { signature, hash } = await vault.signed(operation, computed, { entryPoint, chainId });
  const made = [{ signer: vault.signer, signature }];
  if (second && other)
    made.push({ signer: second.signer, ...(await second.signed(operation, hash, { entryPoint, chainId })) });
  return { operation: { ...operation, signature: isNamed(vault, standing) ? byNames(made) : signature }, hash };
}

function unpaid(standing: Standing, keys: Keys, moves: Move[]): UserOp {
  const { account, nonce, isDeployed, second } = standing;
  const { signer, placeholder } = keys.vault;
  const made = [{ signer, signature: placeholder }];
  if (second && keys.second) made.push({ signer: second, signature: keys.second.placeholder });
  const [x, y] = [signer.slice(2, 66), signer.slice(66)].map((part) => BigInt(`0x${part}`));
  return {
    ...EMPTY_OPERATION,
    sender: account,
    nonce: hex(nonce),
    factory: isDeployed ? null : APP_FACTORY,
    factoryData: isDeployed ? null : createAccount(x, y),
    callData: executeBatch(moves.map(({ call }) => call)),
    signature: isNamed(keys.vault, standing) ? byNames(made) : "0x",
  };
}

/**
 * A passkey is named also where it is the primary key: estimates without a name are for the shorter signatures of
 * vaults.
 */
function isNamed(vault: FirstOwner, standing: Standing) {
  return standing.isNamed || vault instanceof PasskeyAlone;
}

function byNames(signatures: { signer: string; signature: string }[]) {
  const [{ signer, signature }, second] = signatures;
  if (!second) return byName(signer, signature);
  return named(signatures.map((it) => ({ ...it, keyId: toHex(keccak256(fromHex(it.signer))) })));
}

function callFrom(from: string, { to, value, data }: Call) {
  return { from, to, value: hex(value), data };
}
