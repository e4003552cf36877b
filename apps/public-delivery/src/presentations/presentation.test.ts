import { expect, test } from '@jest/globals';
import { composePresentation } from './presentation.ts';

const own = {
  codec: 'mp4a.40.2',
  digest: 'a'.repeat(64),
  indexDigest: 'b'.repeat(64),
  index: { timescale: 48_000, init: 605, bytes: 705, cells: [[605, 100, 0, 96_256]] as const },
};

test.each([
  ['en', 'English'],
  ['pt-BR', 'Brazilian Portuguese'],
  // The catalog takes these, though no standard has them.
  ['en-12', 'en-12'],
  ['en-US-GB', 'en-US-GB'],
  ['de-aaaa-bbbb', 'de-aaaa-bbbb'],
])('players read the language %s as %s', (language, name) => {
  const transcripts = [{ language, captions: true, sha256: 'c'.repeat(64), storage_key: 'transcripts/1' }];
  const content = { episodeId: 'ep_1', language, own, intro: undefined, outro: undefined, transcripts, chapters: [] };
  const { name: found, captions } = composePresentation(content);
  expect([found, captions.map((each) => each.name)]).toEqual([name, [name]]);
});
