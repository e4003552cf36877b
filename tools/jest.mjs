#!/usr/bin/env node
/**
 * Runs jest for the project in the current folder, on Node 24 whatever Node called: `node ../../tools/jest.mjs [jest options]`.
 * nx's `test` targets call it. `--inspect` and `--inspect-brk` are for Node, which then waits for a debugger.
 */
import { spawn } from 'node:child_process';
import path from 'node:path';
import { compileCache, findNode24 } from '../deploy/local/prepare.mjs';

const root = path.resolve(import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname), '..');
const node = findNode24(root);
const isForNode = (argument) => argument.startsWith('--inspect');
const [forNode, forJest] = [isForNode, (argument) => !isForNode(argument)].map((is) =>
  process.argv.slice(2).filter(is),
);
const ending = ['--import', path.join(root, 'tools/jest-exit.mjs')];
const child = spawn(node, [...forNode, ...ending, path.join(root, 'node_modules/jest/bin/jest.js'), ...forJest], {
  stdio: 'inherit',
  env: {
    ...process.env,
    PATH: [path.dirname(node), process.env.PATH].join(path.delimiter),
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? compileCache(root),
    NODE_OPTIONS: '--experimental-vm-modules --disable-warning=ExperimentalWarning',
  },
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
child.once('error', (error) => {
  console.error(error.message);
  process.exit(1);
});
child.once('exit', (code) => process.exit(code ?? 1));
