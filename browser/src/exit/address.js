/** A second owner that is an address: a wallet signs the operation as typed data (EIP-712), or another program its hash. */

import { keccak256 } from "../did/keccak.js";
import { el } from "../kit/el.js";
import { ENTRY_POINTS } from "../generated/contracts.js";
import { address, digits, hash, number, packed } from "./abi.js";
import { addressOf, checksummed, field } from "./nodes.js";
import { form, typed } from "./parts.js";

const FIELDS = Object.entries({
  sender: "address",
  nonce: "uint256",
  initCode: "bytes",
  callData: "bytes",
  accountGasLimits: "bytes32",
  preVerificationGas: "uint256",
  gasFees: "bytes32",
  paymasterAndData: "bytes",
}).map(([name, type]) => ({ name, type }));
const DOMAIN = Object.entries({
  name: "string",
  version: "string",
  chainId: "uint256",
  verifyingContract: "address",
}).map(([name, type]) => ({ name, type }));
const SIGNATURE = /^0x(?:[0-9a-f]{2}){65,2048}$/i;
export const SIGNATURE_FIELD = "second-signature";

/** Signs with what the person pastes. */
export class AddressOwner {
  placeholder = `0x${"0".repeat(128)}1b`;
  signature = "0x";

  /** @param {string} owner */
  constructor(owner) {
    this.signer = owner.toLowerCase();
  }

  signed() {
    return { signature: this.signature };
  }
}

/**
 * A form that takes the second owner's address.
 *
 * @param {import("./main.js").Page} page
 * @param {(owner: AddressOwner) => Promise<void>} done
 */
export function addressForm(page, done) {
  const { text } = page;
  const owner = typed(page, "second-address", text("second.address"), { hint: text("second.address.hint") });
  const use = async () => {
    const named = addressOf(owner.input.value);
    owner.say(named ? "" : text("bad.address"));
    return named ? done(new AddressOwner(named)) : owner.input.focus();
  };
  return form(page, text("second.use"), use, owner.node);
}

/**
 * What the address signs, and the field for its signature.
 *
 * @param {import("./main.js").Page} page
 * @param {import("./standing.js").Standing} standing
 * @param {import("./plan.js").Plan} plan
 * @returns {{nodes: import("../kit/el.js").Child[], takes: (owner: AddressOwner) => boolean}} `takes`: whether the field has a
 *   signature, which is then the owner's
 */
export function signatureFields(page, standing, { operation }) {
  const { text } = page;
  const made = typed(page, SIGNATURE_FIELD, text("second.signature"), { hint: text("second.signature.hint") });
  const takes = (/** @type {AddressOwner} */ owner) => {
    const signature = made.input.value.trim();
    made.say(SIGNATURE.test(signature) ? "" : text("bad.signature"));
    owner.signature = signature;
    return SIGNATURE.test(signature) || (made.input.focus(), false);
  };
  const of = { address: checksummed(standing.second) };
  const isTyped = standing.entryPoint !== ENTRY_POINTS[0];
  const nodes = isTyped
    ? [el("p", { class: "notice" }, text("second.sign", of)), ...typedNodes(page, standing, operation, made)]
    : [el("p", { class: "notice" }, text("second.raw", of)), digest(text, operationHash(operation, standing))];
  return { nodes: [...nodes, made.node], takes };
}

/**
 * The typed data, and a button that has the browser's wallet sign it.
 *
 * @param {import("./main.js").Page} page
 * @param {import("./standing.js").Standing} standing
 * @param {import("../generated/types.js").UserOp} operation
 * @param {ReturnType<typeof typed>} made
 */
function typedNodes(page, standing, operation, made) {
  const { text } = page;
  const data = typedData(operation, standing);
  const shown = field(text("second.data"), { name: "second-data", tag: "textarea", readOnly: true });
  shown.input.value = JSON.stringify(data);
  const wallet = /** @type {any} */ (globalThis).ethereum;
  const ask = async () => {
    await wallet.request({ method: "eth_requestAccounts" });
    const params = [standing.second, JSON.stringify(data)];
    const signature = String(await wallet.request({ method: "eth_signTypedData_v4", params }));
    made.input.value = page.typed[SIGNATURE_FIELD] = signature;
  };
  const more = el("details", {}, el("summary", {}, text("second.elsewhere")), shown.node, digest(text, digestOf(data)));
  return [wallet && form(page, text("second.wallet"), ask), more];
}

/** @param {import("./main.js").Page["text"]} text @param {string} hash 0x-hex */
function digest(text, hash) {
  return el("p", { class: "small" }, `${text("second.digest")}: `, el("code", { "data-digest": true }, hash));
}

/**
 * The hash of an operation, which version 0.7 of the entry point does not form as typed data.
 *
 * @param {import("../generated/types.js").UserOp} operation without a paymaster
 * @param {{chainId: number, entryPoint: string}} of
 * @returns {string} 0x-hex
 */
export function operationHash(operation, of) {
  const data = typedData(operation, of);
  if (of.entryPoint !== ENTRY_POINTS[0]) return digestOf(data);
  const words = wordsOf(data.message).join("");
  return `0x${hashed(hashed(words) + address(of.entryPoint) + number(of.chainId))}`;
}

/**
 * The operation as versions 0.8 and 0.9 of the entry point hash it.
 *
 * @param {import("../generated/types.js").UserOp} operation
 * @param {{chainId: number, entryPoint: string}} of
 */
function typedData(operation, { chainId, entryPoint }) {
  const { initCode, accountGasLimits, gasFees } = packed(operation);
  const message = {
    sender: operation.sender,
    nonce: BigInt(operation.nonce).toString(),
    initCode,
    callData: operation.callData,
    accountGasLimits,
    preVerificationGas: BigInt(operation.preVerificationGas).toString(),
    gasFees,
    paymasterAndData: "0x",
  };
  const domain = { name: "ERC4337", version: "1", chainId, verifyingContract: entryPoint };
  return {
    types: { EIP712Domain: DOMAIN, PackedUserOperation: FIELDS },
    primaryType: "PackedUserOperation",
    domain,
    message,
  };
}

/** @param {ReturnType<typeof typedData>} data @returns {string} 0x-hex */
function digestOf({ domain, message }) {
  const texts = [domain.name, domain.version].map(hash);
  const of = [
    hash(typeOf("EIP712Domain", DOMAIN)),
    ...texts,
    number(domain.chainId),
    address(domain.verifyingContract),
  ];
  const struct = hashed([hash(typeOf("PackedUserOperation", FIELDS)), ...wordsOf(message)].join(""));
  return `0x${hashed(`1901${hashed(of.join(""))}${struct}`)}`;
}

/** @param {Record<string, string>} message an operation's fields */
function wordsOf(message) {
  return FIELDS.map(({ name, type }) => {
    const value = message[name];
    if (type === "address") return address(value);
    if (type === "uint256") return number(BigInt(value));
    return type === "bytes32" ? value.slice(2) : hashed(value.slice(2));
  });
}

/** @param {string} name @param {{name: string, type: string}[]} fields */
function typeOf(name, fields) {
  return `${name}(${fields.map((it) => `${it.type} ${it.name}`).join(",")})`;
}

/** @param {string} hex digits */
function hashed(hex) {
  return digits(keccak256(Uint8Array.from(hex.match(/../g) ?? [], (pair) => parseInt(pair, 16))));
}
