/**
 * The calls by which an account changes a DID that it controls, and what the registry says about DIDs and aliases
 * (contracts/src/DIDRegistry.sol). The same calls as in the Python client's chain/did_calls.py. A DID or an alias is named
 * by its hash (`textHash`).
 */

import { NetworkError } from "../errors.js";
import { WORD, address, bytes, number, tuple } from "./abi.js";
import { fromHex, toHex } from "../bytes.js";
import { bytesAt, restAt } from "./lists.js";
import { isData } from "./rpc.js";

const COMMIT = "f14fcbc8"; // commit(bytes32)
const REGISTER_ALIAS = "5ac1ba20"; // registerAlias(bytes32,bytes32,bytes32)
const SET_METADATA = "0c49549f"; // setMetadata(bytes32,string)
const SET_DID_ACTIVE = "cdce7d9e"; // setDidActive(bytes32,bool)
const SET_ALIAS_ACTIVE = "40970a29"; // setAliasActive(bytes32,bool)
const CHANGE_CONTROLLER = "55161467"; // changeController(bytes32,address)
const ACCEPT_CONTROLLER = "0379bf10"; // acceptController(bytes32)
const GET_DID = "cdfa5eb2"; // getDid(bytes32)
const GET_ALIAS = "1da438e1"; // getAlias(bytes32)
const PROPOSED_CONTROLLER = "9990f083"; // proposedController(bytes32)

/** @typedef {import("./calls.js").Call} Call */

/** @param {string} registry @param {string} did a hash @param {boolean} active @returns {Call} */
export function setDidActive(registry, did, active) {
  return { to: registry, data: `0x${SET_DID_ACTIVE}${hash(did)}${number(Number(active))}` };
}

/** @param {string} registry @param {string} did a hash @param {string} cid "" removes it @returns {Call} */
export function setMetadata(registry, did, cid) {
  const text = bytes(toHex(new TextEncoder().encode(cid)));
  return { to: registry, data: `0x${SET_METADATA}${tuple(hash(did), text)}` };
}

/** @param {string} registry @param {string} did a hash @param {string} proposed an address @returns {Call} */
export function changeController(registry, did, proposed) {
  return { to: registry, data: `0x${CHANGE_CONTROLLER}${hash(did)}${address(proposed)}` };
}

/** @param {string} registry @param {string} did a hash @returns {Call} */
export function acceptController(registry, did) {
  return { to: registry, data: `0x${ACCEPT_CONTROLLER}${hash(did)}` };
}

/** @param {string} registry @param {string} alias a hash @param {boolean} active @returns {Call} */
export function setAliasActive(registry, alias, active) {
  return { to: registry, data: `0x${SET_ALIAS_ACTIVE}${hash(alias)}${number(Number(active))}` };
}

/** The call that posts the commitment to a claim. @param {string} registry @param {string} commitment @returns {Call} */
export function commit(registry, commitment) {
  return { to: registry, data: `0x${COMMIT}${hash(commitment)}` };
}

/**
 * @param {string} registry
 * @param {string} alias a hash
 * @param {string} did a hash
 * @param {string} secret of the commitment, 0x-hex, 32 bytes
 * @returns {Call}
 */
export function registerAlias(registry, alias, did, secret) {
  return { to: registry, data: `0x${REGISTER_ALIAS}${hash(alias)}${hash(did)}${hash(secret)}` };
}

/**
 * Returns the bytes whose hash is the commitment to an alias.
 *
 * @param {{did: string, alias: string, controller: string, secret: string}} claim hashes, an address, 32 bytes
 * @returns {string} 0x-hex
 */
export function commitmentBytes({ did, alias, controller, secret }) {
  return `0x${hash(did)}${hash(alias)}${address(controller)}${hash(secret)}`;
}

/** @param {string} did a hash @returns {string} data of the view, 0x-hex */
export function getDid(did) {
  return `0x${GET_DID}${hash(did)}`;
}

/** @param {string} did a hash @returns {string} data of the view, 0x-hex */
export function proposedController(did) {
  return `0x${PROPOSED_CONTROLLER}${hash(did)}`;
}

/** @param {string} alias a hash @returns {string} data of the view, 0x-hex */
export function getAlias(alias) {
  return `0x${GET_ALIAS}${hash(alias)}`;
}

/**
 * Reads what `getDid` returns.
 *
 * @param {unknown} answer 0x-hex
 * @throws {NetworkError} it is something else
 */
export function readDid(answer) {
  return read(answer, (digits, [controller, active]) => ({
    controller: readAccount(controller),
    active: isTrue(active),
    metadata: new TextDecoder("utf-8", { ignoreBOM: true }).decode(
      fromHex(bytesAt(digits, restAt(digits, 0, 2 * WORD))),
    ),
  }));
}

/** Reads what `proposedController` returns. @param {unknown} answer 0x-hex */
export function readProposed(answer) {
  return read(answer, (_digits, [proposed]) => readAccount(proposed));
}

/** Reads what `getAlias` returns. @param {unknown} answer 0x-hex */
export function readAlias(answer) {
  return read(answer, (_digits, [did, controller, active]) => ({
    didHash: /[^0]/.test(did) ? `0x${did}` : null,
    controller: readAccount(controller),
    active: isTrue(active),
  }));
}

/**
 * @template T
 * @param {unknown} answer
 * @param {(digits: string, words: string[]) => T} then throws RangeError for anything but the registry's state
 * @returns {T}
 */
function read(answer, then) {
  try {
    const digits = isData(answer) ? answer.slice(2).toLowerCase() : "";
    return then(digits, digits.match(/.{64}/g) ?? []);
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    throw new NetworkError("the chain's endpoint returns something other than the registry's state", { cause });
  }
}

/** @param {string} [word] */
function readAccount(word = "") {
  if (!/^0{24}.{40}$/.test(word)) throw new RangeError("not an address");
  return /[^0]/.test(word) ? `0x${word.slice(24)}` : null;
}

/** @param {string} [word] */
function isTrue(word = "") {
  if (!/^0{63}[01]$/.test(word)) throw new RangeError("not a bool");
  return word.endsWith("1");
}

/** @param {string} hex 0x-hex, 32 bytes */
function hash(hex) {
  return hex.slice(2).toLowerCase();
}
