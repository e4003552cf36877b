import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { FeedEpisode, FeedPodcast } from '../src/index.ts';
import { anyEpisode, anyPodcast } from './_any-show.ts';
import { namespaceFindings } from './_check-namespace.ts';
import { textOf } from './_feed-of-case.ts';

/** The catalog's names as those of a feed. */
function camelCased(each: unknown): unknown {
  if (Array.isArray(each)) return each.map(camelCased);
  if (typeof each !== 'object' || each === null) return each;
  return Object.fromEntries(
    Object.entries(each).map(([key, inner]) => [
      key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
      camelCased(inner),
    ]),
  );
}

const enclosure = { url: 'https://media.example/e/one.mp3', lengthBytes: 384, contentType: 'audio/mpeg' };
const publishedAt = new Date('2026-11-21T10:00:00Z');
const feedUrl = 'https://media.example/feeds/show.xml';

test('any show that the catalog accepts becomes well-formed XML whose tags are those of the Podcasting 2.0 namespace', async () => {
  await fc.assert(
    fc.asyncProperty(anyPodcast, fc.array(anyEpisode, { maxLength: 3 }), async (podcast, episodes) => {
      const shown = camelCased(podcast) as FeedPodcast;
      const xml = await textOf({
        generator: 'Longwave',
        changedAt: publishedAt,
        podcast: {
          ...shown,
          guid: podcast.podcast_guid,
          link: podcast.link ?? feedUrl,
          medium: podcast.medium ?? 'podcast',
          feedUrl,
          usesPodping: true,
          trailers: episodes.map(({ title, season }) => ({ title, season, publishedAt, enclosure })),
        },
        episodes: episodes.map((episode) => ({
          ...(camelCased(episode) as FeedEpisode),
          ...{ enclosure, publishedAt, durationMs: 24 },
        })),
      });
      expect(namespaceFindings(xml)).toEqual([]);
    }),
    { numRuns: 300 },
  );
});
