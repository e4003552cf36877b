import { describe, expect, test } from '@jest/globals';
import type { startAnalytics } from './_analytics-world.ts';
import { arts, comedy, first, second, unfinished } from './_catalogue.ts';
import { askAnalytics, onlyKeys } from './_use-analytics.ts';

/** The guarantees of the breakdowns of analytics, tested in a world that runs already. */
export function breakdownCases(world: () => Awaited<ReturnType<typeof startAnalytics>>): void {
  const { get, objects } = askAnalytics(world);

  test('ads delivered in a podcast by day, zero-filled, of that podcast alone and within the history', async () => {
    const november = 'from=2026-11-10&to=2026-11-12&granularity=day';
    expect(await objects(`/podcasts/${arts}/analytics/ads?${november}`)).toEqual([
      { date: '2026-11-10', ads_delivered: 1 },
      { date: '2026-11-11', ads_delivered: 1 },
      { date: '2026-11-12', ads_delivered: 0 },
    ]);
    expect(await objects(`/podcasts/${comedy}/analytics/ads?from=2026-11-01&to=2026-11-21&granularity=month`)).toEqual([
      { date: '2026-11-01', ads_delivered: 1 },
    ]);
    const { body } = await get(`/podcasts/${arts}/analytics/ads?from=2026-01-01&to=2026-11-21`, 'grow');
    expect(body).toMatchObject({ meta: { history_window: { from: '2026-08-23T00:00:00.000Z', days: 90 } } });
    expect((await get(`/podcasts/${arts}/analytics/ads`)).body).toEqual({
      code: 422,
      message: 'Provide from/to or days_offset parameter(s).',
    });
  });

  describe('where and with what one episode was downloaded', () => {
    test('by every dimension, with shares of the episode alone', async () => {
      const october = `/episodes/${first}/analytics/listeners?from=2026-10-01&to=2026-10-31`;
      expect(await objects(october)).toEqual([
        { key: 'DE', dimension: 'country', downloads: 2, share: 0.666667 },
        { key: 'FR', dimension: 'country', downloads: 1, share: 0.333333 },
      ]);
      for (const [dimension, key] of onlyKeys)
        expect(await objects(`${october}&dimension=${dimension}`)).toEqual([
          { key, dimension, downloads: 3, share: 1 },
        ]);
      expect(await objects(`/episodes/${second}/analytics/listeners?days_since_published=2`)).toEqual([
        { key: 'DE', dimension: 'country', downloads: 1, share: 0.5 },
        { key: 'US', dimension: 'country', downloads: 1, share: 0.5 },
      ]);
    });

    test('only when it is published, and only by known dimensions', async () => {
      const refused = async (at: string) => (await get(at)).body;
      expect(await refused(`/episodes/${unfinished}/analytics/listeners?days_since_published=2`)).toEqual({
        code: 422,
        message: 'Only a published episode has analytics.',
      });
      expect(
        await refused(`/episodes/${first}/analytics/listeners?days_since_published=2&dimension=mood`),
      ).toMatchObject({ code: 422 });
    });
  });

  describe('episodes of all podcasts with their downloads', () => {
    const rows = async (query: string, who?: string) =>
      (await objects(`/analytics/episodes?${query}`, who)).map(({ podcast_title, title, downloads }) => [
        podcast_title,
        title,
        downloads,
      ]);
    const autumn = 'from=2026-09-01&to=2026-11-21';

    test('most downloaded first; published ones also without downloads, others when they were downloaded', async () => {
      expect(await rows(autumn)).toEqual([
        ['Harbour Light', 'First light', 6],
        ['Harbour Light', 'Second light', 2],
        ['Gulls', 'Squawk', 2],
        ['Harbour Light', 'Old light', 1],
      ]);
      expect(await rows('from=2026-11-20&to=2026-11-21')).toEqual([
        ['Harbour Light', 'First light', 1],
        ['Harbour Light', 'Second light', 0],
        ['Gulls', 'Squawk', 0],
      ]);
      expect((await objects(`/analytics/episodes?${autumn}`))[2]).toMatchObject({
        podcast_id: comedy,
        published_at: '2026-11-02T00:00:00.000Z',
      });
    });

    test('those that the caller may measure and no others, also one that management no longer knows', async () => {
      expect(await rows(autumn, 'guest')).toEqual([
        ['Tide Table', 'High water', 1],
        ['Tide Table', null, 1],
      ]);
      expect((await rows(autumn, 'both')).length).toBe(6);
      expect((await rows(autumn, 'editor')).map(([podcast]) => podcast)).not.toContain('Tide Table');
    });

    test('pages follow each other without a gap, and name the total', async () => {
      const pageAt = async (page: number) => {
        const response = await fetch(`${world().url}/analytics/episodes?${autumn}&per_page=3&page=${page}`, {
          headers: { Token: 'owner' },
        });
        const { objects: shown } = (await response.json()) as { objects: { episode_id: string }[] };
        return { shown: shown.map((row) => row.episode_id), headers: response.headers };
      };
      const [one, two, three] = [await pageAt(1), await pageAt(2), await pageAt(3)];
      const all = await objects(`/analytics/episodes?${autumn}`);
      expect([...one.shown, ...two.shown]).toEqual(all.map((row) => row['episode_id']));
      expect(three.shown).toEqual([]);
      expect(one.headers.get('x-total-count')).toBe('4');
      expect(one.headers.get('link')).toMatch(/page=2[^>]*>; rel="next".*page=2[^>]*>; rel="last"/);
    });
  });
}
