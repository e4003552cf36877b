import { expect, test } from '@jest/globals';
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
  const startedAt = performance.now();
  importNotes(`<b>${`${'\ufffd'.repeat(33_000)}x`.repeat(3)}</b>`, 100_000);
  expect(performance.now() - startedAt).toBeLessThan(1_000);
});
