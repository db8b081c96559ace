// Compiles the sources named on the command line with the pinned solc-js and writes solc's own JSON answer to stdout.
// With --input first it writes the standard JSON input instead, with every imported source in it: what Etherscan and
// Sourcify take. tools/compile_contracts.py calls it; settings.json is shared with the check that compares.
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const require = createRequire(import.meta.url);
const solc = require('solc');
const here = dirname(fileURLToPath(import.meta.url));

const named = process.argv.slice(2);
const inputOnly = named[0] === '--input';
if (inputOnly) named.shift();
const input = {
  language: 'Solidity',
  sources: Object.fromEntries(named.map((path) => [path, { content: readFileSync(join(here, path), 'utf8') }])),
  settings: JSON.parse(readFileSync(join(here, 'settings.json'), 'utf8')),
};

const imported = {};

/** Imports are our own files (by relative path) or packages of node_modules, and nothing else. */
function readImport(path) {
  const file = path.startsWith('@') ? join(here, 'node_modules', path) : join(here, path);
  try {
    const contents = readFileSync(file, 'utf8');
    imported[path] = { content: contents };
    return { contents };
  } catch (error) {
    return { error: error.message };
  }
}

const output = JSON.parse(solc.compile(JSON.stringify(input), { import: readImport }));
const complete = { ...input, sources: { ...input.sources, ...imported } };
process.stdout.write(JSON.stringify(inputOnly ? complete : { version: solc.version(), ...output }));
