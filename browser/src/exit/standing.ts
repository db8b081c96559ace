/** Reads from a node what an account is on its chain: its owners, and what it has. */

import { fromHex, toHex } from "../bytes.ts";
import { WORD } from "../chain/abi.ts";
import { bytesAt, numberAt, restAt } from "../chain/lists.ts";
import { OWNER_ADDED, type Owner } from "../chain/owner_list.ts";
import { hasExpired } from "../chain/owners.ts";
import { keccak256 } from "../did/keccak.ts";
import { APP_FACTORY, ENTRY_POINTS, USDC } from "../generated/contracts.ts";
import { address, callData, hash, number } from "./abi.ts";
import { foundNfts, type Named, type Nft, nftName, nftsOf } from "./nfts.ts";
import { type Log, type Node, NodeRefused } from "./node.ts";

const LONGEST_SYMBOL = 12;
const MOST_DECIMALS = 36;
const THRESHOLD_AT = 3;
const ADDRESS_LENGTH = 42;

export type Token = { address: string; balance: bigint; symbol: string; decimals: number };

/** why the keys cannot act; "two_other": two owners must sign, and the second key is not one of them */
type Obstacle = "" | "no_factory" | "absent" | "not_owner" | "two" | "two_other" | "no_entry_point";

/**
 * `chainId`: as the person typed it; `own`: the key's first account; `second`: another vault's key, an address, or empty; `tokens`: addresses, in addition
 * to USDC
 */
type ExitRequest = {
  chainId: number;
  account: string;
  own: string;
  signer: string;
  second: string;
  tokens: string[];
  nfts: Named[];
};

export interface Standing {
  chainId: number;
  account: string;
  entryPoint: string;
  /** if not, the first operation creates the account */ isDeployed: boolean;
  /** the key is an owner but not the primary key, or two sign, so the signature names the keys */ isNamed: boolean;
  /** the second key if two owners must sign, or empty */ second: string;
  nonce: bigint;
  obstacle: Obstacle;
  /** null: the node does not show the account's history */ owners: Owner[] | null;
  /** in wei */ coin: bigint;
  /** at the entry point, in wei */ deposit: bigint;
  tokens: Token[];
  nfts: Nft[];
  /** whether the node has searched the chain for NFTs */ isSearched: boolean;
}

export async function standingOf(
  node: Node,
  { chainId, account, own, signer, second, tokens, nfts }: ExitRequest,
): Promise<Standing> {
  const isDeployed = await hasCode(node, account);
  const entryPoint = await entryPointOf(node, second.length === ADDRESS_LENGTH);
  const facts = { chainId, account, entryPoint, isDeployed };
  const state = isDeployed
    ? await deployed(node, facts, signer, second)
    : { isNamed: false, second: "", nonce: 0n, owners: null, obstacle: await future(node, account === own) };
  const named = await nftsOf(node, account, nfts, false);
  const found = await foundNfts(node, account);
  const known = new Set(named.map(nftName));
  return {
    ...facts,
    ...state,
    obstacle: entryPoint ? state.obstacle : "no_entry_point",
    coin: await node.quantity("eth_getBalance", [account, "latest"]),
    deposit: (entryPoint && (await node.word(entryPoint, balanceOf(account)))) || 0n,
    tokens: await held(node, account, [USDC[chainId] ?? "", ...tokens]),
    nfts: [...named, ...(found ?? []).filter((it) => !known.has(nftName(it)))],
    isSearched: found !== null,
  };
}

/**
 * Returns a version of the entry point that the chain has; accounts obey each.
 *
 * @param isTyped whether a wallet signs typed data, as which 0.7 does not hash operations, so that it comes last
 */
async function entryPointOf(node: Node, isTyped: boolean) {
  const ordered = isTyped ? [...ENTRY_POINTS.slice(1), ENTRY_POINTS[0]] : ENTRY_POINTS;
  for (const known of ordered) if (await hasCode(node, known)) return known;
  return "";
}

async function future(node: Node, isOwn: boolean): Promise<Obstacle> {
  if (!isOwn) return "absent";
  return (await hasCode(node, APP_FACTORY)) ? "" : "no_factory";
}

async function deployed(
  node: Node,
  { account, entryPoint }: { account: string; entryPoint: string },
  signer: string,
  second: string,
) {
  const key = await node.read(account, callData("publicKey()"));
  const settings = await node.read(account, callData("accountSettings()"));
  const isOwner = await owns(node, account, signer);
  const isSecond = second !== "" && second !== signer && (await owns(node, account, second));
  const isTwo = numberAt(settings.slice(2), THRESHOLD_AT * WORD) > 1n;
  const obstacle: Obstacle = !isOwner ? "not_owner" : !isTwo || isSecond ? "" : second ? "two_other" : "two";
  const nonce =
    entryPoint && (await node.word(entryPoint, callData("getNonce(address,uint192)", address(account), number(0))));
  return {
    isNamed: isTwo || key.toLowerCase() !== signer.toLowerCase(),
    second: isTwo && isSecond ? second : "",
    nonce: nonce || 0n,
    obstacle,
    owners: await ownersOf(node, account, key),
  };
}

/**
 * Returns the owners. Their bytes come from the account's events, and what each is now from its state. Many public
 * nodes refuse to search the whole chain; leaving does not need them.
 *
 * @param primary 0x-hex
 */
async function ownersOf(node: Node, account: string, primary: string): Promise<Owner[] | null> {
  const search = { address: account, fromBlock: "0x0", toBlock: "latest", topics: [`0x${hash(OWNER_ADDED)}`] };
  try {
    const added = (await node.call<Log[]>("eth_getLogs", [search])).map(({ data }) =>
      bytesAt(data.slice(2), restAt(data.slice(2), 0, 0)),
    );
    const signers = [...new Set([...(BigInt(primary) ? [primary] : []), ...added])];
    const owners = [];
    for (const signer of signers) {
      const [isOwner, expiry] = await keyState(node, account, signer);
      if (isOwner) owners.push({ signer, expiry, isPrimary: signer === primary });
    }
    return owners;
  } catch (error) {
    if (error instanceof NodeRefused) return null;
    throw error;
  }
}

/**
 * Returns which key is an owner of an account.
 *
 * @param signers 0x-hex
 * @returns empty if none is, or the account does not exist
 */
export async function ownerAmong(node: Node, account: string, signers: string[]): Promise<string> {
  if (await hasCode(node, account)) for (const signer of signers) if (await owns(node, account, signer)) return signer;
  return "";
}

async function owns(node: Node, account: string, signer: string) {
  const [isOwner, expiry] = await keyState(node, account, signer);
  return isOwner && !hasExpired({ expiry });
}

async function keyState(node: Node, account: string, signer: string): Promise<[boolean, number]> {
  const result = await node.read(account, callData("keyState(bytes32)", toHex(keccak256(fromHex(signer))).slice(2)));
  return [numberAt(result.slice(2), 0) === 1n, Number(numberAt(result.slice(2), WORD))];
}

async function held(node: Node, account: string, named: string[]) {
  const tokens = [];
  for (const token of new Set(named.filter(Boolean).map((it) => it.toLowerCase()))) {
    const balance = await node.word(token, balanceOf(account));
    if (balance === null) continue;
    const decimals = Number((await node.word(token, callData("decimals()"))) ?? 0n);
    const shown = decimals <= MOST_DECIMALS ? decimals : 0;
    tokens.push({ address: token, balance, symbol: await symbolOf(node, token), decimals: shown });
  }
  return tokens;
}

/** Returns what a token calls itself; it is shown next to the address, which counts. */
async function symbolOf(node: Node, token: string) {
  const result = await node.read(token, callData("symbol()")).catch(() => "0x");
  const octets = fromHex(result);
  const length = Number(BigInt(toHex(octets.subarray(32, 64)) === "0x" ? 0 : toHex(octets.subarray(32, 64))));
  return new TextDecoder()
    .decode(octets.subarray(64, 64 + Math.min(length, LONGEST_SYMBOL)))
    .replace(/[^\x20-\x7e]/g, "");
}

async function hasCode(node: Node, at: string) {
  return (await node.call("eth_getCode", [at, "latest"])) !== "0x";
}

function balanceOf(holder: string) {
  return callData("balanceOf(address)", address(holder));
}
