import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, test } from '@jest/globals';
import { z } from 'zod';

const root = path.resolve(import.meta.dirname, '../../..');
const folder = mkdtempSync(path.join(tmpdir(), 'longwave-packages-'));
afterAll(() => rmSync(folder, { recursive: true }));

interface Entry {
  readonly version?: string;
  integrity?: string;
  resolved?: string;
  license?: string;
  dev?: boolean;
  link?: boolean;
}
const readLock = () =>
  JSON.parse(readFileSync(path.join(root, 'package-lock.json'), 'utf8')) as { packages: Record<string, Entry> };

const run = async (...args: string[]) =>
  promisify(execFile)(process.execPath, [path.join(root, 'tools/supply-chain.mjs'), ...args], {
    maxBuffer: 64 * 1024 * 1024,
  }).then(
    ({ stdout }) => ({ code: 0, stdout, stderr: '' }),
    ({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) => ({ code, stdout, stderr }),
  );

/** What the check says about our lock file after a change to the entry of `express`, which production needs. */
async function faultsAfter(change: (express: Entry) => void): Promise<string> {
  const lock = readLock();
  change(lock.packages['node_modules/express']!);
  const file = path.join(folder, 'package-lock.json');
  writeFileSync(file, JSON.stringify(lock));
  const { code, stderr } = await run('--check', '--lock', file);
  expect(code).toBe(stderr === '' ? 0 : 1);
  return stderr.trim();
}

test('our lock file has nothing against it, and a development package may have any licence', async () => {
  expect(await faultsAfter(() => undefined)).toBe('');
  expect(await faultsAfter((express) => Object.assign(express, { dev: true, license: 'GPL-3.0-only' }))).toBe('');
});

test.each<[string, (express: Entry) => void, RegExp]>([
  ['without a hash', (express) => delete express.integrity, /^node_modules\/express has no SHA-512\.$/],
  ['with a weaker hash', (express) => (express.integrity = 'sha1-aaaa'), /has no SHA-512/],
  ['from another place', (express) => (express.resolved = 'git+ssh://git@example.com/e.git'), /comes from git\+ssh/],
  ['from an address', (express) => (express.resolved = 'https://example.com/e.tgz'), /comes from https:/],
  [
    'with a licence that binds',
    (express) => (express.license = 'AGPL-3.0-only'),
    /has the licence AGPL-3\.0-only, which/,
  ],
  ['without a licence', (express) => delete express.license, /has the licence \(none\)/],
  ['with what is no licence', (express) => (express.license = 'SEE LICENSE'), /has the licence SEE LICENSE/],
])('a package of production %s is refused', async (_name, change, says) => {
  expect(await faultsAfter(change)).toMatch(says);
});

test('a choice of licences is allowed when one of them is, a sum only when all are', async () => {
  expect(await faultsAfter((express) => (express.license = '(GPL-3.0-only OR MIT)'))).toBe('');
  expect(await faultsAfter((express) => (express.license = '(GPL-3.0-only AND MIT)'))).toMatch(/GPL-3\.0-only AND MIT/);
});

const bomSchema = z.looseObject({
  bomFormat: z.literal('CycloneDX'),
  specVersion: z.string().regex(/^1\.[5-9]$/),
  metadata: z.looseObject({ component: z.looseObject({ 'bom-ref': z.string() }) }),
  dependencies: z.array(z.strictObject({ ref: z.string(), dependsOn: z.array(z.string()) })),
  components: z.array(
    z.looseObject({
      'bom-ref': z.string(),
      purl: z.string(),
      hashes: z.array(z.strictObject({ alg: z.string(), content: z.string() })).optional(),
    }),
  ),
});

test('the bill of materials names every package of production, with its version and the hash of its content', async () => {
  const { stdout } = await run();
  const { components, dependencies, metadata } = bomSchema.parse(JSON.parse(stdout));
  const hashOf = new Map(
    components.map(({ purl, hashes = [] }) => [purl, hashes.find(({ alg }) => alg === 'SHA-512')?.content]),
  );
  const wanted = Object.entries(readLock().packages).flatMap(([place, { version, integrity, link, dev }]) => {
    const name = place.split('node_modules/').at(-1)!;
    if (!place.includes('node_modules/') || link || dev) return [];
    const hash = Buffer.from(integrity!.slice('sha512-'.length), 'base64').toString('hex');
    return [[`pkg:npm/${name.replace('@', '%40')}@${version}`, hash] as const];
  });
  expect(wanted.length).toBeGreaterThan(200);
  expect(wanted.filter(([purl, hash]) => hashOf.get(purl) !== hash)).toEqual([]);
  const outside = components.filter(({ purl }) => !purl.startsWith('pkg:npm/%40longwave/'));
  expect(outside).toHaveLength(new Map(wanted).size);
  const parts = new Set([metadata.component, ...components].map((component) => component['bom-ref']));
  const named = dependencies.flatMap(({ ref, dependsOn }) => [ref, ...dependsOn]);
  expect(named.filter((reference) => !parts.has(reference))).toEqual([]);
});
