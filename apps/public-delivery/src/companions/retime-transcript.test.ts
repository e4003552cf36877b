import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { retimeTranscript } from './retime-transcript.ts';
import type { Stretch } from '../arrangements/time-map.ts';

/** Content of ten seconds, with a break of five seconds after the fourth, behind an intro of one second. */
const stretches: Stretch[] = [
  { contentMs: 0, deliveredMs: 1_000, durationMs: 4_000 },
  { contentMs: 4_000, deliveredMs: 10_000, durationMs: 6_000 },
];
const cue = (start_ms: number, end_ms: number, text = 'x') => ({ start_ms, end_ms, text });
const timesOf = (...cues: ReturnType<typeof cue>[]) =>
  retimeTranscript({ version: 1, cues }, stretches).cues.map(({ start_ms, end_ms }) => [start_ms, end_ms]);

test.each([
  ['before the break moves with its piece', cue(500, 3_000), [1_500, 4_000]],
  ['that ends at the break ends before it', cue(3_000, 4_000), [4_000, 5_000]],
  ['that begins at the break begins behind it', cue(4_000, 4_500), [10_000, 10_500]],
  ['that is longer before the break stays there', cue(3_000, 4_900), [4_000, 5_000]],
  ['that is longer behind the break stays there', cue(3_000, 5_100), [10_000, 11_100]],
  ['that is as long on both sides stays before the break', cue(3_000, 5_000), [4_000, 5_000]],
  ['that goes on behind the content ends with it', cue(9_000, 20_000), [15_000, 16_000]],
])('a cue %s', (_name, one, expected) => {
  expect(timesOf(one)).toEqual([expected]);
});

test('a cue outside of the content is left out', () => {
  expect(timesOf(cue(10_000, 11_000))).toEqual([]);
});

test('cues stay sorted, never lie over a break, and keep speaker and text', () => {
  const cues = fc
    .array(fc.tuple(fc.nat(9_999), fc.integer({ min: 1, max: 4_000 })), { maxLength: 20 })
    .map((all) => all.map(([start, length]) => ({ ...cue(start, start + length), speaker: 'Ana' })))
    .map((all) => all.sort((a, b) => a.start_ms - b.start_ms));
  fc.assert(
    fc.property(cues, (given) => {
      const retimed = retimeTranscript({ version: 1, cues: given }, stretches).cues;
      expect(retimed).toHaveLength(given.length);
      retimed.forEach(({ start_ms, end_ms, speaker, text }, i) => {
        expect([speaker, text, start_ms < end_ms]).toEqual(['Ana', 'x', true]);
        expect((start_ms >= 1_000 && end_ms <= 5_000) || (start_ms >= 10_000 && end_ms <= 16_000)).toBe(true);
        if (i > 0) expect(start_ms).toBeGreaterThanOrEqual(retimed[i - 1]!.start_ms);
      });
    }),
  );
});
