import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startExchange, type Exchange, type Platform } from './_exchange.ts';
import { project, type World } from './_projections.ts';

let exchange: Exchange;
beforeAll(async () => {
  exchange = await startExchange();
});
afterAll(() => exchange[Symbol.asyncDispose]());

type Body = Record<string, unknown>;

/** A platform whose snapshots, surface and alias stand as management has them. */
async function platformWith(world: World): Promise<Platform & { readonly episodeId: string }> {
  const host = await exchange.platform();
  return { ...host, ...(await project(exchange, host, world)) };
}

const resolve = (host: Platform, body: Body, key?: string) =>
  exchange.request(host, 'POST', `/workspaces/${host.workspaceId}/delivery-resolutions`, {
    body: { surface_id: 'app', ...body },
    ...(key !== undefined && { key }),
  });

const x = 'https://media.test/delivery/v1/x/northern/a1.mp3';
/** `{episode}` stands for the episode of the platform. */
const clean = `https://media.test/delivery/v1/a/${'c'.repeat(64)}/episode.mp3?e={episode}`;
const cleanOf = ({ episodeId }: { readonly episodeId: string }) => clean.replace('{episode}', episodeId);
const master = 'https://host.example/1.mp3';
const ready = [{ version: 2, state: 'ready' }];
const policy = (route: string, unavailable = 'gone') => ({
  body: { route_policy: { surface_id: 'app', route, when_unavailable: unavailable } },
});

const cases: readonly (readonly [string, World, string | undefined, readonly [string, string | null, string]])[] = [
  ['the policy of the alias', { snapshots: ready }, undefined, ['platform_controlled', x, 'by_policy']],
  ['the asked route', { snapshots: ready }, 'clean', ['clean', clean, 'as_asked']],
  ['an ad-free route', { snapshots: ready }, 'ad_free', ['ad_free', clean, 'as_asked']],
  ['the source', { snapshots: ready }, 'source', ['source', master, 'as_asked']],
  ['a policy of clean audio', { snapshots: ready, alias: policy('clean') }, undefined, ['clean', clean, 'by_policy']],
  [
    'a surface that follows no redirects',
    { snapshots: ready, surface: { capability: { max_redirects: 0 } } },
    undefined,
    ['platform_controlled', `${x}?direct=1`, 'direct_without_redirects'],
  ],
  [
    'a surface without ranges',
    { snapshots: ready, surface: { capability: { ranges: false } } },
    undefined,
    ['platform_controlled', `${x}?direct=1`, 'direct_without_ranges'],
  ],
  [
    'a surface that plays HLS alone',
    { snapshots: ready, surface: { capability: { protocols: ['hls'] } } },
    undefined,
    ['clean', clean, 'surface_without_progressive'],
  ],
  [
    'a surface that has lapsed',
    { snapshots: ready, surface: { state: 'lapsed' } },
    undefined,
    ['clean', clean, 'surface_not_current'],
  ],
  [
    'an episode without ads',
    { snapshots: [{ version: 2, state: 'ready', episode: { no_ads: true } }] },
    'platform_controlled',
    ['clean', clean, 'no_ads_in_rights'],
  ],
  ['a paused alias', { snapshots: ready, alias: { state: 'paused' } }, undefined, ['source', null, 'alias_paused']],
  [
    'a paused alias that may go to the source',
    { snapshots: ready, alias: { state: 'paused', ...policy('platform_controlled', 'source') } },
    undefined,
    ['source', master, 'alias_paused'],
  ],
  [
    'a retired alias, whatever its policy',
    { snapshots: ready, alias: { state: 'retired', ...policy('clean', 'source') } },
    undefined,
    ['source', null, 'alias_retired'],
  ],
  [
    'a version that is being encoded',
    { snapshots: [{ version: 1, state: 'encoding' }] },
    undefined,
    ['source', null, 'not_ready'],
  ],
  [
    'a revoked version, whatever the policy',
    { snapshots: [{ version: 1, state: 'revoked' }], alias: policy('clean', 'source') },
    undefined,
    ['source', null, 'revoked'],
  ],
  [
    'a newer version that is being encoded while the one before serves',
    {
      snapshots: [
        { version: 1, state: 'ready' },
        { version: 2, state: 'encoding' },
      ],
    },
    undefined,
    ['platform_controlled', x, 'by_policy'],
  ],
  [
    'a paused alias of a revoked version, whatever its policy',
    {
      snapshots: [{ version: 1, state: 'revoked' }],
      alias: { state: 'paused', ...policy('platform_controlled', 'source') },
    },
    undefined,
    ['source', null, 'alias_paused'],
  ],
  [
    'an alias whose policy is another than the asked route with ads',
    { snapshots: ready, alias: policy('ad_free') },
    'platform_controlled',
    ['ad_free', clean, 'by_policy'],
  ],
  [
    'an episode that people have unpublished here',
    { snapshots: ready, episode: 'unpublished' },
    undefined,
    ['source', null, 'unpublished'],
  ],
  ...(
    [
      ['unpublished', master],
      ['archived', null],
    ] as const
  ).flatMap(([podcast, url]): (typeof cases)[number][] => [
    [
      `an episode of a podcast that is ${podcast} here`,
      { snapshots: ready, episode: 'published', podcast },
      undefined,
      ['source', null, podcast],
    ],
    [
      `an episode of a podcast that is ${podcast} here, of an alias that may go to the source,`,
      { snapshots: ready, episode: 'published', podcast, alias: policy('clean', 'source') },
      undefined,
      ['source', url, podcast],
    ],
  ]),
  [
    'a version that is not encoded, of a podcast that is archived here,',
    { snapshots: [{ version: 1, state: 'received' }], podcast: 'archived', alias: policy('source') },
    undefined,
    ['source', null, 'archived'],
  ],
  ...['received', 'encoding', 'failed'].flatMap((state): (typeof cases)[number][] => [
    [
      `a version that is ${state} and a policy of the source`,
      { snapshots: [{ version: 1, state }], alias: policy('source') },
      undefined,
      ['source', master, 'by_policy'],
    ],
    [
      `a version that is ${state} and the asked source`,
      { snapshots: [{ version: 1, state }] },
      'source',
      ['source', master, 'as_asked'],
    ],
  ]),
  [
    'a hidden episode and a policy of the source',
    { snapshots: ready, episode: 'unpublished', alias: policy('source') },
    undefined,
    ['source', master, 'by_policy'],
  ],
  [
    'a newer version that is being encoded, after the rights of the one that was played have ended,',
    {
      snapshots: [
        { version: 1, state: 'lapsed', episode: { rights: { until: '2026-11-25T11:59:59Z' } } },
        { version: 2, state: 'encoding' },
      ],
      episode: 'unpublished',
    },
    undefined,
    ['source', master, 'rights_ended'],
  ],
  [
    'an archived episode whose rights have ended',
    { snapshots: [{ version: 1, state: 'lapsed' }], episode: 'archived' },
    undefined,
    ['source', null, 'archived'],
  ],
  [
    'a version that has lapsed',
    { snapshots: [{ version: 2, state: 'lapsed' }] },
    undefined,
    ['source', master, 'rights_ended'],
  ],
  [
    'rights that have ended',
    { snapshots: [{ version: 2, state: 'ready', episode: { rights: { until: '2026-11-25T11:59:59Z' } } }] },
    undefined,
    ['source', master, 'rights_ended'],
  ],
];

test.each(cases)('%s decides the route of an alias', async (_what, world, route, [chosen, url, reason]) => {
  const host = await platformWith(world);
  const { status, body } = await resolve(host, { alias: 'a1', ...(route !== undefined && { route }) });
  expect([status, body['route'], body['url'], body['reason_code']]).toEqual([
    ...[200, chosen, url === clean ? cleanOf(host) : url, reason],
  ]);
  expect(body['expires_at']).toBe('2026-11-25T12:05:00.000Z');
});

test('an answer ends with the rights or the capability that it rests on, if that is sooner', async () => {
  const host = await platformWith({
    snapshots: [{ version: 2, state: 'ready', episode: { rights: { until: '2026-11-25T12:03:00Z' } } }],
    surface: { capability: { valid_until: '2026-11-25T12:01:00Z' } },
  });
  expect((await resolve(host, { alias: 'a1' })).body).toMatchObject({
    expires_at: '2026-11-25T12:01:00.000Z',
    alias_version: 4,
    content_version: 2,
  });
});

test('a source can be resolved without an alias, and its ad route needs one', async () => {
  const host = await platformWith({ snapshots: ready, alias: null });
  const source = { source: { source_id: 'ep-1' } };
  expect((await resolve(host, source)).body).toMatchObject({
    ...{ route: 'clean', url: cleanOf(host), alias_version: null },
  });
  expect((await resolve(host, { ...source, route: 'platform_controlled' })).body).toMatchObject({
    url: cleanOf(host),
  });
});

test('ids of others and ids that do not exist are refused with the same bytes, but for the trace', async () => {
  const other = await platformWith({ snapshots: ready });
  const host = await platformWith({ alias: null });
  expect((await resolve(other, { alias: 'a1' })).status).toBe(200);
  const answers = await Promise.all(
    [
      ...[{ alias: 'a1' }, { alias: 'nothing' }],
      ...[{ source: { source_id: 'ep-1' } }, { source: { source_id: 'nothing' } }],
    ].map((body) => resolve(host, body)),
  );
  const said = answers.map(({ status, body: { trace_id: _trace, instance: _instance, ...body } }) => [status, body]);
  expect([said[0], said[2]]).toMatchObject([
    [403, { code: 'cross_workspace_identity', errors: [{ path: '/alias' }] }],
    [403, { code: 'cross_workspace_identity', errors: [{ path: '/source/source_id' }] }],
  ]);
  expect([said[1], said[3]]).toEqual([said[0], said[2]]);
});

test('a repeated question under its key gets the first answer; another question under the key is refused', async () => {
  const host = await platformWith({ snapshots: ready });
  const first = await resolve(host, { alias: 'a1' }, 'once');
  await exchange.pool.query(`update alias set state = 'paused' where authority_id = $1`, [host.authorityId]);
  expect((await resolve(host, { alias: 'a1' }, 'once')).text).toBe(first.text);
  expect(await resolve(host, { alias: 'a1', route: 'clean' }, 'once')).toMatchObject({
    status: 409,
    body: { code: 'idempotency_conflict' },
  });
  expect((await resolve(host, { alias: 'a1' }, 'twice')).body).toMatchObject({ reason_code: 'alias_paused' });
});
