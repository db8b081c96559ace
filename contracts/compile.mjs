// Compiles every source below src/, or those that are named, with the pinned solc-js and writes solc's own JSON answer to
// stdout. With --input it writes the standard JSON input instead, with every imported source in it: what Etherscan and
// Sourcify take. With --docs the answer has only the ABI and the NatSpec, which takes a tenth of the time.
import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compile, version } from './solc.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const IMPORT = /^import\s[^;]*?["']([^"']+)["'];/gm;

/** Adds a source and all that it imports: our own files by relative path, or packages of node_modules. */
function add(path, sources) {
  if (sources[path]) return sources;
  const content = readFileSync(join(here, path.startsWith('@') ? 'node_modules' : '', path), 'utf8');
  sources[path] = { content };
  for (const [, imported] of content.matchAll(IMPORT)) {
    add(imported.startsWith('.') ? posix.join(posix.dirname(path), imported) : imported, sources);
  }
  return sources;
}

const ours = readdirSync(join(here, 'src'), { recursive: true }).map((name) => `src/${name.replaceAll('\\', '/')}`);
const named = process.argv.slice(2).filter((name) => name.endsWith('.sol'));
const sources = {};
for (const name of (named.length > 0 ? named : ours).sort()) if (name.endsWith('.sol')) add(name, sources);
const settings = JSON.parse(readFileSync(join(here, 'settings.json'), 'utf8'));
if (process.argv.includes('--docs')) settings.outputSelection['*']['*'] = ['abi', 'userdoc', 'devdoc'];
const input = JSON.stringify({ language: 'Solidity', sources, settings });
if (process.argv.includes('--input')) process.stdout.write(input);
else process.stdout.write(JSON.stringify({ version: version(), ...JSON.parse(compile(input)) }));
