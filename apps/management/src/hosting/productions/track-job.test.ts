import { expect, test } from '@jest/globals';
import type { SourceLocation } from './production-source.ts';
import type { Production } from './production.ts';
import { gainOf, trackJob } from './track-job.ts';

const outside: SourceLocation = { kind: 'outside', url: 'https://host.example/one.mp3' };
const encoded: Production = {
  episode_id: 'ep_1',
  publication_flag: false,
  files: [
    { role: 'rendition', format: 'mp3', sha256: 'a'.repeat(64), size_bytes: 384 },
    { role: 'source', format: 'mp3', sha256: 'b'.repeat(64), size_bytes: 3 },
  ],
  audio_duration_ms: 3_600_000,
  silences: [[0, 400]],
};

test('the gain is that of the MP3', () => {
  const gain = { gain_db: 3.5, ceiling_db: -2.4 };
  expect(gainOf({ gain, loudness: { input_lufs: -30, output_lufs: -16, true_peak_dbtp: -1 } })).toEqual(gain);
});

test.each([
  ['the difference of the measured loudnesses, below the ceiling', -20.3, -16.1, 4.2],
  ['nothing for silence', null, null, 0],
  ['nothing for sound that became too quiet to measure', -20, null, 0],
])('without a recorded gain it is %s', (_name, input, output, expected) => {
  const loudness = { input_lufs: input, output_lufs: output, true_peak_dbtp: null };
  expect(gainOf({ loudness })).toEqual({ gain_db: expected, ceiling_db: -2.2 });
});

test('an encoder gets the file of the MP3, its silences and the places inside of the episode where ads may be', () => {
  const markers = (
    [
      ['a', 'pre', 0],
      ['b', 'mid', 60_000],
      ['c', 'post', 3_600_000],
    ] as const
  ).map(([key, kind, position_ms]) => ({ key, kind, position_ms, max_slots: 1 }));
  expect(trackJob('pro_1', encoded, outside, { markers })).toEqual({
    input: {
      production_id: 'pro_1',
      source_url: 'https://host.example/one.mp3',
      source_sha256: 'b'.repeat(64),
      gain: { gain_db: 0, ceiling_db: -2.2 },
      silences: [[0, 400]],
      markers_ms: [60_000],
    },
    work: { workClass: 'bulk', expectedMs: 92_000 },
  });
});
