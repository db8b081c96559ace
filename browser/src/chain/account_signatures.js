/**
 * What an account signs for others: messages (ERC-1271) nested as ERC-7739 says, and ERC-6492 before the account exists.
 * The same rules as in the Python client's chain/account_signatures.py.
 */

import { fromHex, toHex } from "../bytes.js";
import { keccak256 } from "../did/keccak.js";
import { WORD, address, bytes, number, tuple } from "./abi.js";

const LONGEST_TYPE = 0xffff;
const FIELDS = " contents,string name,string version,uint256 chainId,address verifyingContract,bytes32 salt)";
/** How a signature ends that names the call which creates the account. */
const ERC6492 = "6492".repeat(16);

/**
 * @typedef {{address: string, chainId: number}} AccountDomain an account on its chain
 * @typedef {{separator: string, contents: string, type: string}} TypedData an app's typed data (EIP-712), as its library
 *   gives it: the hash of its domain, the hash of the struct (0x-hex), and the struct's type with those that it uses,
 *   such as `Mail(Person to)Person(string name)`
 * @typedef {{digest: string, signature: (made: string) => string}} Nested `digest`: what an owner's key signs;
 *   `signature`: the account's signature with the owner's over it. 0x-hex
 */

/**
 * Returns what the key signs for a text, as wallets sign it (ERC-191).
 *
 * @param {string} message
 * @param {AccountDomain} accountDomain
 * @returns {Nested}
 * @throws {TypeError} a text is not Unicode
 */
export function nestedText(message, accountDomain) {
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
 * @param {TypedData} data
 * @param {AccountDomain} accountDomain
 * @returns {Nested}
 * @throws {TypeError} a hash has another length, or the type is not a struct of EIP-712
 */
export function nestedTypedData({ separator, contents, type }, accountDomain) {
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
 * @param {string} signature
 * @param {{factory: string, factoryData: string}} creation
 * @returns {string} 0x-hex
 */
export function beforeCreation(signature, { factory, factoryData }) {
  return `0x${tuple(address(factory), bytes(factoryData), bytes(signature))}${ERC6492}`;
}

/** @param {AccountDomain} accountDomain the fields of its domain */
function account({ address: of, chainId }) {
  return plain(hash("Holdfast VaultAccount")) + plain(hash("1")) + number(chainId) + address(of);
}

/** @param {string} separator @param {string} struct its hash */
function typed(separator, struct) {
  return joined("1901", separator, struct);
}

/** Returns Keccak-256 of the parts, one after the other. @param {...string} parts hex @returns {string} 0x-hex */
function joined(...parts) {
  return toHex(keccak256(fromHex(parts.map(plain).join(""))));
}

/** @param {string} text @throws {TypeError} it is not Unicode */
function hash(text) {
  if (!text.isWellFormed()) throw new TypeError("the text is not Unicode");
  return toHex(keccak256(new TextEncoder().encode(text)));
}

/** @param {string} hex */
function plain(hex) {
  return hex.replace(/^0x/, "").toLowerCase();
}
