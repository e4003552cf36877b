import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { productCatalog } from '@longwave/command-catalog';
import type { ResourceView } from '@longwave/events';
import { Problem } from '@longwave/problems';
import { inboundUrlFault } from '@longwave/vast';
import fc from 'fast-check';
import { claimDueSources } from '../src/advertising/demand-sources/demand-table.ts';
import { refreshDueSources, startDemandRefresh } from '../src/advertising/demand-sources/refresh-sources.ts';
import { settleDueSources } from '../src/advertising/demand-sources/settle-sources.ts';
import { inlineAd, vast } from './_demand-host.ts';
import { startDemandWorld, type DemandWorld } from './_demand-world.ts';
import { refusalOf, type TestManagement } from './_management.ts';
import { service } from './_values.ts';
import { createWorld } from './_world.ts';

const minute = 60_000;

let demand: DemandWorld;
let management: TestManagement;
let host: DemandWorld['host'];
beforeAll(async () => {
  demand = await startDemandWorld();
  ({ management, host } = demand);
});
afterAll(async () => demand[Symbol.asyncDispose]());
beforeEach(() => demand.clear());

const impression = (url: string) => `<Impression><![CDATA[${url}]]></Impression>`;
const good = 'https://ads.example/impression';
const asView = (row: object, resource_type: string) => ({ ...row, resource_type }) as unknown as ResourceView;

async function timesOf(source: ResourceView) {
  const { rows } = await management.pool.query<{ failures: number; refresh_at: Date; leased: boolean }>(
    `select failures, refresh_at, leased_until > '-infinity' as leased from demand_refresh where source_id = $1`,
    [source.id],
  );
  return rows[0]!;
}

async function storedOf(source: ResourceView): Promise<readonly string[]> {
  const keys: string[] = [];
  for await (const { key } of management.store.list(`demand/${source.id}/`)) keys.push(key);
  return keys;
}

/** Copies of a resource, as many as make a crowd. */
const crowd = (id: string, count: number) =>
  management.pool.query(
    `insert into resource (id, workspace_id, resource_type, version, lifecycle_state, attributes, digest, operation_id, created_at, updated_at)
     select id || 'x' || n, workspace_id, resource_type, version, lifecycle_state,
       attributes || jsonb_build_object('demand_key', n), digest, operation_id, created_at, updated_at
     from resource, generate_series(1, $2) n where id = $1`,
    [id, count],
  );

test.each([
  ['a fragment in place of a path', 'https://t.example#x'],
  ['an address of IPv6', 'https://[2606:4700::1111]/'],
  ['white space that is no blank', 'https://t.example/a\u00a0b'],
])('a tracker with %s is left out, and its ad and its source go on', async (_what, url) => {
  const world = createWorld(management);
  demand.answers(vast(inlineAd({ trackers: impression(url) + impression(host.here(good)) })));
  const source = await demand.asked(world);
  const [creative] = await demand.creativesOf(world, source);
  expect(creative!.attributes.trackers!.map(({ event }) => event)).toEqual(['impression', 'error']);
  expect(await timesOf(source)).toMatchObject({ failures: 0, leased: false });
});

test('every address that is read of a document is one that the catalog takes as a tracker', () => {
  const { changes } = productCatalog.commands['creative.record_trackers'];
  const piece = fc.oneof(
    fc.constantFrom(
      '/',
      '?',
      '#',
      '@',
      ':',
      '[',
      ']',
      '\\',
      '%%',
      '[CACHEBUSTING]',
      '\u00a0',
      '\u2028',
      '\ufeff',
      'a.b',
    ),
    fc.string({ unit: 'binary', maxLength: 3 }),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
      const url = `https://${pieces.join('')}`;
      if (inboundUrlFault(url) === undefined)
        expect(changes.safeParse({ trackers: [{ event: 'click', url_template: url }] }).success).toBe(true);
    }),
    { numRuns: 500 },
  );
});

test('an ad whose command is refused is refused itself; the other ads are taken, and no file of it is left', async () => {
  const world = createWorld(management);
  demand.answers(vast());
  const source = await demand.asked(world);
  demand.answers(vast(inlineAd({ id: 'bad' }), inlineAd({ id: 'fine' })));
  host.serve('cdn.example/bad.mp3', { body: 'bad sound' });
  const { execute, ...deps } = demand.deps();
  world.ahead(20 * minute);
  let imports = 0;
  await refreshDueSources(
    {
      ...deps,
      execute: async (request, actor) => {
        if (request.commandType === 'creative.import' && imports++ === 0)
          throw new Problem('validation_failed', 'A tracker is not valid.');
        return execute(request, actor);
      },
    },
    (error) => {
      throw error;
    },
  );
  expect(await demand.creativesOf(world, source)).toHaveLength(1);
  expect(await storedOf(source)).toHaveLength(1);
  expect(host.requests).toContain('ads.example/error?code=900');
  expect(await timesOf(source)).toMatchObject({ failures: 0, leased: false });
});

test('a look that breaks off counts as a failure, ends what is over, and shows a problem in the end', async () => {
  const world = createWorld(management);
  demand.answers(vast(inlineAd({ more: '<Expires>1900</Expires>' })));
  const source = await demand.asked(world);
  await demand.prepare(world, source);
  expect(await demand.statesOf(demand.assignmentsOf(world, source))).toEqual(['active']);
  const errors: Error[] = [];
  for (const failures of [1, 2, 3]) {
    world.ahead(250 * minute);
    const fetch = () => Promise.reject(new Error('a fault of ours'));
    await refreshDueSources({ ...demand.deps(), fetch }, (error) => errors.push(error));
    expect(await timesOf(source)).toMatchObject({ failures, leased: false });
    expect(await demand.statesOf(demand.assignmentsOf(world, source))).toEqual(['ended']);
  }
  expect(errors).toHaveLength(3);
  expect((await demand.find(world, source)).attributes.problem).toMatchObject({ code: 'demand_not_usable' });
});

test('ads that are over end while their source is being asked', async () => {
  const world = createWorld(management);
  demand.answers(vast(inlineAd()));
  const source = await demand.asked(world);
  await demand.prepare(world, source);
  await management.pool.query(`update demand_refresh set leased_until = 'infinity' where source_id = $1`, [source.id]);
  const paused = asView(await demand.find(world, source), 'demand_sources');
  await world.send('demand_source.pause', paused, { cause: 'Too loud.' });
  await settleDueSources(demand.deps(), (error) => {
    throw error;
  });
  expect(await demand.statesOf(demand.assignmentsOf(world, source))).toEqual(['ended']);
});

test('a workspace with many due sources leaves room for the one source of another', async () => {
  const due = (workspace: string, source: string, at: string) =>
    management.pool.query('insert into demand_refresh (source_id, workspace_id, refresh_at) values ($1, $2, $3)', [
      ...[source, workspace, at],
    ]);
  for (let each = 10; each < 22; each++) await due('ws_many', `dms_${each}`, `2026-01-01T00:${each}:00Z`);
  await due('ws_one', 'dms_one', '2026-01-02T00:00:00Z');
  const now = new Date('2026-01-03T00:00:00Z');
  const claim = async () =>
    (
      await claimDueSources(management.pool, now, new Date(now.getTime() + minute), { limit: 3, limitOfWorkspace: 2 })
    ).map(({ sourceId }) => sourceId);
  expect((await claim()).sort()).toEqual(['dms_10', 'dms_11', 'dms_one']);
  expect(await claim()).toEqual([]);
});

test('a source that stays silent holds up no other source, look after look', async () => {
  const [world, other] = [createWorld(management), createWorld(management)];
  demand.answers(vast());
  await demand.asked(world);
  await demand.asked(other);
  const silence = Promise.withResolvers<never>();
  let looks = 0;
  const { fetch, ...deps } = demand.deps();
  const errors: unknown[] = [];
  const loop = startDemandRefresh({
    ...deps,
    everyMs: 5,
    onError: (error) => errors.push(error),
    // The first one that is asked is silent until the other was asked twice.
    fetch: async (url, request) => (looks++ === 0 ? silence.promise : fetch(url, request)),
  });
  while (looks < 3 && errors.length === 0)
    await management.pool.query(`update demand_refresh set refresh_at = '1970-01-01'`);
  silence.reject(new Problem('media_not_fetchable'));
  await loop[Symbol.asyncDispose]();
  expect(errors).toEqual([]);
});

test('an ad that stands twice in a pod with other trackers each time changes its creative once a look', async () => {
  const world = createWorld(management);
  const look = (name: string) => {
    const at = (place: string) => inlineAd({ trackers: impression(host.here(`${good}?${name}${place}`)) });
    demand.answers(vast(at('1'), at('2')));
  };
  look('a');
  const source = await demand.asked(world);
  const urls = async () =>
    (await demand.creativesOf(world, source)).map(
      ({ attributes }) => new URL(attributes.trackers![0]!.url_template).search,
    );
  expect(await urls()).toEqual(['?a1']);
  look('b');
  world.ahead(20 * minute);
  await demand.round();
  expect(await urls()).toEqual(['?b1']);
  expect(await timesOf(source)).toMatchObject({ failures: 0, leased: false });
});

test('a source has 200 living creatives at most, and says so; what has been over for 7 days is archived, and comes back as another one', async () => {
  const world = createWorld(management);
  demand.answers(vast(inlineAd({ id: 'first' })));
  const source = await demand.asked(world);
  const [first] = await demand.creativesOf(world, source);
  await crowd(first!.id, 199);
  await management.pool.query(
    `insert into link (from_id, name, to_id) select id, 'demand_source', $2 from resource where id like $1 || 'x%'`,
    [first!.id, source.id],
  );
  demand.answers(vast(inlineAd({ id: 'first' }), inlineAd({ id: 'more' })));
  world.ahead(20 * minute);
  await demand.round();
  expect((await demand.find(world, source)).attributes.problem).toMatchObject({
    code: 'too_many_ads',
    detail: expect.stringContaining('200 ads'),
  });
  expect(await demand.creativesOf(world, source)).toHaveLength(200);
  expect(host.requests).toContain('ads.example/error?code=900');
  await management.pool.query(`delete from link where from_id like $1 || 'x%'`, [first!.id]);

  const statesAfter = async (days: number) => {
    world.ahead(days * 24 * 60 * minute);
    await demand.round();
    return demand.statesOf(demand.creativesOf(world, source));
  };
  demand.answers(vast());
  expect(await statesAfter(1)).toEqual(['processing']);
  await statesAfter(8);
  expect(await statesAfter(1)).toEqual(['archived']);
  demand.answers(vast(inlineAd({ id: 'first' })));
  expect(await statesAfter(1)).toEqual(['archived', 'processing']);
});

test('the stored file of an ad is removed when the encoder has read it', async () => {
  const world = createWorld(management);
  demand.answers(vast(inlineAd()));
  const source = await demand.asked(world);
  expect(await storedOf(source)).toHaveLength(1);
  await demand.prepare(world, source);
  world.ahead(20 * minute);
  await demand.round();
  expect(await storedOf(source)).toEqual([]);
});

test.each([
  ['rejected', 'creative.reject'],
  ['suspended', 'creative.suspend'],
] as const)('other bytes of an ad that a person has %s wait for a person', async (_state, command) => {
  const world = createWorld(management);
  demand.answers(vast(inlineAd()));
  const source = await demand.asked(world);
  await demand.prepare(world, source);
  const [creative] = await demand.creativesOf(world, source);
  await world.send(command, asView(creative!, 'creatives'), { cause: 'Misleading.' });
  demand.answers(vast(inlineAd({ media: 'https://cdn.example/other.mp3' })));
  world.ahead(20 * minute);
  await demand.round();
  await demand.prepare(world, source);
  const next = (await demand.creativesOf(world, source))[1]!;
  expect(next.lifecycle_state).toBe('processing');
  await world.send('creative.submit', asView(next, 'creatives'), { disclosure: 'Ad' });
  await demand.round();
  expect((await demand.creativesOf(world, source))[1]!.lifecycle_state).toBe('approved');
});

test('an ad that leads to another address, or names other categories, is another creative', async () => {
  const world = createWorld(management);
  demand.answers(vast(inlineAd()));
  const source = await demand.asked(world);
  for (const document of [
    vast(inlineAd()).replace('https://tea.example/', 'https://malware.example/'),
    vast(inlineAd({ more: '<Category>IAB7</Category>' })),
  ]) {
    demand.answers(document);
    world.ahead(20 * minute);
    await demand.round();
  }
  expect((await demand.creativesOf(world, source)).map(({ attributes }) => attributes.click_url)).toEqual(
    ['tea', 'malware', 'tea'].map((name) => `https://${name}.example/`),
  );
});

test.each([
  ['IAB7', 'IAB7-39'],
  ['IAB7', ' iab7 '],
  ['iab7-39', 'IAB1,IAB7-39'],
  ['IAB9, IAB7', 'IAB7'],
])('the blocked category %s keeps out an ad of “%s”', async (blocked, category) => {
  const world = createWorld(management);
  demand.answers(vast(inlineAd({ more: `<Category>${category}</Category>` })));
  const source = await demand.validated(
    world,
    await world.demandSource(demand.sourceAt({ blocked_categories: [blocked] })),
  );
  expect(source.attributes.problem?.detail).toContain('blocked category');
});

test('the blocked category IAB7-3 lets IAB7-39 and IAB70 pass', async () => {
  const world = createWorld(management);
  demand.answers(vast(inlineAd({ more: '<Category>IAB7-39 IAB70</Category>' })));
  const source = await demand.asked(world, { blocked_categories: ['IAB7-3'] });
  expect((await demand.creativesOf(world, source))[0]!.attributes.categories).toEqual(['IAB7-39', 'IAB70']);
});

test('errors are told to hosts of the list alone, eight at most, and no redirect is followed', async () => {
  const world = createWorld(management);
  const errors = [
    'https://elsewhere.example/error',
    ...Array.from({ length: 12 }, (_, n) => `https://ads.example/e${n}`),
  ];
  host.serve('ads.example/e0', { status: 302, headers: { location: host.here('https://ads.example/hop') } });
  const named = errors.map((url) => `<Error>${url}</Error>`).join('');
  demand.answers(vast(inlineAd({ type: 'video/mp4', more: named })));
  await demand.validated(world, await world.demandSource(demand.sourceAt()));
  const told = host.requests.filter((url) => /\/e\d|elsewhere|hop|error/.test(url));
  expect(told).toContain('ads.example/e0');
  expect(told.length).toBeLessThanOrEqual(8);
  expect(told.filter((url) => /elsewhere|hop/.test(url))).toEqual([]);
});

test('a name that is cut inside a character is stored all the same', async () => {
  const world = createWorld(management);
  const id = `${'x'.repeat(254)}\u{1f375}`;
  demand.answers(vast(inlineAd({ id, media: 'https://elsewhere.example/x.mp3' }), `<Ad id="${id}"/>`));
  const source = await demand.validated(world, await world.demandSource(demand.sourceAt()));
  expect(source.attributes.finding?.refused).toHaveLength(2);
});

test('a workspace has 50 demand sources that are not retired, and 20 validations that have not ended', async () => {
  const world = createWorld(management);
  const [source, another] = [await world.demandSource(), await world.demandSource()];
  await world.send('demand_source.validate', source, {}, service('operator'));
  await management.pool.query(
    `insert into job (id, kind, workspace_id, subject_type, subject_id, subject_version, state, input, created_at, work_class, expected_ms)
     select id || n, kind, workspace_id, subject_type, subject_id, subject_version, state, input, created_at, work_class, expected_ms
     from job, generate_series(1, 19) n where subject_id = $1`,
    [source.id],
  );
  expect(await refusalOf(world.send('demand_source.validate', another, {}, service('operator')))).toMatchObject({
    code: 'rate_limited',
  });
  await crowd(another.id, 48);
  expect(await refusalOf(world.demandSource())).toMatchObject({ code: 'validation_failed' });
});
