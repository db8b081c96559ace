// viem's verification of an account's signatures (ERC-1271, ERC-6492), and OpenZeppelin's SignatureChecker as a contract's
// creation code. Each task reads JSON from stdin and writes JSON.
import { readFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { TypedData } from "ox";
import {
  createPublicClient,
  createWalletClient,
  custom,
  encodeFunctionData,
  hashMessage,
  hashTypedData,
  http,
  parseAbi,
} from "viem";
import { toAccount } from "viem/accounts";

const CONTRACTS = join(dirname(fileURLToPath(import.meta.url)), "..", "..", "contracts");
const CHECKER = `
pragma solidity 0.8.37;
import {SignatureChecker} from "@openzeppelin/contracts/utils/cryptography/SignatureChecker.sol";
contract Checker {
    function check(address signer, bytes32 hash, bytes memory signature) external view returns (bool) {
        return SignatureChecker.isValidSignatureNow(signer, hash, signature);
    }
}`;
const IMPORT = /^import\s[^;]*?["']([^"']+)["'];/gm;
const ABI = parseAbi(["function check(address signer, bytes32 hash, bytes signature) view returns (bool)"]);

/** Asks viem and, with a node that knows the account, OpenZeppelin's checker about a text or typed data. */
async function verify({ rpc, account, text, typed, signature }) {
  const client = createPublicClient({ transport: http(rpc) });
  const asked = { address: account, signature };
  const viem = await (text === undefined
    ? client.verifyTypedData({ ...asked, ...typed })
    : client.verifyMessage({ ...asked, message: text }));
  const hash = text === undefined ? hashTypedData(typed) : hashMessage(text);
  return { viem, openZeppelin: await checked(client, [account, hash, signature]) };
}

/** Runs the checker without deploying it: its code stands at an address for one call. */
async function checked(client, args) {
  const to = "0x00000000000000000000000000000000000c4ec6";
  const data = encodeFunctionData({ abi: ABI, args });
  const told = await client.request({
    method: "eth_call",
    params: [{ to, data }, "latest", { [to]: { code: await code() } }],
  });
  return BigInt(told) === 1n;
}

async function code() {
  const { compile } = await import("../../contracts/solc.mjs"); // large, and needed by one task only
  const sources = { "Checker.sol": { content: CHECKER } };
  for (const [, path] of CHECKER.matchAll(IMPORT)) add(path, sources);
  const outputSelection = { "*": { "*": ["evm.deployedBytecode.object"] } };
  const settings = { evmVersion: "cancun", optimizer: { enabled: true }, outputSelection };
  const input = JSON.stringify({ language: "Solidity", sources, settings });
  const { contracts, errors } = JSON.parse(compile(input));
  if (!contracts?.["Checker.sol"]) throw new Error(errors[0].formattedMessage);
  return `0x${contracts["Checker.sol"].Checker.evm.deployedBytecode.object}`;
}

/** Adds a source of OpenZeppelin's and all that it imports. */
function add(path, sources) {
  if (sources[path]) return;
  const content = readFileSync(join(CONTRACTS, "node_modules", path), "utf8");
  sources[path] = { content };
  for (const [, imported] of content.matchAll(IMPORT))
    add(imported.startsWith(".") ? posix.join(posix.dirname(path), imported) : imported, sources);
}

/** Returns the parts of typed data that the account's signer needs. */
function hashed({ domain, types, primaryType, message }) {
  return {
    separator: TypedData.domainSeparator(domain),
    contents: TypedData.hashStruct({ data: message, primaryType, types }),
    type: TypedData.encodeType({ primaryType, types }),
  };
}

/** Has viem's wallet client sign by the account that a page of the documentation makes; returns what reached it. */
async function wallet({ block, address, text, typed }) {
  const imported = { TypedData, toAccount };
  const names = [...block.matchAll(/^import \{ (\w+) \} from "[\w/]+";$/gm)].map(([, name]) => name);
  const body = block.replaceAll(/^import .*$/gm, "");
  const made = Object.getPrototypeOf(wallet).constructor("client", ...names, `${body}; return viemAccount;`);
  const asked = [];
  const sign = async (given) => `0x0${asked.push(given)}`;
  const client = { account: async () => ({ address, signText: sign, signTypedData: sign }) };
  const account = await made(client, ...names.map((name) => imported[name]));
  const signer = createWalletClient({
    account,
    transport: custom({ request: () => Promise.reject(new Error("none")) }),
  });
  const signatures = [await signer.signMessage({ message: text }), await signer.signTypedData(typed)];
  return { address: account.address, asked, signatures };
}

const tasks = { verify, hashed, wallet };
let given = "";
for await (const piece of process.stdin) given += piece;
const answer = JSON.stringify(await tasks[process.argv[2]](JSON.parse(given)));
process.stdout.write(answer, () => process.exit(0));
