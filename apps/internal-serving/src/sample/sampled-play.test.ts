import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { keepPlays, shareOf, type CandidatePlay } from './sampled-play.ts';

const play = (podcastId: string, place: number): CandidatePlay => ({
  ...{ atMs: 0, podcastId, episodeId: 'ep_1', country: 'DE', region: '', device: '', operatingSystem: '', app: '' },
  ...{ surface: 'progressive', language: 'en', explicit: false, contentCategories: [], publishedAtMs: 0 },
  ...{ adLoadLimitMs: 0, streamFormat: 'mp3', streamFormats: [], breaks: [], lineItemIds: [], noAdReason: '' },
  ...{ listener: Buffer.alloc(0), place },
});

test('a small podcast keeps all its plays, a larger one about 2,000 a day, the largest one of sixteen', () => {
  const shares = [0, 1, 2_000, 4_000, 32_000, 1_000_000].map(shareOf);
  expect(shares).toEqual([1, 1, 1, 0.5, 1 / 16, 1 / 16]);
});

test('weights of the plays that are kept add up to all plays, and who is kept in a large podcast is kept in every smaller one', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 100_000 }), fc.integer({ min: 1, max: 100_000 }), (small, more) => {
      const day = { podcasts: { small, large: small + more }, common: new Set(['country\nDE']) };
      const places = Array.from({ length: 1_600 }, (_, at) => (at + 0.5) / 1_600);
      const kept = (id: string) =>
        keepPlays(
          places.map((place) => play(id, place)),
          day,
        );
      for (const id of ['small', 'large'])
        expect(kept(id).reduce((sum, { weight }) => sum + weight, 0) / 1_600).toBeCloseTo(1, 1);
      expect(kept('large').length).toBeLessThanOrEqual(kept('small').length);
    }),
  );
});
