import { beforeAll, describe, expect, test } from '@jest/globals';
import type { Actor } from '@longwave/command-pipeline';
import type { ResourceView } from '@longwave/events';
import { newId } from '@longwave/ids';
import { createLogger } from '@longwave/service-kit';
import { until } from '@longwave/test-kit';
import { startClock } from '../src/background/clock.ts';
import { sendAsManagement } from '../src/background/send-as-management.ts';
import { dueTasks } from '../src/due-tasks.ts';
import { api, management, token, world } from './_shared-http.ts';
import { guestIn, hour, person } from './_values.ts';
import { createWorld } from './_world.ts';

const get = (path: string, as = token) => api.call(`/workspaces/${world.workspaceId}/resources/${path}`, { token: as });
const idsOf = async (path: string, as?: string) => {
  const { status, json } = await get(path, as);
  expect(status).toBe(200);
  return (json.rows as ResourceView[]).map(({ id }) => id);
};

describe('a list', () => {
  let podcast: ResourceView;
  let other: ResourceView;
  let episodes: ResourceView[];
  beforeAll(async () => {
    podcast = await world.podcast();
    other = await world.podcast();
    episodes = [];
    for (const [title, of] of [
      ['Beta 1', podcast],
      ['alpha 2', podcast],
      ['Gamma 1', other],
    ] as const)
      episodes.push(await world.send('episode.create', null, { podcast_id: of.id, title }));
  });
  const pick = (...at: number[]) => at.map((i) => episodes[i]!.id);

  test('is sorted and filtered by what the query says', async () => {
    expect(await idsOf('episodes')).toEqual(pick(0, 1, 2));
    expect(await idsOf('episodes?sort=-created_at')).toEqual(pick(2, 1, 0));
    expect(await idsOf('episodes?sort=name')).toEqual(pick(1, 0, 2));
    expect(await idsOf(`episodes?parent=${podcast.id}`)).toEqual(pick(0, 1));
    expect(await idsOf(`episodes?ids=${pick(2, 0).join(',')},${newId('ep')}`)).toEqual(pick(0, 2));
    expect(await idsOf('episodes?text=A%201&sort=-name')).toEqual(pick(2, 0));
    expect(await idsOf('episodes?state=draft,archived')).toEqual(pick(0, 1, 2));
    expect(await idsOf('episodes?state=published')).toEqual([]);
    const since = encodeURIComponent(episodes[1]!.updated_at.replace('Z', '+00:00'));
    expect(await idsOf(`episodes?updated_since=${since}`)).toEqual(pick(1, 2));
    expect(await idsOf(`podcasts?text=harbour`)).toEqual([podcast.id, other.id]);
  });

  test('shows the attributes that are asked for, with the rest of every row, and the number of rows in all pages', async () => {
    const { json } = await get('episodes?fields=title&limit=2&count=true');
    expect(json).toMatchObject({ limit: 2, total: { count: 3, exact: true }, next_cursor: expect.any(String) });
    expect(json.rows.map(({ attributes }: ResourceView) => attributes)).toEqual([
      { title: 'Beta 1' },
      { title: 'alpha 2' },
    ]);
    expect(json.rows[0]).toMatchObject({
      ...{ id: episodes[0]!.id, resource_type: 'episodes', version: 1, lifecycle_state: 'draft' },
      links: { podcast: podcast.id },
    });
    expect((await get('episodes?limit=2')).json).not.toHaveProperty('total');
  });

  const refused: [query: string, path: string][] = [
    ['limit=0', '/query/limit'],
    ['limit=-1', '/query/limit'],
    ['limit=ten', '/query/limit'],
    ['limit=1.5', '/query/limit'],
    ['limit=', '/query/limit'],
    ['limit=1&limit=2', '/query/limit'],
    ['sort=digest', '/query/sort'],
    ['sort=toString', '/query/sort'],
    ['state=gone', '/query/state'],
    ['fields=secret', '/query/fields'],
    ['fields=', '/query/fields'],
    ['parent=adv_1', '/query/parent'],
    ['parent=x', '/query/parent'],
    ['text=', '/query/text'],
    [`text=${'a'.repeat(201)}`, '/query/text'],
    [`ids=${Array.from({ length: 201 }, (_, i) => `ep_${i}`).join(',')}`, '/query/ids'],
    ['updated_since=yesterday', '/query/updated_since'],
    ['count=yes', '/query/count'],
    ['colour=red', '/query/colour'],
    ['link[podcast]=pod_1', '/query/link[podcast]'],
  ];
  test.each(refused.map(([query, path]) => [query.slice(0, 24), query, path]))(
    'refuses %s and names the parameter',
    async (_name, query, path) => {
      const { status, json } = await get(`episodes?${query}`);
      expect([status, json.code, json.errors[0].path]).toEqual([422, 'validation_failed', path]);
    },
  );

  test('cuts a larger limit to 200 and says so, however large the number is', async () => {
    for (const limit of ['201', '999999', '999999999999999'])
      expect((await get(`episodes?limit=${limit}`)).json.limit).toBe(200);
    expect((await get('episodes?limit=007')).json.limit).toBe(7);
    expect((await get('episodes')).json.limit).toBe(50);
  });

  test('goes on by its cursor only with the same type, filter and sort, and whatever the limit, fields and count', async () => {
    const { json } = await get('episodes?limit=1&sort=name');
    const cursor = String(json.next_cursor);
    expect(await idsOf(`episodes?sort=name&count=true&fields=title&cursor=${cursor}`)).toEqual(pick(0, 2));
    for (const query of [
      '',
      'sort=-name',
      'sort=name&state=draft',
      'sort=name&text=a',
      `sort=name&parent=${podcast.id}`,
    ])
      expect((await get(`episodes?${query}&cursor=${cursor}`)).json).toMatchObject({
        status: 422,
        code: 'invalid_cursor',
      });
    expect((await get(`podcasts?sort=name&cursor=${cursor}`)).json.code).toBe('invalid_cursor');
    expect((await get(`episodes?sort=name&cursor=${cursor.slice(0, -2)}`)).json.code).toBe('invalid_cursor');
  });

  test('has for a guest on one podcast what belongs to it, and nothing of another', async () => {
    const guest = person(newId('ws')) as Extract<Actor, { kind: 'principal' }>;
    const grants = [{ workspace_id: world.workspaceId, podcast_id: podcast.id, roles: ['viewer' as const] }];
    const as = api.tokenFor({ ...guest, principal: { ...guest.principal, grants } });
    expect(await idsOf('episodes', as)).toEqual(pick(0, 1));
    expect(await idsOf('podcasts', as)).toEqual([podcast.id]);
    expect(await idsOf(`episodes?parent=${other.id}`, as)).toEqual([]);
    expect(await idsOf(`episodes?ids=${pick(2).join(',')}`, as)).toEqual([]);
    expect((await get('episodes?count=true', as)).json.total).toEqual({ count: 2, exact: true });
    expect(await idsOf('advertisers', as)).toEqual([]);
    const member = api.tokenFor(guestIn(world.workspaceId, guest, ['viewer']));
    expect(await idsOf('episodes', member)).toEqual(pick(0, 1, 2));
  });

  test('leaves out what has ended with its podcast, as reads of one do', async () => {
    const ending = await world.podcast();
    const episode = await world.send('episode.create', null, { podcast_id: ending.id, title: 'Last' });
    const production = await world.send('production.create', null, {
      episode_id: episode.id,
      file_url: (await world.upload()).attributes['file_url'],
    });
    expect(await idsOf('productions')).toContain(production.id);
    await world.send('podcast.archive', ending, {});
    for (const list of ['episodes', 'productions', `episodes?parent=${ending.id}`, `productions?parent=${episode.id}`])
      for (const id of await idsOf(list)) expect([episode.id, production.id]).not.toContain(id);
    expect(await idsOf('podcasts?state=archived')).toEqual([ending.id]);
    expect((await get(`episodes/${episode.id}`)).status).toBe(404);
  });
});

describe('a history', () => {
  let advertiser: ResourceView;
  beforeAll(async () => {
    advertiser = await world.advertiser();
    for (const legalName of ['B', 'C', 'D'])
      advertiser = await world.send('advertiser.revise', advertiser, { legal_name: legalName });
  });
  const path = () => `advertisers/${advertiser.id}/versions`;

  test('is paged from the newest version to the first, each once', async () => {
    const seen: number[] = [];
    let cursor = '';
    do {
      const { json } = await get(`${path()}?limit=3${cursor && `&cursor=${cursor}`}`);
      expect(json.limit).toBe(3);
      seen.push(...json.rows.map(({ version }: { version: number }) => version));
      cursor = json.next_cursor ?? '';
    } while (cursor);
    expect(seen).toEqual([4, 3, 2, 1]);
    expect((await get(`${path()}?limit=0`)).status).toBe(422);
  });

  test('says what each version changed, also across pages, and of the first version nothing', async () => {
    const first = await get(`${path()}?limit=2&difference=true`);
    const second = await get(`${path()}?limit=2&difference=true&cursor=${first.json.next_cursor}`);
    const rows = [...first.json.rows, ...second.json.rows];
    expect(rows.map(({ difference }: { difference?: unknown }) => difference)).toEqual([
      ...['D', 'C', 'B'].map((value) => [{ op: 'replace', path: '/attributes/legal_name', value }]),
      undefined,
    ]);
    expect((await get(path())).json.rows[0]).not.toHaveProperty('difference');
    const one = await get(`${path()}/3?difference=true`);
    expect(one.json).toEqual(rows[1]);
  });

  test('has every version by its number, with the command that made it, and no other', async () => {
    const { json } = await get(`${path()}/1`);
    expect(json).toMatchObject({ version: 1, lifecycle_state: 'draft', attributes: { legal_name: 'Tidewater' } });
    expect(json.updated_by).toEqual({ operation_id: expect.stringMatching(/^op_/) });
    for (const version of ['0', '5', '-1', '1.0', 'x', '99999999999999'])
      expect((await get(`${path()}/${version}`)).status).toBe(404);
    const upload = await world.upload();
    const media = await world.send('upload.expire', upload, {}, { kind: 'service', name: 'management' });
    const { updated_by: by } = (await get(`uploads/${upload.id}/versions/${media.version}`)).json;
    expect(by).toEqual({ operation_id: expect.any(String), service: 'management' });
  });

  test('tells what the clock did from what a follower of events did', async () => {
    const { execute, pool, clock } = management;
    const scheduled = await world.send('episode.schedule', await world.playableEpisode(), {
      publish_at: new Date(Date.now() + hour).toISOString(),
    });
    const byOf = async ({ id }: ResourceView) => (await get(`episodes/${id}/versions`)).json.rows[0].updated_by;
    management.aheadMs += 2 * hour;
    await using _clock = startClock({ pool, execute, clock, tasks: dueTasks, everyMs: 20, onError: () => undefined });
    await until('publication', () => byOf(scheduled), { holds: ({ process }) => process === 'system:clock' });
    management.aheadMs = 0;
    const published = await world.send('episode.publish', await world.playableEpisode(), {});
    const event = { id: newId('evt'), workspace_id: world.workspaceId };
    const command = { type: 'episode.unpublish', id: published.id, changes: {} } as const;
    await sendAsManagement(execute, createLogger('test', 'silent'))(event, 'unpublish', command);
    expect(await byOf(published)).toMatchObject({ service: 'management', process: 'system:follower' });
  });

  test('of another workspace, or of nothing, is not found', async () => {
    const stranger = createWorld(management);
    const as = api.tokenFor(stranger.actor);
    for (const suffix of ['', '/1']) {
      const answer = await api.call(`/workspaces/${stranger.workspaceId}/resources/${path()}${suffix}`, { token: as });
      expect([answer.status, answer.json.code]).toEqual([404, 'not_found']);
    }
    const foreign = await get(
      `${path()}?cursor=${(await get(`advertisers/${(await world.advertiser()).id}/versions?limit=1`)).json.next_cursor ?? 'x'}`,
    );
    expect(foreign.json.code).toBe('invalid_cursor');
  });
});

describe('a review', () => {
  const differenceOf = (task: ResourceView, as = token) => get(`review_tasks/${task.id}/difference`, as);

  test('shows what its command would change, and trying it changes nothing', async () => {
    const { advertiser, task } = await world.waiting();
    const tables = async () =>
      (
        await management.pool.query(
          `select (select count(*) from revision) as revisions, (select count(*) from outbox) as events, (select count(*) from receipt) as receipts`,
        )
      ).rows;
    const before = await tables();
    const { status, json } = await differenceOf(task);
    expect([status, json]).toEqual([
      200,
      {
        subject: {
          ...{ type: 'advertisers', id: advertiser.id, version: advertiser.version },
          ...{ lifecycle_state: 'draft', attributes: (await get(`advertisers/${advertiser.id}`)).json.attributes },
        },
        difference: expect.arrayContaining([{ op: 'replace', path: '/lifecycle_state', value: 'active' }]),
      },
    ]);
    expect(await tables()).toEqual(before);
    expect((await get(`advertisers/${advertiser.id}`)).json.version).toBe(advertiser.version);
  });

  test('whose command would be refused now says why, and a decided one has no proposal', async () => {
    const { advertiser, task } = await world.waiting();
    await world.send('advertiser.revise', advertiser, { legal_name: 'Meanwhile' });
    expect((await differenceOf(task)).json).toMatchObject({ code: 'version_conflict', subject: { version: 2 } });
    await world.send('review.decline', task, { note: 'No.' }, world.reviewer);
    expect((await differenceOf(task)).json.code).toBe('state_not_allowed');
    const stranger = createWorld(management);
    const foreign = await api.call(`/workspaces/${stranger.workspaceId}/resources/review_tasks/${task.id}/difference`, {
      token: api.tokenFor(stranger.actor),
    });
    expect(foreign.status).toBe(404);
  });
});
