/** Reads which NFTs (ERC-721, ERC-1155) an account has: those that the person names, and those that the node's logs show. */

import { address, callData, hash, number } from "./abi.ts";
import { type Log, type Node, NodeRefused } from "./node.ts";
import { addressOf } from "./nodes.ts";

const OF_ERC721 = `0x${hash("Transfer(address,address,uint256)")}`;
const ONE_ERC1155 = `0x${hash("TransferSingle(address,address,address,uint256,uint256)")}`;
const MORE_ERC1155 = `0x${hash("TransferBatch(address,address,address,uint256[],uint256[])")}`;
/** Anyone can send an account NFTs, and each costs a question to the node, so the newest suffice. */
const MOST_FOUND = 50;
const MOST_IN_A_LOG = 100;

export type Named = { contract: string; id: bigint };

/**
 * `pieces`: how many of an ERC-1155 token; null for ERC-721. `isFound`: the person has not named it. `isChosen`:
 * whether it is moved
 */
export type Nft = Named & { pieces: bigint | null; isFound: boolean; isChosen: boolean };

/** @param text `ADDRESS:ID` @returns null for other texts */
export function namedNft(text: string): Named | null {
  const [, at, digits] = /^(0x\w{40}):(\d{1,78})$/.exec(text.trim()) ?? [];
  const contract = at ? addressOf(at) : "";
  return contract && BigInt(digits) < 1n << 256n ? { contract, id: BigInt(digits) } : null;
}

/** @returns as people type it */
export function nftName({ contract, id }: Named): string {
  return `${contract}:${id}`;
}

/** Returns those of the NFTs that the account has. */
export async function nftsOf(node: Node, account: string, named: Named[], isFound: boolean): Promise<Nft[]> {
  const had = [];
  for (const nft of new Map(named.map((it) => [nftName(it), it])).values()) {
    const pieces = await piecesOf(node, account, nft);
    if (pieces !== undefined) had.push({ ...nft, pieces, isFound, isChosen: !isFound });
  }
  return had;
}

async function piecesOf(node: Node, account: string, { contract, id }: Named): Promise<bigint | null | undefined> {
  const owner = await node.word(contract, callData("ownerOf(uint256)", number(id)));
  if (owner === BigInt(account)) return null;
  return (await node.word(contract, callData("balanceOf(address,uint256)", address(account), number(id)))) || undefined;
}

/**
 * Returns the NFTs that came to the account and are still there, the newest first. They are not chosen: one whose
 * contract refuses to move it would hold up everything else.
 *
 * @returns null: the node does not search the whole chain
 */
export async function foundNfts(node: Node, account: string): Promise<Nft[] | null> {
  const to = `0x${address(account)}`;
  const came = [
    [OF_ERC721, null, to],
    [[ONE_ERC1155, MORE_ERC1155], null, null, to],
  ];
  try {
    const logs: Log[] = [];
    for (const topics of came) logs.push(...(await node.call<Log[]>("eth_getLogs", [{ fromBlock: "0x0", topics }])));
    const order = (log: Log) => Number(log.blockNumber) * 2 ** 20 + Number(log.logIndex);
    const newest = logs.sort((a, b) => order(b) - order(a)).flatMap(nftsIn);
    return nftsOf(node, account, newest.slice(0, MOST_FOUND), true);
  } catch (error) {
    if (error instanceof NodeRefused) return null;
    throw error;
  }
}

/** @param log of any contract, which may write what it likes, from a node that may, too */
function nftsIn({ address: at, topics, data }: Log): Named[] {
  const contract = addressOf(String(at).toLowerCase());
  if (!contract) return [];
  const word = (index: number) => BigInt(`0x${data.slice(2 + index * 64, 66 + index * 64)}`);
  try {
    if (topics[0] === OF_ERC721) return topics.length === 4 ? [{ contract, id: BigInt(topics[3]) }] : [];
    if (topics[0] === ONE_ERC1155) return [{ contract, id: word(0) }];
    const start = Number(word(0)) / 32;
    const length = Math.min(Number(word(start)), MOST_IN_A_LOG);
    return Array.from({ length }, (_, index) => ({ contract, id: word(start + 1 + index) }));
  } catch {
    return [];
  }
}
