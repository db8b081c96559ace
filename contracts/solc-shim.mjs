#!/usr/bin/env node
// Lets forge use the pinned solc-js as if it were a solc binary: `--version`, and standard JSON from stdin to stdout.
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';

const solc = createRequire(import.meta.url)('solc');
if (process.argv.includes('--version')) {
  process.stdout.write(`solc, the solidity compiler commandline interface\nVersion: ${solc.version()}\n`);
} else {
  process.stdout.write(solc.compile(readFileSync(0, 'utf8')));
}
