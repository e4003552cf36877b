import { expect, test } from '@jest/globals';
import { newId } from '@longwave/ids';
import { until } from '@longwave/test-kit';
import { eraseListeners } from '../src/plays/listener-erasure-table.ts';
import { apply, next } from './_apply.ts';
import { bodyButTrace, newListener } from './_ask.ts';
import { createHlsPlays, flipped, tokenOf } from './_hls-plays.ts';
import { workspaceId } from './_support.ts';

const world = createHlsPlays();
const { ask, show, enter, listsOf, assetsAt, bindingsOf } = world;

const post = (body: unknown) =>
  ask('/delivery/v1/pb', {}, 'POST', typeof body === 'string' ? body : JSON.stringify(body));
const create = (url: string) => post({ presentation_token: tokenOf(url) });
const read = async (url: string, headers = {}) => JSON.parse((await ask(url, headers)).body.toString()) as unknown;

test('a binding names the breaks of a play with their addresses, and nothing is decided for it', async () => {
  const made = await show();
  const main = await enter(made, newListener());
  const { status, headers, body } = await create(main);
  expect([status, headers['cache-control'], headers['access-control-allow-origin']]).toEqual([201, 'no-store', '*']);
  const { rows } = await world.bench.pool.query<{ presentation: string; opened_at: Date }>(
    'select presentation, opened_at from hls_play where episode_id = $1',
    [made.episodeId],
  );
  const { presentation, opened_at: openedAt } = rows[0]!;
  const expiresAt = new Date((Math.floor(openedAt.getTime() / 1000) + 180 * 86_400) * 1000).toISOString();
  const lists = await listsOf(main);
  const inPlaylist = (key: string) => lists.get(key)!.split('?')[0];
  const vast = expect.stringMatching(/^http:\/\/media\.test\/delivery\/v1\/v\/t1\.[\w-]{100}$/);
  expect(JSON.parse(body.toString())).toEqual({
    binding_id: tokenOf(String(headers.location)),
    presentation,
    state: 'open',
    expires_at: expiresAt,
    breaks: [
      { key: 'pre', position: 'pre', start_ms: 0, asset_list: inPlaylist('pre'), vast },
      { key: 'm1', position: 'mid', start_ms: expect.any(Number), asset_list: inPlaylist('m1'), vast },
      { key: 'end', position: 'post', start_ms: expect.any(Number), asset_list: inPlaylist('end'), vast },
    ],
  });
  expect([world.bench.serving.requests.length, (await bindingsOf(made)).length]).toEqual([0, 0]);
});

test('created again it is the same, and its address answers the same, whoever asks', async () => {
  const main = await enter(await show(), newListener());
  const first = await create(main);
  expect((await create(main)).body.equals(first.body)).toBe(true);
  const again = await ask(String(first.headers.location), newListener());
  expect([again.status, again.headers['cache-control'], again.body.equals(first.body)]).toEqual([
    200,
    'no-store',
    true,
  ]);
  expect(world.bench.serving.requests).toHaveLength(0);
});

test.each(['asset list', 'VAST', 'MP3'])(
  'it is resolved once its ads are decided by the %s, and names the same addresses',
  async (by) => {
    const made = await show();
    const listener = newListener();
    const main = await enter(made, listener);
    const { headers, body } = await create(main);
    const before = JSON.parse(body.toString()) as { readonly breaks: readonly { asset_list: string; vast: string }[] };
    const { asset_list: list, vast } = before.breaks[1]!;
    if (by === 'asset list') expect(await assetsAt(list, listener)).toHaveLength(2);
    else await ask(by === 'VAST' ? vast : made.enclosure, listener);
    expect(await read(String(headers.location))).toEqual({ ...before, state: 'resolved' });
    expect(world.bench.serving.requests).toHaveLength(1);
  },
);

test('it stays resolved when its listener is erased', async () => {
  const made = await show();
  const listener = newListener();
  const main = await enter(made, listener);
  const location = String((await create(main)).headers.location);
  await assetsAt((await listsOf(main)).get('pre')!, listener);
  const { rows } = await world.bench.pool.query<{ listener_key: string }>(
    'select listener_key from hls_play where episode_id = $1',
    [made.episodeId],
  );
  const erasure = { erasureId: newId('ers'), workspaceId };
  expect(await eraseListeners(world.bench.pool, erasure, [rows[0]!.listener_key])).toBe(1);
  expect(await read(location)).toMatchObject({ state: 'resolved' });
});

test('tokens that are flipped, of another purpose, expired or none get the same 404', async () => {
  const main = await enter(await show(), newListener());
  const { headers } = await create(main);
  const binding = tokenOf(String(headers.location));
  const list = (await listsOf(main)).get('pre')!;
  const refused = [
    await create(flipped(tokenOf(main))),
    await create(list),
    await create(binding),
    await post({ presentation_token: 'none' }),
    await ask(`/delivery/v1/pb/${flipped(binding)}`),
    await ask(`/delivery/v1/pb/${tokenOf(main)}`),
    await ask('/delivery/v1/pb/none'),
  ];
  world.bench.setClock(new Date(Date.now() + 179 * 86_400_000));
  expect([(await create(main)).status, (await ask(String(headers.location))).status]).toEqual([201, 200]);
  world.bench.setClock(new Date(Date.now() + 181 * 86_400_000));
  refused.push(await create(main), await ask(String(headers.location)));
  expect(new Set(refused.map((answer) => `${answer.status} ${bodyButTrace(answer)}`)).size).toBe(1);
  expect(refused[0]!.status).toBe(404);
});

test.each([
  ['no JSON', '{', 400, 'malformed_json'],
  ['nothing', '', 400, 'malformed_json'],
  ['no token', '{}', 400, 'validation_failed'],
  ['a token that is no text', '{"presentation_token":1}', 400, 'validation_failed'],
  ['another field', '{"presentation_token":"t1.x","listener":"x"}', 400, 'validation_failed'],
  ['more than a kilobyte', `{"presentation_token":"${'x'.repeat(1_024)}"}`, 413, 'payload_too_large'],
])('a body with %s is refused', async (_what, body, status, code) => {
  const answer = await post(body);
  expect([answer.status, (JSON.parse(answer.body.toString()) as { code: string }).code]).toEqual([status, code]);
});

test('a play of an archived episode is gone', async () => {
  const made = await show();
  const main = await enter(made, newListener());
  const { headers } = await create(main);
  await apply(world.bench, next(made.events.episode, {}, { state: 'archived' }));
  await until('the end', async () => (await create(main)).status === 410);
  expect([(await create(main)).status, (await ask(String(headers.location))).status]).toEqual([410, 410]);
});
