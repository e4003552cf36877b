import { expect, test } from '@jest/globals';
import { countPodcastEpisodes } from './episode-counts.ts';
import type { AnalyticsDeps } from './question.ts';

type Asked = Parameters<AnalyticsDeps['audience']['countEpisodeRanges']>[0];

test('a podcast with more episodes than one request takes is counted whole, each episode with its own number', async () => {
  const published = Array.from({ length: 5001 }, (_, n) => ({
    ...{ id: `ep_${n}`, lifecycle_state: 'published' },
    attributes: { title: `${n}`, published_at: '2026-11-01T00:00:00.000Z' },
  }));
  const sizes: number[] = [];
  const countEpisodeRanges = ({ episodes = [] }: Asked) => {
    sizes.push(episodes.length);
    return Promise.resolve({
      episodes: episodes.map(({ episodeId = '' }) => ({ episodeId, downloads: BigInt(episodeId.slice(3)) })),
      ...{ methodologyVersion: '1', completeUntilMs: BigInt(Date.UTC(2026, 10, 30 - sizes.length)), restated: [] },
    });
  };
  const deps = {
    audience: { countEpisodeRanges },
    management: { list: () => Promise.resolve(published) },
    clock: () => new Date('2026-11-30T00:00Z'),
  } as unknown as AnalyticsDeps;
  const question = {
    ...{ caller: {}, object: { id: 'pod_1' }, access: { workspaceId: 'ws_1', plan: {} } },
    query: { days_since_published: 6 },
  } as unknown as Parameters<typeof countPodcastEpisodes>[0];
  const { meta, objects } = await countPodcastEpisodes(question, deps);
  expect(sizes).toEqual([5000, 1]);
  expect(objects.map(({ episode_id: id, downloads }) => [id, downloads])).toEqual(
    published.map(({ id }, n) => [id, n]).reverse(),
  );
  expect(meta.complete_until).toBe('2026-11-28T00:00:00.000Z');
});
