import { describe, expect, test } from '@jest/globals';
import { arts, first, second } from './_catalogue.ts';
import { useAnalytics } from './_use-analytics.ts';

const { get, objects } = useAnalytics();

describe('episodes at the same age', () => {
  const atAge = (days: number) => `/podcasts/${arts}/analytics/episodes?days_since_published=${days}`;

  test('are counted each in its own first days, whatever else was downloaded', async () => {
    const row = { episode_id: second, title: 'Second light', published_at: '2026-11-10T17:45:00.000Z' };
    const firstRow = { episode_id: first, title: 'First light', published_at: '2026-08-10T06:00:00.000Z' };
    expect(await objects(atAge(0))).toEqual([
      { ...row, downloads: 1 },
      { ...firstRow, downloads: 0 },
    ]);
    expect(await objects(atAge(100))).toEqual([
      { ...firstRow, downloads: 6 },
      { ...row, downloads: 2 },
    ]);
  });

  test('agree with the numbers of each episode', async () => {
    for (const { episode_id: id, downloads } of (await objects(atAge(30))) as {
      episode_id: string;
      downloads: number;
    }[]) {
      const series = (await objects(`/episodes/${id}/analytics?days_since_published=30`)) as { downloads: number }[];
      expect(downloads).toBe(series.reduce((sum, bucket) => sum + bucket.downloads, 0));
    }
  });

  test('leave out an episode whose first days the plan does not show', async () => {
    const { body } = await get(atAge(6), 'grow');
    expect(body).toMatchObject({
      meta: { history_window: { requested_from: '2026-08-10T00:00:00.000Z', days: 90 } },
      objects: [{ episode_id: second }],
    });
  });

  test('take no other range', async () => {
    const { status, body } = await get(`${atAge(6)}&days_offset=3`);
    expect([status, body['message']]).toEqual([422, 'You should provide either from/to or days_offset parameter(s).']);
  });
});
