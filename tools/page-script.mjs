#!/usr/bin/env node
// usage (cwd = an app): node ../../tools/page-script.mjs src/player/main.ts src/generated/player-script.ts → a module with the script as a text,
// small enough to stand in a page
import { build } from 'esbuild';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const [entryPoint, file] = process.argv.slice(2);
const { outputFiles } = await build({
  entryPoints: [entryPoint],
  write: false,
  bundle: true,
  minify: true,
  format: 'iife',
  platform: 'browser',
  // The oldest browsers with everything that it uses.
  target: ['chrome119', 'firefox121', 'safari17.4'],
  charset: 'utf8',
  logLevel: 'warning',
});
const script = outputFiles[0].text.trim();
// It would end the element in which the script stands.
if (/<\/script|<!--/i.test(script)) throw new Error(`${entryPoint} has the end of a script element inside`);
const name = path.basename(file, '.ts').replace(/-(\w)/g, (_, letter) => letter.toUpperCase());
mkdirSync(path.dirname(file), { recursive: true });
writeFileSync(
  file,
  `/** ${entryPoint}, for a page (tools/page-script.mjs). */\nexport const ${name} = ${JSON.stringify(script)};\n`,
);
