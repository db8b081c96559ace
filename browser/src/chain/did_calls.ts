/**
 * The calls by which an account changes a DID that it controls, and what the registry says about DIDs and aliases
 * (contracts/src/DIDRegistry.sol). The same calls as in the Python client's chain/did_calls.py. A DID or an alias is named
 * by its hash (`textHash`).
 */

import { NetworkError } from "../errors.ts";
import { WORD, address, bytes, number, tuple } from "./abi.ts";
import { fromHex, toHex } from "../bytes.ts";
import type { Call } from "./calls.ts";
import { bytesAt, restAt } from "./lists.ts";
import { isData } from "./rpc.ts";

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

/** @param did a hash */
export function setDidActive(registry: string, did: string, active: boolean): Call {
  return { to: registry, data: `0x${SET_DID_ACTIVE}${hash(did)}${number(Number(active))}` };
}

/** @param did a hash @param cid "" removes it */
export function setMetadata(registry: string, did: string, cid: string): Call {
  const text = bytes(toHex(new TextEncoder().encode(cid)));
  return { to: registry, data: `0x${SET_METADATA}${tuple(hash(did), text)}` };
}

/** @param did a hash @param proposed an address */
export function changeController(registry: string, did: string, proposed: string): Call {
  return { to: registry, data: `0x${CHANGE_CONTROLLER}${hash(did)}${address(proposed)}` };
}

/** @param did a hash */
export function acceptController(registry: string, did: string): Call {
  return { to: registry, data: `0x${ACCEPT_CONTROLLER}${hash(did)}` };
}

/** @param alias a hash */
export function setAliasActive(registry: string, alias: string, active: boolean): Call {
  return { to: registry, data: `0x${SET_ALIAS_ACTIVE}${hash(alias)}${number(Number(active))}` };
}

/** The call that posts the commitment to a claim. */
export function commit(registry: string, commitment: string): Call {
  return { to: registry, data: `0x${COMMIT}${hash(commitment)}` };
}

/**
 * @param alias a hash
 * @param did a hash
 * @param secret of the commitment, 0x-hex, 32 bytes
 */
export function registerAlias(registry: string, alias: string, did: string, secret: string): Call {
  return { to: registry, data: `0x${REGISTER_ALIAS}${hash(alias)}${hash(did)}${hash(secret)}` };
}

/**
 * Returns the bytes whose hash is the commitment to an alias.
 *
 * @param claim hashes, an address, 32 bytes
 * @returns 0x-hex
 */
export function commitmentBytes({
  did,
  alias,
  controller,
  secret,
}: {
  did: string;
  alias: string;
  controller: string;
  secret: string;
}): string {
  return `0x${hash(did)}${hash(alias)}${address(controller)}${hash(secret)}`;
}

/** @param did a hash @returns data of the view, 0x-hex */
export function getDid(did: string): string {
  return `0x${GET_DID}${hash(did)}`;
}

/** @param did a hash @returns data of the view, 0x-hex */
export function proposedController(did: string): string {
  return `0x${PROPOSED_CONTROLLER}${hash(did)}`;
}

/** @param alias a hash @returns data of the view, 0x-hex */
export function getAlias(alias: string): string {
  return `0x${GET_ALIAS}${hash(alias)}`;
}

/**
 * Reads what `getDid` returns.
 *
 * @param answer 0x-hex
 * @throws {NetworkError} it is something else
 */
export function readDid(answer: unknown) {
  return read(answer, (digits, [controller, active]) => ({
    controller: readAccount(controller),
    active: isTrue(active),
    metadata: new TextDecoder("utf-8", { ignoreBOM: true }).decode(
      fromHex(bytesAt(digits, restAt(digits, 0, 2 * WORD))),
    ),
  }));
}

/** Reads what `proposedController` returns. @param answer 0x-hex */
export function readProposed(answer: unknown) {
  return read(answer, (_digits, [proposed]) => readAccount(proposed));
}

/** Reads what `getAlias` returns. @param answer 0x-hex */
export function readAlias(answer: unknown) {
  return read(answer, (_digits, [did, controller, active]) => ({
    didHash: /[^0]/.test(did) ? `0x${did}` : null,
    controller: readAccount(controller),
    active: isTrue(active),
  }));
}

/** @param then throws RangeError for anything but the registry's state */
function read<T>(answer: unknown, then: (digits: string, words: string[]) => T): T {
  try {
    const digits = isData(answer) ? answer.slice(2).toLowerCase() : "";
    return then(digits, digits.match(/.{64}/g) ?? []);
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    throw new NetworkError("the chain's endpoint returns something other than the registry's state", { cause });
  }
}

function readAccount(word: string = "") {
  if (!/^0{24}.{40}$/.test(word)) throw new RangeError("not an address");
  return /[^0]/.test(word) ? `0x${word.slice(24)}` : null;
}

function isTrue(word: string = "") {
  if (!/^0{63}[01]$/.test(word)) throw new RangeError("not a bool");
  return word.endsWith("1");
}

/** @param hex 0x-hex, 32 bytes */
function hash(hex: string) {
  return hex.slice(2).toLowerCase();
}
