#!/usr/bin/env node
// usage (cwd = apps/web): node tools/generate.mjs → src/generated: the types of REST API v1, the categories that it takes, the forms of commands, and the fonts with the characters of Latin scripts
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import openapiTS, { astToString } from 'openapi-typescript';
import subsetFont from 'subset-font';
import { deriveForms } from './derive-forms.mjs';

const root = path.resolve(import.meta.dirname, '../../..');
const folder = path.resolve(import.meta.dirname, '../src/generated');

/** Characters from one code point to another, both included. */
const range = (from, to) => Array.from({ length: to - from + 1 }, (_, index) => String.fromCodePoint(from + index));

/** What Western European languages write, with the punctuation and signs that our own texts use; `look/fonts.css` names the same ranges. */
const latin = [...range(0x20, 0x7e), ...range(0xa0, 0xff), ...'ıŒœŠšŸŽž–—‘’‚“”„†•…‹›€™−≤≥≠∞×÷←↑→↓⌘'];
/** Other languages in Latin script: a file of its own, which only pages with such characters load. */
const latinExtended = [...range(0x100, 0x24f), ...range(0x1e00, 0x1eff)].filter((each) => !latin.includes(each));

/** Variable fonts of npm packages, with the weights that the pages use. */
const fonts = [
  { name: 'inter', weights: { min: 400, max: 650 } },
  { name: 'newsreader', weights: { min: 400, max: 600 } },
];
const parts = [
  { suffix: '', source: 'latin', characters: latin },
  { suffix: '-extended', source: 'latin-ext', characters: latinExtended },
];

async function writeFont({ name, weights }, { suffix, source, characters }) {
  const file = path.join(root, `node_modules/@fontsource-variable/${name}/files/${name}-${source}-wght-normal.woff2`);
  const options = { targetFormat: 'woff2', variationAxes: { wght: weights } };
  const subset = await subsetFont(readFileSync(file), characters.join(''), options);
  writeFileSync(path.join(folder, `${name}${suffix}.woff2`), subset);
}

mkdirSync(folder, { recursive: true });
const document = JSON.parse(readFileSync(path.join(root, 'contracts/openapi.json'), 'utf8'));
writeFileSync(path.join(folder, 'openapi.d.ts'), astToString(await openapiTS(document)));
const { categories } = document.components.schemas.Podcast.properties;
const named = JSON.stringify(categories.items.enum, undefined, 2);
writeFileSync(path.join(folder, 'categories.ts'), `export const categories: readonly string[] = ${named};\n`);
deriveForms(path.join(folder, 'forms'), root);
for (const font of fonts) for (const part of parts) await writeFont(font, part);
