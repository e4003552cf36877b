import { describe, expect, test } from '@jest/globals';
import { insertNotice, type Actor } from '@longwave/command-pipeline';
import { newId } from '@longwave/ids';
import { transaction } from '@longwave/postgres';
import { serveHttp } from './_http.ts';
import { api, management, token, world } from './_shared-http.ts';
import { statementsOf } from '@longwave/test-kit/statements';
import { hour, person, service } from './_values.ts';
import { createWorld } from './_world.ts';

interface Change {
  readonly cursor: string;
  readonly kind: string;
  readonly type: string;
  readonly subject: { readonly id: string; readonly version?: number };
}
const at = (workspaceId: string, query = '') => `/workspaces/${workspaceId}/changes${query && `?${query}`}`;
const about = ({ type, subject }: Change) => `${type} ${subject.id} ${subject.version ?? ''}`.trim();
const read = async (query = '', as = token, workspaceId = world.workspaceId) => {
  const { status, json } = await api.call(at(workspaceId, query), { token: as });
  expect(status).toBe(200);
  return json as { rows: Change[]; limit: number; next_cursor: string; more: boolean };
};
const notice = (workspaceId: string, id: string) =>
  transaction(management.pool, (tx) =>
    insertNotice(tx, {
      ...{ workspaceId, subject: { type: 'webhook_endpoints', id }, type: 'webhook_endpoint.disabled' },
      ...{ detail: { cause: 'It does not answer.' }, now: new Date() },
    }),
  );

test('the changes are every revision, whole, and every notice in the order of commits, page by page and from any of them', async () => {
  const own = createWorld(management);
  const as = api.tokenFor(own.actor);
  const advertiser = await own.advertiser();
  const revised = await own.send('advertiser.revise', advertiser, { legal_name: 'B' });
  await notice(own.workspaceId, 'whe_1');
  const podcast = await own.podcast();
  const expected = [
    `advertiser.created ${advertiser.id} 1`,
    `advertiser.revised ${advertiser.id} 2`,
    'webhook_endpoint.disabled whe_1',
    `podcast.created ${podcast.id} 1`,
  ];
  const all = await read('', as, own.workspaceId);
  expect(all.rows.map(about)).toEqual(expected);
  expect(all).toMatchObject({ limit: 50, more: false });
  expect(all.rows[0]).toMatchObject({
    kind: 'revision',
    resource: { ...advertiser },
    operation_id: advertiser.updated_by.operation_id,
  });
  expect(all.rows[1]).toMatchObject({ resource: { ...revised } });
  expect(all.rows[2]).toMatchObject({ kind: 'notice', detail: { cause: 'It does not answer.' } });
  expect(all.rows[2]).not.toHaveProperty('resource');

  const seen: string[] = [];
  let after = '';
  for (let more = true; more;) {
    const page = await read(`limit=1${after && `&after=${after}`}`, as, own.workspaceId);
    seen.push(...page.rows.map(about));
    ({ more, next_cursor: after } = page);
  }
  expect(seen).toEqual(expected);
  for (const [i, { cursor }] of all.rows.entries())
    expect((await read(`after=${cursor}`, as, own.workspaceId)).rows.map(about)).toEqual(expected.slice(i + 1));
  // A place stays good, and later changes come after it.
  management.aheadMs += 100 * 24 * 3600_000;
  await own.send('podcast.revise', podcast, { title: 'Later' });
  expect((await read(`after=${after}`, as, own.workspaceId)).rows.map(about)).toEqual([
    `podcast.revised ${podcast.id} 2`,
  ]);
  management.aheadMs = 0;
});

test('who begins now gets what comes, and who names types gets changes of these', async () => {
  const first = await read('after=now');
  expect(first).toMatchObject({ rows: [], more: false });
  const advertiser = await world.advertiser();
  const podcast = await world.podcast();
  expect((await read(`after=${first.next_cursor}`)).rows.map(about)).toEqual([
    `advertiser.created ${advertiser.id} 1`,
    `podcast.created ${podcast.id} 1`,
  ]);
  const typed = await read(`after=${first.next_cursor}&types=podcasts,campaigns`);
  expect(typed.rows.map(about)).toEqual([`podcast.created ${podcast.id} 1`]);
  const nothing = await read(`after=${first.next_cursor}&types=campaigns`);
  expect(nothing.rows).toEqual([]);
  expect((await read(`after=${nothing.next_cursor}`)).rows).toEqual([]);
});

test.each([
  ['limit=0', 422, 'validation_failed'],
  ['types=cars', 422, 'validation_failed'],
  ['since=now', 422, 'validation_failed'],
  ['after=x', 422, 'invalid_cursor'],
])('a request with %s is refused', async (query, status, code) => {
  const answer = await api.call(at(world.workspaceId, query), { token });
  expect([answer.status, answer.json.code]).toEqual([status, code]);
  const stream = await api.call(at(world.workspaceId, query), { token, headers: { accept: 'text/event-stream' } });
  expect([stream.status, stream.json.code]).toEqual([status, code]);
});

test('the place of another workspace is refused', async () => {
  const other = createWorld(management);
  const { next_cursor: cursor } = await read('after=now', api.tokenFor(other.actor), other.workspaceId);
  expect((await api.call(at(world.workspaceId, `after=${cursor}`), { token })).json.code).toBe('invalid_cursor');
});

test('a guest on one podcast gets the changes of what belongs to it: all from before its end, and none from after it', async () => {
  const own = createWorld(management);
  const [one, two] = [await own.podcast(), await own.podcast()];
  const episodes = [];
  for (const { id } of [one, two])
    episodes.push(await own.send('episode.create', null, { podcast_id: id, title: 'A' }));
  const production = await own.send('production.create', null, {
    episode_id: episodes[0]!.id,
    file_url: (await own.upload()).attributes['file_url'],
  });
  await notice(own.workspaceId, 'whe_1');
  const guest = person(newId('ws')) as Extract<Actor, { kind: 'principal' }>;
  const grants = [{ workspace_id: own.workspaceId, podcast_id: one.id, roles: ['viewer' as const] }];
  const as = api.tokenFor({ ...guest, principal: { ...guest.principal, grants } });
  const visible = [one, episodes[0]!, production].map(({ id }) => id);
  expect((await read('', as, own.workspaceId)).rows.map(({ subject }) => subject.id)).toEqual(visible);
  const { next_cursor: behind } = await read('limit=1', as, own.workspaceId);
  const ended = await own.send('podcast.archive', one, {});
  // A service may still end the work that has begun.
  await own.send('production.delete', production, {}, service('operator'));
  const unread = [`episode.created ${episodes[0]!.id} 1`, `production.created ${production.id} 1`];
  const end = `podcast.archived ${one.id} ${ended.version}`;
  const guests = await read('', as, own.workspaceId);
  expect(guests.rows.map(about)).toEqual([`podcast.created ${one.id} 1`, ...unread, end]);
  expect((await read(`after=${behind}`, as, own.workspaceId)).rows.map(about)).toEqual([...unread, end]);
  const owners = await read('', api.tokenFor(own.actor), own.workspaceId);
  const shown = owners.rows.map(about);
  expect(shown).toEqual(expect.arrayContaining([...unread, end, `episode.created ${episodes[1]!.id} 1`]));
  expect(shown.filter((one) => one.includes(production.id))).toEqual([unread[1]]);
});

/** An open stream of events, read one by one. */
async function openStream(
  path: string,
  as: string,
  { origin = api.origin, headers = {} }: { readonly origin?: string; readonly headers?: Record<string, string> } = {},
) {
  const closing = new AbortController();
  const response = await fetch(`${origin}/management/v1${path}`, {
    headers: { authorization: `Bearer ${as}`, accept: 'text/event-stream', ...headers },
    signal: closing.signal,
  });
  let text = '';
  const chunks = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  return {
    status: response.status,
    type: response.headers.get('content-type'),
    close: () => closing.abort(),
    /** The next event; undefined at the end of the stream. */
    // eslint-disable-next-line @typescript-eslint/no-explicit-any -- parsed JSON of many shapes
    async next(): Promise<{ id?: string; event: string; data: any } | undefined> {
      for (;;) {
        const end = text.indexOf('\n\n');
        if (end < 0) {
          const { value, done } = await chunks.read();
          if (done) return undefined;
          text += value;
          continue;
        }
        const lines = text.slice(0, end).split('\n');
        text = text.slice(end + 2);
        const field = (name: string) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
        const [id, event, data] = [field('id'), field('event'), field('data')];
        if (event !== undefined) return { ...(id !== undefined && { id }), event, data: JSON.parse(data ?? 'null') };
      }
    },
  };
}

describe('a stream', () => {
  test('has the changes so far, then each one as it comes, and goes on where the last event was', async () => {
    const own = createWorld(management);
    const as = api.tokenFor(own.actor);
    const advertiser = await own.advertiser();
    const stream = await openStream(at(own.workspaceId), as);
    expect([stream.status, stream.type]).toEqual([200, 'text/event-stream; charset=utf-8']);
    const first = await stream.next();
    expect(first).toMatchObject({
      event: 'revision',
      id: first!.data.cursor,
      data: { subject: { id: advertiser.id } },
    });
    const podcast = await own.podcast();
    api.changeSignals.changed([own.workspaceId]);
    const second = await stream.next();
    expect(second!.data).toMatchObject({ type: 'podcast.created', resource: { id: podcast.id } });
    await notice(own.workspaceId, 'whe_1');
    api.changeSignals.changed([own.workspaceId]);
    expect(await stream.next()).toMatchObject({ event: 'notice', data: { subject: { id: 'whe_1' } } });
    stream.close();
    const again = await openStream(at(own.workspaceId, 'after=now'), as, {
      headers: { 'last-event-id': first!.id! },
    });
    expect((await again.next())!.id).not.toBe(first!.id);
    again.close();
    const named = await openStream(at(own.workspaceId, 'types=podcasts'), as);
    expect((await named.next())!.data).toMatchObject({ type: 'podcast.created' });
    named.close();
  });

  test('ends when its token does, and says so', async () => {
    const own = createWorld(management);
    const as = api.tokenFor(own.actor);
    await own.advertiser();
    const stream = await openStream(at(own.workspaceId), as);
    await stream.next();
    api.revoke(as);
    api.changeSignals.changed([own.workspaceId]);
    expect(await stream.next()).toMatchObject({ event: 'closed', data: { code: 'token_invalid' } });
    expect(await stream.next()).toBeUndefined();
  });

  test('that is quiet asks the database nothing, and one of an operation asks seldom', async () => {
    const own = createWorld(management);
    await own.setEncodingLimit(hour);
    const { production } = await own.encoding();
    const as = api.tokenFor(own.actor);
    const changes = await openStream(at(own.workspaceId, 'after=now&types=podcasts'), as);
    const path = `/workspaces/${own.workspaceId}/operations/${production.updated_by.operation_id}/events`;
    const operation = await openStream(path, as);
    await operation.next();
    await new Promise((resolve) => setTimeout(resolve, 500));
    const statements = await statementsOf(management.pool, () => new Promise((resolve) => setTimeout(resolve, 3_500)));
    expect(statements.filter((name) => name === 'read_changes' || name === 'find_newest_change')).toEqual([]);
    expect(statements.filter((name) => /from "product"\."operation"/i.test(name)).length).toBeLessThanOrEqual(2);
    changes.close();
    operation.close();
  });

  test('sends no more of a page when the rights of its reader have become narrower', async () => {
    const own = createWorld(management);
    const podcast = await own.podcast();
    for (let n = 0; n < 30; n++) await own.advertiser();
    const guest = person(newId('ws')) as Extract<Actor, { kind: 'principal' }>;
    const as = api.tokenFor(own.actor);
    const stream = await openStream(at(own.workspaceId), as);
    await stream.next();
    api.changeHolder(as, {
      ...guest.principal,
      grants: [{ workspace_id: own.workspaceId, podcast_id: podcast.id, roles: ['viewer'] }],
    });
    await new Promise((resolve) => setTimeout(resolve, 200));
    await own.advertiser();
    const revised = await own.send('podcast.revise', podcast, { title: 'Later' });
    api.changeSignals.changed([own.workspaceId]);
    const ids: string[] = [];
    for (let about = ''; about !== `podcast.revised ${podcast.id} ${revised.version}`;) {
      const event = (await stream.next())!.data as Change;
      about = `${event.type} ${event.subject.id} ${event.subject.version}`;
      ids.push(event.subject.id);
    }
    expect(ids).toHaveLength(31);
    stream.close();
  });

  test('is one of few that a client may have open; a closed one makes room', async () => {
    const as = api.tokenFor(world.actor);
    const streams = [];
    for (let i = 0; i < 3; i++) streams.push(await openStream(at(world.workspaceId), as));
    const headers = { accept: 'text/event-stream' };
    const refused = await api.call(at(world.workspaceId), { token: as, headers });
    expect([refused.status, refused.json.code]).toEqual([429, 'rate_limited']);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    // A client that only asks for the head occupies nothing.
    for (let i = 0; i < 5; i++)
      expect(
        (
          await api.call(at(world.workspaceId), {
            method: 'HEAD',
            token: api.tokenFor(world.actor, ['management:read'], 'c'),
            headers,
          })
        ).status,
      ).toBe(200);
    streams[0]!.close();
    let status = 429;
    while (status === 429) {
      const stream = await openStream(at(world.workspaceId), as);
      ({ status } = stream);
      stream.close();
    }
    expect(status).toBe(200);
    for (const stream of streams) stream.close();
  });

  test('of an operation has its states until it is over, with the progress of an encoding, and ends', async () => {
    await using own = await serveHttp(management, {
      findProgress: async (id) => ({ production_id: id, progress: 0.4, stage: 'encoding' }),
    });
    const { production, lease } = await world.encoding();
    const operationId = production.updated_by.operation_id;
    const as = own.tokenFor(world.actor);
    const stream = await openStream(`/workspaces/${world.workspaceId}/operations/${operationId}/events`, as, own);
    const first = await stream.next();
    expect(first).toMatchObject({ event: 'operation', data: { id: operationId, command_type: 'production.start' } });
    expect(['accepted', 'running']).toContain(first!.data.state);
    expect(await stream.next()).toMatchObject({ event: 'progress', data: { progress: 0.4, stage: 'encoding' } });
    await world.send(
      'production.fail',
      production,
      { problem: { code: 'damaged', detail: 'It is no audio.' } },
      { kind: 'service', name: 'encoder' },
      lease,
    );
    own.changeSignals.changed([world.workspaceId]);
    expect(await stream.next()).toMatchObject({ event: 'operation', data: { id: operationId, state: 'failed' } });
    expect(await stream.next()).toBeUndefined();
    const over = await openStream(`/workspaces/${world.workspaceId}/operations/${operationId}/events`, as, own);
    expect((await over.next())!.data.state).toBe('failed');
    expect(await over.next()).toBeUndefined();
    const foreign = await own.call(`/workspaces/${world.workspaceId}/operations/${newId('op')}/events`, {
      token: as,
      headers: { accept: 'text/event-stream' },
    });
    expect(foreign.status).toBe(404);
  });

  test('ends when the service stops, and none opens then', async () => {
    await using own = await serveHttp(management);
    const as = own.tokenFor(world.actor);
    const stream = await openStream(at(world.workspaceId, 'after=now'), as, own);
    await own.eventStreams[Symbol.asyncDispose]();
    expect(await stream.next()).toBeUndefined();
    const refused = await own.call(at(world.workspaceId), { token: as, headers: { accept: 'text/event-stream' } });
    expect([refused.status, refused.json.code]).toEqual([503, 'temporarily_unavailable']);
  });
});

describe('an operation by its key', () => {
  const find = (query: Record<string, string>, as: string, workspaceId = world.workspaceId) =>
    api.call(`/workspaces/${workspaceId}/operations?${new URLSearchParams(query).toString()}`, { token: as });

  test('is found by the client that sent it, under every token, and by no other', async () => {
    const as = api.tokenFor(world.actor, undefined, 'client-1');
    const key = newId('req');
    const sent = await api.call(`/workspaces/${world.workspaceId}/commands/advertiser.create`, {
      token: as,
      headers: { 'idempotency-key': key },
      body: {
        subject: { type: 'advertisers', id: null },
        changes: { legal_name: 'A', brands: [], ad_product_categories: [] },
      },
    });
    expect(sent.status).toBe(200);
    const query = { idempotency_key: key, command_type: 'advertiser.create' };
    const refreshed = api.tokenFor(world.actor, ['management:read'], 'client-1');
    expect((await find(query, refreshed)).json).toEqual(sent.json);
    const missing = [
      await find({ ...query, command_type: 'advertiser.revise' }, as),
      await find({ ...query, idempotency_key: `${key}x` }, as),
      await find(query, api.tokenFor(world.actor, undefined, 'client-2')),
    ];
    for (const { status, json } of missing) expect([status, json.code]).toEqual([404, 'not_found']);
    for (const incomplete of [
      { idempotency_key: key },
      { command_type: 'advertiser.create' },
      { ...query, state: 'x' },
    ])
      expect((await find(incomplete as Record<string, string>, as)).status).toBe(422);
  });
});
