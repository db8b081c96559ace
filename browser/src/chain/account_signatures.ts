/**
 * What an account signs for others: messages (ERC-1271) nested as ERC-7739 says, and ERC-6492 before the account exists.
 * The same rules as in the Python client's chain/account_signatures.py.
 */

import { fromHex, toHex } from "../bytes.ts";
import { keccak256 } from "../did/keccak.ts";
import { WORD, address, bytes, number, tuple } from "./abi.ts";

const LONGEST_TYPE = 0xffff;
const FIELDS = " contents,string name,string version,uint256 chainId,address verifyingContract,bytes32 salt)";
/** How a signature ends that names the call which creates the account. */
const ERC6492 = "6492".repeat(16);

/** an account on its chain */
type AccountDomain = { address: string; chainId: number };

/**
 * an app's typed data (EIP-712), as its library gives it: the hash of its domain, the hash of the struct (0x-hex), and
 * the struct's type with those that it uses, such as `Mail(Person to)Person(string name)`
 */
export type TypedData = { separator: string; contents: string; type: string };

/** `digest`: what an owner's key signs; `signature`: the account's signature with the owner's over it. 0x-hex */
export type Nested = { digest: string; signature: (made: string) => string };

/**
 * Returns what the key signs for a text, as wallets sign it (ERC-191).
 *
 * @throws {TypeError} a text is not Unicode
 */
export function nestedText(message: string, accountDomain: AccountDomain): Nested {
  const { length } = new TextEncoder().encode(message);
  const prefixed = hash(`\x19Ethereum Signed Message:\n${length}${message}`);
  const domain = joined(
    hash("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"),
    account(accountDomain),
  );
  const struct = joined(hash("PersonalSign(bytes prefixed)"), prefixed);
  return { digest: typed(domain, struct), signature: (made) => made };
}

/**
 * Returns what the key signs for typed data.
 *
 * @throws {TypeError} a hash has another length, or the type is not a struct of EIP-712
 */
export function nestedTypedData({ separator, contents, type }: TypedData, accountDomain: AccountDomain): Nested {
  const [name, named] = [type.split("(")[0], toHex(new TextEncoder().encode(type)).slice(2)];
  const isWhole = [separator, contents].every((it) => fromHex(it).length === 32);
  if (!isWhole || !/^[a-zA-Z_]\w*$/.test(name) || named.length / 2 > LONGEST_TYPE)
    throw new TypeError("typed data: two hashes of 32 bytes, and a type such as Mail(string text)");
  const struct = joined(
    hash(`TypedDataSign(${name}${FIELDS}${type}`),
    contents,
    account(accountDomain),
    "0".repeat(WORD),
  );
  const end = plain(separator) + plain(contents) + named + (named.length / 2).toString(16).padStart(4, "0");
  return { digest: typed(separator, struct), signature: (made) => made + end };
}

/**
 * Returns the signature of an account that does not exist yet, with the call that creates it (ERC-6492).
 *
 * @returns 0x-hex
 */
export function beforeCreation(
  signature: string,
  { factory, factoryData }: { factory: string; factoryData: string },
): string {
  return `0x${tuple(address(factory), bytes(factoryData), bytes(signature))}${ERC6492}`;
}

/** @param accountDomain the fields of its domain */
function account({ address: of, chainId }: AccountDomain) {
  return plain(hash("Holdfast VaultAccount")) + plain(hash("1")) + number(chainId) + address(of);
}

/** @param struct its hash */
function typed(separator: string, struct: string) {
  return joined("1901", separator, struct);
}

/** Returns Keccak-256 of the parts, one after the other. @param parts hex @returns 0x-hex */
function joined(...parts: string[]): string {
  return toHex(keccak256(fromHex(parts.map(plain).join(""))));
}

/** @throws {TypeError} it is not Unicode */
function hash(text: string) {
  if (!text.isWellFormed()) throw new TypeError("the text is not Unicode");
  return toHex(keccak256(new TextEncoder().encode(text)));
}

function plain(hex: string) {
  return hex.replace(/^0x/i, "").toLowerCase();
}
