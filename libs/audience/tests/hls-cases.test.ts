import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { maxKeysOfPlay, recount } from '../src/index.ts';
import { lists, type CountingCase } from './_facts.ts';
import { hlsFact, inParts, known, listenerOf, tracks, type HlsRequest } from './_hls.ts';

interface HlsCase {
  readonly name: string;
  readonly requests: readonly HlsRequest[];
  readonly downloads: CountingCase['downloads'];
}

const cases = JSON.parse(readFileSync(new URL('../cases/hls.json', import.meta.url), 'utf8')) as HlsCase[];

/** The downloads of these requests, by day and listener. */
function downloadsOf(requests: readonly HlsRequest[], described = known) {
  const { sessions } = recount([...requests.map(hlsFact), ...described], lists.userAgents);
  return sessions
    .flatMap(({ session: { first, windowOn, download } }) =>
      download === undefined
        ? []
        : [
            {
              listener: first.listenerKey,
              window: windowOn,
              arrangement: download.arrangementId,
              credited_ms: download.creditedMs,
              content_ms: download.contentMs,
              ads: download.ads.map((ad) => ad.servingId),
              duplicates: download.duplicateArrangements,
            },
          ],
    )
    .sort((a, b) => a.window.localeCompare(b.window));
}

test.each(cases)('$name', (one) => {
  expect(downloadsOf(one.requests)).toEqual(
    one.downloads.map((expected) => ({
      listener: listenerOf({}),
      arrangement: 'presentation',
      duplicates: [],
      ...expected,
    })),
  );
});

const play = { at: '2026-11-02T10:00:00Z', track: 'audio', cells: [0, 41] } as const;

test('a track that is not described gives no credit', () => {
  expect(
    downloadsOf(
      [play],
      known.filter((one) => one.kind !== 'track_described'),
    ),
  ).toEqual([]);
});

test('a track is credited when all parts of its description are there, and not before', () => {
  const parts = inParts(tracks.audio, 15);
  const others = known.filter((one) => one !== tracks.audio);
  for (const missing of parts.keys())
    expect(downloadsOf([play], [...others, ...parts.toSpliced(missing, 1), ...parts.toSpliced(missing, 1)])).toEqual(
      [],
    );
  expect(downloadsOf([play], [...others, ...parts.toReversed(), ...parts])).toEqual(downloadsOf([play]));
});

test('a token that more keys used than a listener has joins none of them', () => {
  const passedOn = (keys: number) => Array.from({ length: keys }, (_, nth) => ({ ...play, address: `network ${nth}` }));
  expect(downloadsOf(passedOn(maxKeysOfPlay))).toHaveLength(1);
  expect(downloadsOf(passedOn(maxKeysOfPlay + 1))).toHaveLength(maxKeysOfPlay + 1);
});
