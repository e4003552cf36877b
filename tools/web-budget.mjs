#!/usr/bin/env node
/**
 * What a browser loads of the web application, against its limits, from the manifest of the build (`nx build web`). A limit is raised in the
 * commit that needs it, with the reason.
 */
import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';

const dist = path.resolve(import.meta.dirname, '../apps/web/dist');

/** In kB: scripts and styles as they are sent (gzip), fonts as they are. */
const limits = { scripts: 150, styles: 14, fonts: 90, page: 35 };
/** Files and the document itself; the answers of the API are not counted. */
const requestsMax = 12;

/** Size of a file of the build as it is sent, in bytes. */
const sent = (file) => statSync(path.join(dist, /\.(js|css)$/.test(file) ? `${file}.gz` : file)).size;
const kb = (files) => files.reduce((total, file) => total + sent(file), 0) / 1000;

/** The chunk of a manifest with all chunks that it cannot do without. */
function withImports(manifest, name, found = new Set()) {
  if (found.has(name)) return found;
  found.add(name);
  for (const imported of manifest[name].imports ?? []) withImports(manifest, imported, found);
  return found;
}

/** Scripts, styles and fonts of chunks. A font for other scripts than Latin is loaded by the pages that have their characters. */
function filesOf(manifest, names) {
  const chunks = [...names].map((name) => manifest[name]);
  return {
    scripts: chunks.map(({ file }) => file),
    styles: [...new Set(chunks.flatMap(({ css = [] }) => css))],
    fonts: [...new Set(chunks.flatMap(({ assets = [] }) => assets))].filter(
      (file) => file.endsWith('.woff2') && !file.includes('-extended'),
    ),
  };
}

/** Each measured thing with its size in kB, or its number, and its limit. */
function measure(manifest, html) {
  const named = [...html.matchAll(/(?:src|href)="\/(assets\/[^"]+)"/g)].map(([, file]) => file);
  const start = Object.keys(manifest).filter((name) => named.includes(manifest[name].file));
  const entry = new Set(start.flatMap((name) => [...withImports(manifest, name)]));
  const languages = Object.keys(manifest).filter((name) => /^src\/messages\/\w+\.json$/.test(name));
  const largest = languages.toSorted((a, b) => sent(manifest[b].file) - sent(manifest[a].file)).slice(0, 1);
  const files = [...new Set([...named, ...Object.values(filesOf(manifest, [...entry, ...largest])).flat()])];
  const first = (ending) => files.filter((file) => file.endsWith(ending));
  const pages = Object.keys(manifest).filter((name) => /^src\/(pages|messages\/\w+)\//.test(name));
  return [
    { what: 'scripts of the first load', size: kb(first('.js')), limit: limits.scripts },
    { what: 'styles of the first load', size: kb(first('.css')), limit: limits.styles },
    { what: 'fonts of the first load', size: kb(first('.woff2')), limit: limits.fonts },
    // The document, and the script and the styles of the page itself.
    { what: 'requests of the first load', size: files.length + 3, limit: requestsMax },
    ...pages.map((name) => {
      const own = [...withImports(manifest, name)].filter((each) => !entry.has(each));
      return { what: name, size: kb(filesOf(manifest, own).scripts), limit: limits.page };
    }),
  ];
}

const manifest = JSON.parse(readFileSync(path.join(dist, '.vite/manifest.json'), 'utf8'));
const measured = measure(manifest, readFileSync(path.join(dist, 'index.html'), 'utf8'));
for (const { what, size, limit } of measured)
  console.log(`${size > limit ? '✗' : '✓'} ${what.padEnd(52)} ${size.toFixed(1).padStart(6)} of ${limit}`);
const missing = measured.filter(({ size }) => size === 0);
for (const { what } of missing) console.error(`No ${what} were found in the build.`);
process.exit(missing.length === 0 && measured.every(({ size, limit }) => size <= limit) ? 0 : 1);
