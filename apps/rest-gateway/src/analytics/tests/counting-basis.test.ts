import { describe, expect, test } from '@jest/globals';
import { arts, news, story } from './_catalogue.ts';
import { useAnalytics } from './_use-analytics.ts';

const { world, get, objects } = useAnalytics();

test('an answer names the first day whose numbers are provisional: it had not ended 24 h before complete_until', async () => {
  const { body } = await get(`/podcasts/${arts}/analytics?from=2026-11-10&to=2026-11-12&granularity=day`);
  const { complete_until: until, provisional_from: from } = body['meta'] as Record<string, string>;
  // The first day that had not ended 24 h before: sessions of the day before that one can grow no more.
  const sessionsEndedMs = Date.parse(until!) - 24 * 3_600_000;
  expect(from).toMatch(/T00:00:00\.000Z$/);
  expect(Date.parse(from!)).toBeLessThanOrEqual(sessionsEndedMs);
  expect(Date.parse(from!) + 24 * 3_600_000).toBeGreaterThan(sessionsEndedMs);
});

test('an answer names the hour from which its numbers lack facts, when its range extends beyond it', async () => {
  const metaOf = async (range: string) =>
    (await get(`/podcasts/${arts}/analytics?granularity=day&${range}`)).body['meta'] as Record<string, string>;
  expect(await metaOf('from=2026-11-10&to=2026-11-12')).not.toHaveProperty('incomplete_from');
  const { complete_until: until, incomplete_from: from } = await metaOf('from=2026-11-10&to=2026-11-21');
  expect(from).toMatch(/T\d\d:00:00\.000Z$/);
  expect(Date.parse(from!)).toBeLessThanOrEqual(Date.parse(until!));
  expect(Date.parse(from!) + 3_600_000).toBeGreaterThan(Date.parse(until!));
  const later = '2026-11-21T05:00:00.000Z';
  expect(await metaOf(`from=${later}&to=2026-11-21`)).toMatchObject({ incomplete_from: later });
});

describe('windows and what was known', () => {
  // Wednesday 10:00 and Thursday 09:00: two dates, within 24 h. The second was reported long after its hour was closed.
  const july = 'from=2026-07-01&to=2026-07-02&granularity=day';
  const days = async (at: string) => (await objects(at, 'guest')).map((one) => one['downloads']);
  const metaOf = async (at: string) => (await get(at, 'guest')).body['meta'] as Record<string, unknown>;

  test.each([
    ['calendar_utc', [1, 1]],
    ['first_touch_24h', [1, 0]],
    ['last_touch_24h', [1, 0]],
  ] as const)(
    'every route of a series counts in the window that is asked for, and names it: %s',
    async (window, counts) => {
      const total = counts[0] + counts[1];
      const query = `${july}&window=${window}`;
      expect(await days(`/podcasts/${news}/analytics?${query}`)).toEqual(counts);
      expect(await days(`/episodes/${story}/analytics?${query}`)).toEqual(counts);
      expect(await days(`/podcasts/${news}/analytics/episodes?${query}`)).toEqual([total]);
      expect(await days(`/podcasts/${news}/analytics/listeners?${query}`)).toEqual([total]);
      for (const at of [
        `/podcasts/${news}/analytics`,
        `/episodes/${story}/analytics`,
        `/podcasts/${news}/analytics/episodes`,
      ])
        expect(await metaOf(`${at}?${query}`)).toMatchObject({ window });
    },
  );

  test('numbers can be asked as they were known before a late fact: without it, without listeners, complete until then at most', async () => {
    const knownAt = world().beforeLateFact.toISOString();
    const query = `${july}&known_at=${knownAt}`;
    expect(await objects(`/podcasts/${news}/analytics?${query}`, 'guest')).toEqual([
      { date: '2026-07-01', downloads: 1, listeners: null },
      { date: '2026-07-02', downloads: 0, listeners: null },
    ]);
    expect(await days(`/episodes/${story}/analytics?${query}`)).toEqual([1, 0]);
    expect(await days(`/podcasts/${news}/analytics/episodes?${query}`)).toEqual([1]);
    expect(await days(`/podcasts/${news}/analytics/listeners?${query}`)).toEqual([1]);
    expect(await metaOf(`/podcasts/${news}/analytics?${query}`)).toMatchObject({ known_at: knownAt });
    const before = world().beforeFacts.toISOString();
    expect(await days(`/podcasts/${news}/analytics?${july}&known_at=${before}`)).toEqual([0, 0]);
    const early = await metaOf(`/podcasts/${news}/analytics?${july}&known_at=2026-07-01T12:00:00%2B02:00`);
    expect(early).toMatchObject({
      known_at: '2026-07-01T10:00:00.000Z',
      complete_until: '2026-07-01T10:00:00.000Z',
      provisional_from: '2026-06-30T00:00:00.000Z',
    });
  });

  test('an answer names the hours that were restated: in the window that changed, and not as they were known before', async () => {
    for (const at of [
      `/podcasts/${news}/analytics`,
      `/episodes/${story}/analytics`,
      `/podcasts/${news}/analytics/episodes`,
      `/podcasts/${news}/analytics/listeners`,
      '/analytics/episodes',
    ]) {
      const restated = (await metaOf(`${at}?from=2026-07-02&to=2026-07-02`))['restated'];
      expect(restated).toEqual([
        { from: '2026-07-02T09:00:00.000Z', to: '2026-07-02T10:00:00.000Z', restated_at: expect.any(String) },
      ]);
      const [{ restated_at: restatedAt }] = restated as [{ restated_at: string }];
      expect(Date.parse(restatedAt)).toBeGreaterThan(world().beforeLateFact.getTime());
    }
    const series = `/podcasts/${news}/analytics?granularity=day`;
    const knownAt = world().beforeLateFact.toISOString();
    for (const unchanged of [
      'from=2026-07-02&to=2026-07-02&window=first_touch_24h',
      `from=2026-07-02&to=2026-07-02&known_at=${knownAt}`,
      'from=2026-07-03&to=2026-07-03',
    ])
      expect(await metaOf(`${series}&${unchanged}`)).not.toHaveProperty('restated');
  });

  test('an invalid window or time of knowledge is refused with a message that says what to change', async () => {
    const message = async (query: string) => {
      const { status, body } = await get(`/podcasts/${arts}/analytics?days_offset=1&${query}`);
      return [status, body['message']];
    };
    expect(await message('known_at=yesterday')).toEqual([422, 'known_at: Write a time such as 2026-11-01T10:00:00Z.']);
    expect(await message('known_at=1969-12-31T00:00:00Z')).toEqual([422, 'known_at: Name a time from 1970 to 2199.']);
    expect(await message('known_at=2026-11-01T10:00:00Z&time_zone=Europe/Paris')).toEqual([
      422,
      'Numbers as known at an earlier time are in UTC: leave out the time zone.',
    ]);
    expect(await message('window=rolling')).toEqual([422, expect.stringMatching(/^“window” must be/)]);
  });
});
