import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { fromByteString, keyToSegments, parseEntry } from './key-path.ts';
import { listKeys, type ListQuery } from './list-keys.ts';

const piece = fc.oneof(
  fc.constantFrom(
    '',
    'a',
    'A',
    'ab',
    'a-',
    'a0',
    '.',
    '..',
    '%',
    'ü',
    '🎙',
    'x'.repeat(79),
    'x'.repeat(80),
    `${'x'.repeat(80)}-`,
    'x'.repeat(161),
  ),
  fc.string({ maxLength: 3 }),
);
const key = fc
  .array(piece, { minLength: 1, maxLength: 4 })
  .map((pieces) => Buffer.from(pieces.join('/')).toString('utf8'))
  .filter((k) => k !== '');

test('a key comes back from its path, and no file name is longer than 255 bytes', () => {
  fc.assert(
    fc.property(key, (k) => {
      const segments = keyToSegments(k);
      expect(segments.every((segment) => segment.length <= 255 && /^[cdo][a-z0-9._%-]*$/.test(segment))).toBe(true);
      expect(fromByteString(segments.map((segment) => parseEntry(segment)?.part).join(''))).toBe(k);
    }),
  );
});

test('pages of a listing give every matching key once, in the order of bytes, with common prefixes like a plain list', async () => {
  const root = await mkdtemp(path.join(tmpdir(), 'longwave-keys-'));
  let runs = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(key, { maxLength: 25 }),
      fc.constantFrom('', 'a', 'a/', '/', 'x', 'x'.repeat(80), 'ü'),
      fc.constantFrom('', '/', 'a', 'x/'),
      fc.oneof(fc.constant(''), key),
      fc.integer({ min: 1, max: 5 }),
      async (keys, prefix, delimiter, after, limit) => {
        const folder = path.join(root, String(++runs));
        for (const k of keys) {
          const file = path.join(folder, ...keyToSegments(k));
          await mkdir(path.dirname(file), { recursive: true });
          await writeFile(file, '');
        }
        const seen: string[] = [];
        for (let from = after; ; from = seen.at(-1) ?? '') {
          const { entries, truncated } = await listKeys(folder, { prefix, delimiter, after: from, limit });
          seen.push(...entries.map((entry) => entry.name));
          expect(entries.length).toBeLessThanOrEqual(limit);
          if (!truncated) break;
        }
        expect(seen).toEqual(plainList(keys, { prefix, delimiter, after, limit }));
        await rm(folder, { recursive: true, force: true });
      },
    ),
    { numRuns: 150 },
  );
  await rm(root, { recursive: true, force: true });
});

const order = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));

function plainList(keys: readonly string[], { prefix, delimiter, after }: ListQuery): string[] {
  const names = keys
    .filter((k) => k.startsWith(prefix) && order(k, after) > 0)
    .map((k) => {
      const at = delimiter === '' ? -1 : k.indexOf(delimiter, prefix.length);
      return at < 0 ? k : k.slice(0, at + delimiter.length);
    });
  // A common prefix that is not after the marker was on an earlier page.
  return [...new Set(names)].filter((name) => order(name, after) > 0).sort(order);
}
