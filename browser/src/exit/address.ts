/** A second owner that is an address: a wallet signs the operation as typed data (EIP-712), or another program its hash. */

import { keccak256 } from "../did/keccak.ts";
import type { UserOp } from "../generated/types.ts";
import { type Child, el } from "../kit/el.ts";
import { ENTRY_POINTS } from "../generated/contracts.ts";
import { address, digits, hash, number, packed } from "./abi.ts";
import type { Page } from "./main.ts";
import { addressOf, checksummed, field } from "./nodes.ts";
import { form, typed } from "./parts.ts";
import type { Plan } from "./plan.ts";
import type { Standing } from "./standing.ts";

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
  declare signer: string;

  placeholder = `0x${"0".repeat(128)}1b`;
  signature = "0x";

  constructor(owner: string) {
    this.signer = owner.toLowerCase();
  }

  signed() {
    return { signature: this.signature };
  }
}

/** A form that takes the second owner's address. */
export function addressForm(page: Page, done: (owner: AddressOwner) => Promise<void>) {
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
 * @returns `takes`: whether the field has a signature, which is then the owner's
 */
export function signatureFields(
  page: Page,
  standing: Standing,
  { operation }: Plan,
): { nodes: Child[]; takes: (owner: AddressOwner) => boolean } {
  const { text } = page;
  const made = typed(page, SIGNATURE_FIELD, text("second.signature"), { hint: text("second.signature.hint") });
  const takes = (owner: AddressOwner) => {
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

/** EIP-1193 */
type Wallet = { request: (given: { method: string; params?: unknown[] }) => Promise<unknown> };

/** The typed data, and a button that has the browser's wallet sign it. */
function typedNodes(page: Page, standing: Standing, operation: UserOp, made: ReturnType<typeof typed>) {
  const { text } = page;
  const data = typedData(operation, standing);
  const shown = field(text("second.data"), { name: "second-data", tag: "textarea", readOnly: true });
  shown.input.value = JSON.stringify(data);
  const wallet = (globalThis as { ethereum?: Wallet }).ethereum;
  const ask = async () => {
    await wallet?.request({ method: "eth_requestAccounts" });
    const params = [standing.second, JSON.stringify(data)];
    const signature = String(await wallet?.request({ method: "eth_signTypedData_v4", params }));
    made.input.value = page.typed[SIGNATURE_FIELD] = signature;
  };
  const more = el("details", {}, el("summary", {}, text("second.elsewhere")), shown.node, digest(text, digestOf(data)));
  return [wallet && form(page, text("second.wallet"), ask), more];
}

/** @param hash 0x-hex */
function digest(text: Page["text"], hash: string) {
  return el("p", { class: "small" }, `${text("second.digest")}: `, el("code", { "data-digest": true }, hash));
}

/**
 * The hash of an operation, which version 0.7 of the entry point does not form as typed data.
 *
 * @param operation without a paymaster
 * @returns 0x-hex
 */
export function operationHash(operation: UserOp, of: { chainId: number; entryPoint: string }): string {
  const data = typedData(operation, of);
  if (of.entryPoint !== ENTRY_POINTS[0]) return digestOf(data);
  const words = wordsOf(data.message).join("");
  return `0x${hashed(hashed(words) + address(of.entryPoint) + number(of.chainId))}`;
}

/** The operation as versions 0.8 and 0.9 of the entry point hash it. */
function typedData(operation: UserOp, { chainId, entryPoint }: { chainId: number; entryPoint: string }) {
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

/** @returns 0x-hex */
function digestOf({ domain, message }: ReturnType<typeof typedData>): string {
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

/** @param message an operation's fields */
function wordsOf(message: Record<string, string>) {
  return FIELDS.map(({ name, type }) => {
    const value = message[name];
    if (type === "address") return address(value);
    if (type === "uint256") return number(BigInt(value));
    return type === "bytes32" ? value.slice(2) : hashed(value.slice(2));
  });
}

function typeOf(name: string, fields: { name: string; type: string }[]) {
  return `${name}(${fields.map((it) => `${it.type} ${it.name}`).join(",")})`;
}

/** @param hex digits */
function hashed(hex: string) {
  return digits(keccak256(Uint8Array.from(hex.match(/../g) ?? [], (pair) => parseInt(pair, 16))));
}
