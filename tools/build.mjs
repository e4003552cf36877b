#!/usr/bin/env node
// usage (cwd = an app): node ../../tools/build.mjs src/main.ts → dist/main.js: workspace libraries and npm packages in one bundle
import { build } from 'esbuild';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

/**
 * Packages that stay outside: what telemetry instruments (it recognizes modules by their packages), and telemetry's own instruments,
 * which are loaded only where a collector is set. All others would cost memory: a process keeps the source text of each module that
 * it has loaded, and a bundle holds only what is used, without comments.
 */
const outside =
  /^(express|@grpc\/grpc-js|grpc-health-check|kafkajs|pg|ioredis|@opentelemetry\/(instrumentation|sdk-node|exporter-(trace|metrics)-).*)(\/|$)/;

/** Positions in packages are not mapped: their maps would be held in memory. */
const unmapped = `\n//# sourceMappingURL=data:application/json;base64,${Buffer.from('{"version":3,"sources":[""],"mappings":"AAAA"}').toString('base64')}`;

const { values: options, positionals: entryPoints } = parseArgs({
  allowPositionals: true,
  options: {
    outdir: { type: 'string', default: 'dist' },
    /** The part of an entry point's path that is left out in `outdir`. */
    outbase: { type: 'string', default: 'src' },
    /** A file for what was read and what stayed outside (esbuild's metafile). */
    metafile: { type: 'string' },
  },
});

/** What esbuild's metafiles say of all entry points together. */
const read = { inputs: {}, outputs: {} };
const started = performance.now();
// Names of chunks change with their content: earlier ones would stay for ever.
rmSync(options.outdir, { recursive: true, force: true });
// One after the other: entry points share no chunk, so that paths beside a module hold as they do in its source.
for (const entryPoint of entryPoints) {
  const { metafile } = await build({
    entryPoints: [entryPoint],
    outbase: options.outbase,
    outdir: options.outdir,
    bundle: true,
    platform: 'node',
    format: 'esm',
    // A dynamic import is loaded when it runs, and not with the entry point.
    splitting: true,
    target: 'node24',
    sourcemap: true,
    sourcesContent: false,
    keepNames: true,
    minifyWhitespace: true,
    minifySyntax: true,
    metafile: options.metafile !== undefined,
    logLevel: 'warning',
    // CommonJS packages inside call Node's modules by `require`.
    banner: {
      js: "import{createRequire as createBundleRequire}from'node:module';const require=createBundleRequire(import.meta.url);",
    },
    plugins: [
      {
        name: 'packages',
        setup: (b) => {
          b.onResolve({ filter: outside }, (a) => ({ path: a.path, external: true }));
          b.onLoad({ filter: /\/node_modules\/.*\.[cm]?js$/ }, (a) => ({
            contents: readFileSync(a.path, 'utf8') + unmapped,
            loader: 'js',
          }));
        },
      },
    ],
  });
  for (const part of ['inputs', 'outputs']) Object.assign(read[part], metafile?.[part]);
}
if (options.metafile !== undefined) writeFileSync(options.metafile, JSON.stringify(read));
const { name } = JSON.parse(readFileSync('package.json', 'utf8'));
console.log(`built ${name} in ${Math.round(performance.now() - started)} ms`);
