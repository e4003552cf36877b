import { expect, test } from '@jest/globals';
import {
  completionDocument,
  grantKeyOf,
  pauseMs,
  planParts,
  refusalOf,
  storedBytes,
  uploadIdOf,
  uploadSizeMax,
} from './plan-upload.ts';

const file = { name: 'harbour.wav', size: 100, lastModified: 1, type: '' };

test('the parts of a file follow each other without a gap, and only the last one is smaller', () => {
  for (const size of [1, 9, 10, 11, 20, 683]) {
    const parts = planParts(size, 10);
    expect(parts.map(({ number }) => number)).toEqual(parts.map((_, index) => index + 1));
    expect(parts.map(({ from }) => from)).toEqual([0, ...parts.slice(0, -1).map(({ to }) => to)]);
    expect(parts.slice(0, -1).every(({ from, to }) => to - from === 10)).toBe(true);
    expect(parts.at(-1)?.to).toBe(size);
  }
});

test('the largest file has less than the 10,000 parts that S3 allows', () => {
  expect(planParts(uploadSizeMax, 31_457_280)).toHaveLength(683);
});

test('what the store has is counted by ETags, and by nothing else', () => {
  const parts = planParts(25, 10);
  expect(storedBytes(parts, {})).toBe(0);
  expect(storedBytes(parts, { 1: '"a"', 3: '"c"' })).toBe(15);
  expect(storedBytes(parts, { 4: '"nobody"' })).toBe(0);
});

test('the same file for the same target has the same id, which REST v1 takes as a key; another one has another', async () => {
  const id = await uploadIdOf(file, 'ep_1');
  expect(id).toMatch(/^web:[0-9a-f]{64}$/);
  expect(grantKeyOf(id, 3)).toMatch(/^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/);
  expect(await uploadIdOf({ ...file }, 'ep_1')).toBe(id);
  const others = [
    uploadIdOf({ ...file, name: 'harbor.wav' }, 'ep_1'),
    uploadIdOf({ ...file, size: 101 }, 'ep_1'),
    uploadIdOf({ ...file, lastModified: 2 }, 'ep_1'),
    uploadIdOf(file, 'ep_2'),
  ];
  expect(new Set([id, ...(await Promise.all(others))]).size).toBe(5);
  expect(grantKeyOf(id, 0)).toBe(id);
});

test.each([
  [{ type: 'audio/mpeg', name: 'a' }, undefined],
  [{ type: 'video/mp4', name: 'a.mp4' }, undefined],
  [{ type: '', name: 'A.FLAC' }, undefined],
  [{ type: '', name: 'a.opus' }, undefined],
  [{ type: 'image/png', name: 'a.png' }, 'not_audio'],
  [{ type: '', name: 'notes' }, 'not_audio'],
  [{ type: 'application/pdf', name: 'mp3.pdf' }, 'not_audio'],
  [{ type: 'audio/wav', name: 'a.wav', size: uploadSizeMax }, undefined],
  [{ type: 'audio/wav', name: 'a.wav', size: uploadSizeMax + 1 }, 'too_large'],
  [{ type: 'audio/wav', name: 'a.wav', size: 0 }, 'empty'],
])('a file %j is refused for %s', (facts, refusal) => {
  expect(refusalOf({ ...file, ...facts })).toBe(refusal);
});

test('pauses grow to half a minute, and five tries together outlast a store that is away for so long', () => {
  const pauses = [1, 2, 3, 4, 5, 100].map((failed) => pauseMs(failed, 0));
  expect(pauses).toEqual([1000, 3000, 9000, 27_000, 27_000, 27_000]);
  expect(pauseMs(1, 0.999)).toBeLessThan(1250);
});

test('parts are joined in the order of their numbers, whenever they arrived', () => {
  const document = completionDocument({ 10: '"j"', 2: '"b&<"', 1: '"a"' });
  expect([...document.matchAll(/<PartNumber>(\d+)<\/PartNumber>/g)].map(([, number]) => number)).toEqual([
    '1',
    '2',
    '10',
  ]);
  expect(document).toContain('<ETag>"b&amp;&lt;"</ETag>');
});
