// Compiles the sources in src/ with the solc-js and the settings of our own contracts, and writes solc's JSON answer.
import { readFileSync, readdirSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { compile } from "../../../contracts/solc.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const contracts = join(here, "..", "..", "..", "contracts");
const IMPORT = /^import\s[^;]*?["']([^"']+)["'];/gm;

/** OpenZeppelin's contracts are those that ours are built on. */
function folder(path) {
    if (path.startsWith("src/")) return here;
    return join(path.startsWith("@openzeppelin/") ? contracts : here, "node_modules");
}

/** Adds a source and all that it imports. */
function add(path, sources) {
    if (sources[path]) return sources;
    const content = readFileSync(join(folder(path), path), "utf8");
    sources[path] = { content };
    for (const [, imported] of content.matchAll(IMPORT)) {
        add(imported.startsWith(".") ? posix.join(posix.dirname(path), imported) : imported, sources);
    }
    return sources;
}

const sources = {};
for (const name of readdirSync(join(here, "src")).sort()) add(`src/${name}`, sources);
const settings = JSON.parse(readFileSync(join(contracts, "settings.json"), "utf8"));
process.stdout.write(compile(JSON.stringify({ language: "Solidity", sources, settings })));
