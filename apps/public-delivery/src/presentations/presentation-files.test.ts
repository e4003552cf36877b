import { expect, test } from '@jest/globals';
import type { CellIndex } from '@longwave/hls-media';
import { openPresentation } from './open-presentation.ts';
import { composePresentation } from './presentation.ts';
import { createPresentationFiles } from './presentation-files.ts';

const second = 48_000;
const cells = Array.from({ length: 40 }, (_, at) => [605 + at * 100, 100, at * 3 * second, 3 * second] as const);

test('the captions of a schedule are cut once, whatever number of files is asked for', async () => {
  let cuts = 0;
  const index: CellIndex = {
    ...{ timescale: second, init: 605, bytes: 4_605 },
    get cells() {
      cuts += 1;
      return cells;
    },
  };
  const own = { codec: 'mp4a.40.2', digest: 'b'.repeat(64), index, indexDigest: 'c'.repeat(64) };
  const transcript = { language: 'en', captions: true, sha256: 'd'.repeat(64), storage_key: 'transcripts/1' };
  const content = { episodeId: 'ep_1', language: 'en', intro: undefined, own, outro: undefined, chapters: [] };
  const document = composePresentation({ ...content, transcripts: [transcript] });
  const ids = { digest: 'a'.repeat(64), workspaceId: 'ws_1', podcastId: 'pod_1', episodeId: 'ep_1' };
  const opened = await openPresentation({ ...ids, renditionDigest: 'e'.repeat(64), document }, async () => index);
  // The reader keeps a copy of the index; this one counts who reads its cells.
  const presentation = { ...opened, audio: { ...opened.audio, reader: { ...opened.audio.reader, index } } };
  const cue = { start_ms: 10_000, end_ms: 11_000, text: 'Ebb.' };
  const files = createPresentationFiles(async () => ({ version: 1, cues: [cue] }));
  const read = async (number: number, startMs: number) =>
    (
      await files.render(presentation, `subs-en/${number}.vtt`, {
        schedule: [{ key: 'm1', position: 'mid', startMs }],
        dateRanges: [],
        trackUri: String,
      })
    )?.text.includes('Ebb.');
  // Segments of 6 s; a break at 3 s moves them.
  expect([await read(1, 60_000), await read(2, 60_000), await read(3, 60_000)]).toEqual([false, true, false]);
  const first = cuts;
  expect(await Promise.all(Array.from({ length: 20 }, (_, at) => read(at + 1, 60_000)))).toContain(true);
  expect(cuts).toBe(first);
  expect([await read(1, 3_000), await read(2, 3_000), await read(3, 3_000)]).toEqual([false, false, true]);
  expect(await read(99, 3_000)).toBeUndefined();
});
