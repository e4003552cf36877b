import { expect, test } from '@jest/globals';
import { composePresentation, presentationDigest } from './presentation.ts';

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

test('a presentation of sound alone keeps the name that it had before there were pictures', () => {
  const content = { episodeId: 'ep_1', language: 'en', own, intro: undefined, outro: undefined };
  const document = composePresentation({ ...content, pictures: undefined, transcripts: [], chapters: [] });
  expect(presentationDigest(document)).toBe('cd22fe28ac22bfbdd26b91c75bd8a4f163de36ef8bdb3d7b9230aaeb6e5080c4');
});

test('sizes of the picture stand from the smallest, and nothing is joined to pictures', () => {
  const picture = { ...own, codec: 'avc1.64001f', width: 1280, height: 720, frameRate: { frames: 25, seconds: 1 } };
  const pictures = { renditions: { v1080: picture, v720: picture, v360: picture }, iFrames: picture };
  const content = { episodeId: 'ep_1', language: 'en', own, pictures, transcripts: [], chapters: [] };
  const document = composePresentation({ ...content, intro: undefined, outro: undefined });
  expect(document.pictures!.renditions.map(({ name }) => name)).toEqual(['v360', 'v720', 'v1080']);
  expect(() => composePresentation({ ...content, intro: own, outro: undefined })).toThrow(RangeError);
});
