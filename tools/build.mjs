#!/usr/bin/env node
// usage (cwd = an app): node ../../tools/build.mjs src/main.ts → dist/main.js; workspace libraries bundled, npm packages external.
import { build } from 'esbuild';
import { readFileSync, rmSync } from 'node:fs';

const started = performance.now();
// Names of chunks change with their content: earlier ones would stay for ever.
rmSync('dist', { recursive: true, force: true });
// One after the other: entry points share no chunk, so that paths beside a module hold as they do in its source.
for (const entryPoint of process.argv.slice(2))
  await build({
    entryPoints: [entryPoint],
    outbase: 'src',
    outdir: 'dist',
    bundle: true,
    platform: 'node',
    format: 'esm',
    // A dynamic import is loaded when it runs, and not with the entry point.
    splitting: true,
    target: 'node24',
    sourcemap: true,
    sourcesContent: false,
    keepNames: true,
    logLevel: 'warning',
    plugins: [
      {
        name: 'npm-packages-stay-outside',
        setup: (b) =>
          b.onResolve({ filter: /^[^./]/ }, (a) =>
            a.kind === 'entry-point' || a.path.startsWith('@longwave/') ? undefined : { path: a.path, external: true },
          ),
      },
    ],
  });
const { name } = JSON.parse(readFileSync('package.json', 'utf8'));
console.log(`built ${name} in ${Math.round(performance.now() - started)} ms`);
