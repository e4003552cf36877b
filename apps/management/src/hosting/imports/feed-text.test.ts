import { expect, test } from '@jest/globals';
import { growthOf, linear } from '@longwave/test-kit/growth-of';
import { importNotes } from './feed-text.ts';

const maxBytes = 1_000;

test('cut notes stay within their bytes, end between two characters and close every element', () => {
  for (const part of ['ä', '🎙', 'a&amp;b', '<b>x</b>', '\ufffd'])
    for (const before of ['', 'x', '<p>']) {
      const { notes, cut } = importNotes(before + part.repeat(maxBytes), maxBytes);
      expect(cut).toBe(true);
      expect(Buffer.byteLength(notes)).toBeLessThanOrEqual(maxBytes);
      expect(notes).toMatch(/…(?:<\/\w+>)*$/);
    }
});

test('replacement characters of a wrongly decoded text do not stop an import', () => {
  const importOf = (size: number) => {
    const notes = `<b>${`${'\ufffd'.repeat(size / 3)}x`.repeat(3)}</b>`;
    return () => void importNotes(notes, size);
  };
  expect(growthOf(importOf, 99_000)).toBeLessThan(linear);
});
