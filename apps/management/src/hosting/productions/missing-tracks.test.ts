import { describe, expect, test } from '@jest/globals';
import { missingTracks } from './missing-tracks.ts';
import type { Production } from './production.ts';

const file = (format: string): Production['files'][number] => ({
  role: 'source',
  format,
  sha256: 'a'.repeat(64),
  size_bytes: 1,
});
const picture = { width: 1280, height: 720, frame_rate: { frames: 25, seconds: 1 } };

/** An encoded production with tracks in these states. */
const encoded = (
  states: Partial<Record<keyof NonNullable<Production['tracks']>, 'encoding' | 'ready' | 'failed'>>,
  others: Partial<Production> = {},
): Production => ({
  episode_id: 'ep_1',
  publication_flag: false,
  files: [file('mp4')],
  tracks: Object.fromEntries(Object.entries(states).map(([name, state]) => [name, { state }])),
  ...others,
});
const film = (states: Parameters<typeof encoded>[0]) => encoded(states, { picture });
const [audio, video, both] = [{ hls_audio: true }, { hls_video: true }, { hls_audio: true, hls_video: true }];
const next = (podcast: object, production: Production, retry = false) => missingTracks(podcast, production, { retry });

test('sound comes first, and alone where the podcast has no pictures', () => {
  for (const podcast of [audio, video, both]) expect(next(podcast, film({}))).toEqual(['a192']);
  expect(next(audio, film({ a192: 'ready' }))).toEqual([]);
  expect(next({}, film({}))).toEqual([]);
  expect(next(video, film({ a192: 'encoding' }))).toEqual([]);
});

test('the pictures that Apple asks for go before the others', () => {
  expect(next(video, film({ a192: 'ready' }))).toEqual(['v720', 'v1080', 'iframe']);
  const needed = { a192: 'ready', v720: 'ready', v1080: 'encoding', iframe: 'ready' } as const;
  expect(next(video, film(needed))).toEqual([]);
  expect(next(video, film({ ...needed, v1080: 'ready' }))).toEqual(['v360', 'v480']);
  expect(next(video, film({ ...needed, v1080: 'ready', v360: 'ready', v480: 'encoding' }))).toEqual([]);
});

test('what failed is made again only when that is asked for', () => {
  const failed = film({ a192: 'ready', v720: 'ready', v1080: 'failed', iframe: 'ready' });
  expect([next(both, failed), next(both, failed, true)]).toEqual([[], ['v1080']]);
  const silent = film({ a192: 'failed' });
  expect([next(both, silent), next(both, silent, true)]).toEqual([[], ['a192']]);
});

test.each([
  ['encoder_failed', ['v1080']],
  ['media_not_fetchable', ['v1080']],
  ['upload_not_received', ['v1080']],
  ['media_picture_beyond_limits', []],
  ['media_unsupported_codec', []],
])('of what failed with %s these are made again: %j', (code, again) => {
  const states = film({ a192: 'ready', v720: 'ready', iframe: 'ready' });
  const v1080 = { state: 'failed', problem: { code, detail: 'Words.' } } as const;
  expect(next(both, { ...states, tracks: { ...states.tracks, v1080 } }, true)).toEqual(again);
});

describe('a source that nobody has found a picture in', () => {
  test.each(['mp3', 'm4a', 'flac'])('has none where it is %s', (format) => {
    expect(next(video, encoded({}, { files: [file(format)] }))).toEqual([]);
    expect(next(both, encoded({}, { files: [file(format)] }))).toEqual(['a192']);
    expect(next(both, encoded({ a192: 'ready' }, { files: [file(format)] }))).toEqual([]);
  });

  test.each(['mp4', 'mov', 'webm', 'unknown'])('is looked at with the first track where it is %s', (format) => {
    const files = [file(format)];
    expect(next(video, encoded({ a192: 'ready' }, { files }))).toEqual(['v720']);
    expect(next(video, encoded({ a192: 'ready', v720: 'failed' }, { files }))).toEqual([]);
  });
});
