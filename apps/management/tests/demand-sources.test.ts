import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { ResourceView } from '@longwave/events';
import { workspaceRoot } from '@longwave/fleet';
import { inlineAd, vast, wrapper } from './_demand-host.ts';
import { startDemandWorld, type DemandWorld } from './_demand-world.ts';
import { refusalOf, type TestManagement } from './_management.ts';
import { service } from './_values.ts';
import { createWorld } from './_world.ts';

const minute = 60_000;
const categories = (count: number) => Array.from({ length: count }, (_, n) => `<Category>I${n}</Category>`).join('');

let demand: DemandWorld;
let management: TestManagement;
let host: DemandWorld['host'];
beforeAll(async () => {
  demand = await startDemandWorld();
  ({ management, host } = demand);
});
afterAll(async () => demand[Symbol.asyncDispose]());
beforeEach(() => demand.clear());

test('an ad of a source becomes a creative with its trackers, is prepared from one download, and competes once it is approved', async () => {
  const world = createWorld(management);
  demand.answers(vast(inlineAd({ universalAdId: 'CNPA0484000H', more: '<Category>IAB8-5</Category>' })));
  const source = await demand.asked(world, { weight: 7 });
  const [creative, ...others] = await demand.creativesOf(world, source);
  expect(others).toEqual([]);
  expect(creative).toMatchObject({
    lifecycle_state: 'processing',
    attributes: {
      ...{ name: 'Northwind Tea', format: 'audio', production: 'produced', universal_ad_id: 'CNPA0484000H' },
      ...{ click_url: 'https://tea.example/', categories: ['IAB8-5'] },
      trackers: [
        { event: 'impression', url_template: host.here('https://ads.example/impression?cb=[CACHEBUSTING]') },
        { event: 'error', url_template: host.here('https://ads.example/error?code=[ERRORCODE]') },
      ],
    },
  });
  const { rows } = await management.pool.query<{ input: object; work_class: string }>(
    `select input, work_class from job where kind = 'encode_creative' and subject_id = $1`,
    [creative!.id],
  );
  expect(rows).toMatchObject([
    { work_class: 'bulk', input: { storage_key: expect.stringMatching(/^demand\/dms_\w+\/[0-9a-f]{64}$/) } },
  ]);
  expect(await demand.assignmentsOf(world, source)).toEqual([]);

  await demand.prepare(world, source);
  expect(await demand.statesOf(demand.creativesOf(world, source))).toEqual(['approved']);
  expect(await demand.assignmentsOf(world, source)).toMatchObject([
    { lifecycle_state: 'active', attributes: { creative_id: creative!.id, weight: 7 } },
  ]);
});

test('a source is told nothing about a person, and another look at the same ads changes nothing', async () => {
  const world = createWorld(management);
  demand.answers(vast(inlineAd({ id: 'a' }), inlineAd({ id: 'b' })));
  const source = await demand.asked(world);
  await demand.prepare(world, source);
  expect(host.requests.filter((url) => url.startsWith('ads.example/vast'))).toEqual(
    Array.from({ length: 2 }, () => 'ads.example/vast?cb=50000000&ip=-2&type=audio'),
  );
  const before = await demand.changeCount(world);
  world.ahead(20 * minute);
  await demand.round();
  world.ahead(20 * minute);
  await demand.round();
  expect(host.requests.filter((url) => url.startsWith('ads.example/vast'))).toHaveLength(4);
  expect(host.requests.filter((url) => url.startsWith('cdn.example/'))).toHaveLength(2);
  expect(await demand.changeCount(world)).toBe(before);
});

test('an ad that the source no longer answers with loses its assignment, and gets one again when it is back', async () => {
  const world = createWorld(management);
  demand.answers(vast(inlineAd({ id: 'a' }), inlineAd({ id: 'b' })));
  const source = await demand.asked(world);
  await demand.prepare(world, source);
  demand.answers(vast(inlineAd({ id: 'b' })));
  world.ahead(20 * minute);
  await demand.round();
  expect(await demand.statesOf(demand.assignmentsOf(world, source))).toEqual(['active', 'ended']);
  host.serve('ads.example/vast', { status: 204 });
  world.ahead(20 * minute);
  await demand.round();
  expect(await demand.statesOf(demand.assignmentsOf(world, source))).toEqual(['ended', 'ended']);
  demand.answers(vast(inlineAd({ id: 'a' })));
  world.ahead(20 * minute);
  await demand.round();
  expect(await demand.statesOf(demand.assignmentsOf(world, source))).toEqual(['active', 'ended', 'ended']);
  expect(await demand.creativesOf(world, source)).toHaveLength(2);
});

test('an ad whose file has other bytes is another creative, and the same bytes at another address are the same one', async () => {
  const world = createWorld(management);
  const at = (file: string) => vast(inlineAd({ universalAdId: 'X1', media: `https://cdn.example/${file}` }));
  demand.answers(at('one.mp3'));
  const source = await demand.asked(world);
  demand.answers(at('two.mp3'));
  host.serve('cdn.example/two.mp3', { body: 'sound of one.mp3' });
  world.ahead(20 * minute);
  await demand.round();
  expect(await demand.creativesOf(world, source)).toHaveLength(1);
  demand.answers(at('three.mp3'));
  world.ahead(20 * minute);
  await demand.round();
  expect(await demand.creativesOf(world, source)).toHaveLength(2);
});

test('an ad that stands in several places of a pod is one creative', async () => {
  const world = createWorld(management);
  const at = (file: string) => inlineAd({ universalAdId: 'X1', media: `https://cdn.example/${file}`, trackers: file });
  demand.answers(vast(at('one.mp3'), at('one.mp3'), at('two.mp3')));
  host.serve('cdn.example/two.mp3', { body: 'sound of one.mp3' });
  const source = await demand.asked(world);
  expect(await demand.creativesOf(world, source)).toHaveLength(1);
});

test('trackers of all wrappers are kept with the ad, and change with the source', async () => {
  const world = createWorld(management);
  host.serve('ads.example/vast', { body: host.here(wrapper('https://ads.example/second', 'w1')) });
  host.serve('ads.example/second', { body: host.here(wrapper('https://ads.example/third', 'w2')) });
  const third = (trackers: string) =>
    host.serve('ads.example/third', { body: host.here(vast(inlineAd({ trackers }))) });
  host.serve('cdn.example/tea.mp3', { body: 'sound' });
  third('<Impression>https://ads.example/impression</Impression>');
  const source = await demand.asked(world);
  expect((await demand.find(world, source)).attributes.finding).toMatchObject({ ads: 1, wrappers: 2, refused: [] });
  const urls = async () =>
    (await demand.creativesOf(world, source)).map(({ attributes }) =>
      attributes.trackers!.map(({ event, url_template: url }) => `${event} ${new URL(url).pathname}`),
    );
  const ofWrappers = ['impression /w1/impression', 'error /w1/error', 'impression /w2/impression', 'error /w2/error'];
  expect(await urls()).toEqual([[...ofWrappers, 'impression /impression', 'error /error']]);
  third('<Impression>https://ads.example/other</Impression>');
  world.ahead(20 * minute);
  await demand.round();
  expect(await urls()).toEqual([[...ofWrappers, 'impression /other', 'error /error']]);
});

test('documents of VAST 2.0 and 3.0 as other ad servers write them are valid; what is refused of them is named and reported', async () => {
  const world = createWorld(management);
  const golden = (name: string) => readFileSync(path.join(workspaceRoot, 'libs/vast/tests/documents', name), 'utf8');
  demand.answers(golden('vast-2.0-inline.xml'));
  const first = await demand.validated(world, await world.demandSource(demand.sourceAt()));
  expect(first).toMatchObject({ lifecycle_state: 'active', attributes: { finding: { ads: 1, refused: [] } } });
  demand.answers(golden('vast-3.0-pod.xml'));
  const pod = await demand.validated(world, await world.demandSource(demand.sourceAt()));
  expect(pod).toMatchObject({
    lifecycle_state: 'active',
    attributes: { finding: { ads: 2, refused: [{ ad_id: 'broken', vast_error: 101 }] } },
  });
  expect(host.requests).toContain('ads.example/error/3?code=101');
  demand.answers(golden('vast-3.0-empty.xml'));
  expect(await demand.validated(world, await world.demandSource(demand.sourceAt()))).toMatchObject({
    lifecycle_state: 'active',
    attributes: { finding: { ads: 0, refused: [] } },
  });
});

const tracker = '<Impression>https://ads.example/impression</Impression>';
const deep = (levels: number) => () => {
  for (let level = 0; level < levels; level++)
    host.serve(`ads.example/${level === 0 ? 'vast' : `w${level}`}`, {
      body: host.here(wrapper(`https://ads.example/w${level + 1}`, `of${level}`)),
    });
  host.serve(`ads.example/w${levels}`, { body: vast() });
};
const says = (document: string) => () => demand.answers(document);
const serves = (page: Parameters<typeof host.serve>[1]) => () => host.serve('ads.example/vast', page);
const redirects = (location: string) => () =>
  host.serve('ads.example/vast', { status: 302, headers: { location: host.here(location) } });

test.each<[string, () => void, string, object?]>([
  [
    'a document of more than 256 KiB',
    serves({ body: vast() + ' '.repeat(262_144) }),
    'VAST error 100: The document is larger',
  ],
  ['a DTD', serves({ body: `<!DOCTYPE VAST>${vast()}` }), 'VAST error 100: '],
  ['VAST 4.3', serves({ body: '<VAST version="4.3"/>' }), 'VAST error 102: The document has the version "4.3"'],
  ['no VAST', serves({ body: '<html/>' }), 'VAST error 101: The outermost element'],
  ['nine ads', says(vast(...Array.from({ length: 9 }, () => inlineAd()))), 'VAST error 900: The document has 9 ads'],
  ['a missing page', serves({ status: 404 }), 'VAST error 301: The address of the document answers with status 404.'],
  ['a silent host', serves({ silent: true }), 'VAST error 301: ', { timeout_ms: 100 }],
  [
    'a redirect to another host',
    redirects('https://elsewhere.example/'),
    'the host elsewhere.example, which is not on the list',
  ],
  ['a redirect to http', redirects('http://ads.example/'), 'VAST error 301: '],
  [
    'three redirects',
    redirects('https://ads.example/vast'),
    'VAST error 301: The address of the document cannot be fetched. The address redirects too many times.',
  ],
  [
    'a wrapper to another host',
    says(wrapper('https://elsewhere.example/', 'w')),
    'the host elsewhere.example, which is not on the list',
  ],
  ['four wrappers', deep(4), 'VAST error 302: The chain has more than 3 wrappers.'],
  [
    'two wrappers for a source that takes one',
    deep(2),
    'VAST error 302: The chain has more than 1 wrapper.',
    { max_wrappers: 1 },
  ],
  ['wrappers that end without an ad', deep(2), 'VAST error 303: '],
  ['no file of sound', says(vast(inlineAd({ type: 'video/mp4' }))), 'VAST error 403: '],
  ['a file by http', says(vast(inlineAd({ media: 'http://cdn.example/tea.mp3' }))), 'VAST error 401: '],
  [
    'a file at another host',
    says(vast(inlineAd({ media: 'https://elsewhere.example/tea.mp3' }))),
    'VAST error 401: The media file is at the host elsewhere.example',
  ],
  [
    'a blocked category',
    says(vast(inlineAd({ more: '<Category>IAB9-9</Category>' }))),
    'VAST error 900: The ad has the blocked category IAB9-9.',
    { blocked_categories: ['IAB9-9'] },
  ],
  ['101 categories', says(vast(inlineAd({ more: categories(101) }))), 'error 900: The ad names more than 100'],
  [
    'an ad that expires at once',
    says(vast(inlineAd({ more: '<Expires>60</Expires>' }))),
    'VAST error 900: The ad expires after 60 s',
  ],
  [
    'too many trackers',
    says(vast(inlineAd({ trackers: tracker.repeat(25) }))),
    'VAST error 900: The ad and its wrappers have more than 24 trackers.',
  ],
  [
    'a tracker that is too long',
    says(vast(inlineAd({ trackers: tracker.replace('/impression', `/${'x'.repeat(2000)}`) }))),
    'VAST error 900: A tracker of the ad has more than 2000 characters.',
  ],
])('a source that answers with %s is refused in words', async (_what, prepareHost, detail, given: object = {}) => {
  const world = createWorld(management);
  prepareHost();
  const source = await demand.validated(world, await world.demandSource(demand.sourceAt(given)));
  expect(source.lifecycle_state).toBe('draft');
  expect(source.attributes.problem).toMatchObject({
    code: 'demand_not_usable',
    detail: expect.stringContaining(detail),
  });
  expect(host.requests.some((url) => url.startsWith('elsewhere.example'))).toBe(false);
  const code = /VAST error (\d+)/.exec(source.attributes.problem!.detail)![1]!;
  expect(source.attributes.finding?.refused).toMatchObject([{ vast_error: Number(code) }]);
  for (const url of host.requests.filter((one) => one.includes('error')))
    expect(url).toMatch(new RegExp(`code=${code}$`));
});

test('every error address on the way to a refusal is told its code, once', async () => {
  const world = createWorld(management);
  deep(4)();
  await demand.validated(world, await world.demandSource(demand.sourceAt()));
  expect(host.requests.filter((url) => url.includes('/error')).sort()).toEqual(
    [0, 1, 2, 3].map((level) => `ads.example/of${level}/error?code=302`),
  );
});

test('a file that cannot be downloaded is reported, and what was prepared before is not touched', async () => {
  const world = createWorld(management);
  demand.answers(vast(inlineAd({ id: 'a' }), inlineAd({ id: 'b' })));
  host.serve('cdn.example/b.mp3', { status: 500 });
  const source = await demand.asked(world);
  expect(await demand.creativesOf(world, source)).toHaveLength(1);
  expect(host.requests).toContain('ads.example/error?code=401');
});

test('a source that fails three times in a row shows why, is asked ever more rarely, and keeps its ads until their time is over', async () => {
  const world = createWorld(management);
  demand.answers(vast(inlineAd({ more: '<Expires>7200</Expires>' })));
  const source = await demand.asked(world);
  await demand.prepare(world, source);
  host.serve('ads.example/vast', { status: 503 });
  const problem = async () => (await demand.find(world, source)).attributes.problem;
  for (const minutes of [16, 31]) {
    world.ahead(minutes * minute);
    await demand.round();
    expect(await problem()).toBeUndefined();
  }
  world.ahead(61 * minute);
  await demand.round();
  expect(await problem()).toEqual({
    code: 'demand_not_usable',
    detail: 'VAST error 301: The address of the document answers with status 503.',
  });
  expect(await demand.find(world, source)).toMatchObject({ lifecycle_state: 'active' });
  expect(await demand.statesOf(demand.assignmentsOf(world, source))).toEqual(['active']);
  const before = host.requests.length;
  world.ahead(15 * minute);
  await demand.round();
  expect(host.requests).toHaveLength(before);
  expect(await demand.statesOf(demand.assignmentsOf(world, source))).toEqual(['ended']);
  demand.answers(vast(inlineAd()));
  world.ahead(120 * minute);
  await demand.round();
  expect(await problem()).toBeUndefined();
  expect(await demand.statesOf(demand.assignmentsOf(world, source))).toEqual(['active', 'ended']);
});

test('a paused source is asked no more and its ads end; resumed, they are assigned again, and retired, they end for good', async () => {
  const world = createWorld(management);
  demand.answers(vast(inlineAd()));
  const source = await demand.asked(world);
  await demand.prepare(world, source);
  const cause = 'Listeners complained.';
  const view = async () => ({ ...(await demand.find(world, source)), resource_type: 'demand_sources' });
  await world.send('demand_source.pause', await view(), { cause });
  await demand.round();
  const before = host.requests.length;
  world.ahead(60 * minute);
  await demand.round();
  expect(host.requests).toHaveLength(before);
  expect(await demand.statesOf(demand.assignmentsOf(world, source))).toEqual(['ended']);
  await world.send('demand_source.resume', await view(), {});
  await demand.round();
  expect(await demand.statesOf(demand.assignmentsOf(world, source))).toEqual(['active', 'ended']);
  await world.send('demand_source.retire', await view(), { cause });
  await demand.round();
  expect(await demand.statesOf(demand.assignmentsOf(world, source))).toEqual(['ended', 'ended']);
});

test('where a review policy demands it, a prepared ad waits for a person, and is assigned after the approval', async () => {
  const world = createWorld(management);
  await world.activePolicy({
    name: 'Two pairs of eyes',
    kind: 'review',
    rules: { rules: [{ command_types: ['creative.submit'], mode: 'single', reviewer_roles: ['reviewer'] }] },
  });
  demand.answers(vast(inlineAd()));
  const source = await demand.asked(world);
  await demand.prepare(world, source);
  expect(await demand.statesOf(demand.creativesOf(world, source))).toEqual(['processing']);
  expect(await demand.assignmentsOf(world, source)).toEqual([]);
  const [creative] = await demand.creativesOf(world, source);
  const waiting = await world.send(
    'creative.submit',
    { ...creative!, resource_type: 'creatives' },
    { disclosure: 'Ad' },
  );
  await world.send('review.approve', await world.taskOf(waiting.id), {}, world.reviewer);
  await management.runApproved(world.workspaceId, (await world.taskOf(waiting.id)).id);
  await demand.round();
  expect(await demand.statesOf(demand.creativesOf(world, source))).toEqual(['approved']);
  expect(await demand.statesOf(demand.assignmentsOf(world, source))).toEqual(['active']);
});

test('what is rejected never comes back, and an assignment that a person paused stays paused', async () => {
  const world = createWorld(management);
  demand.answers(vast(inlineAd({ id: 'a' }), inlineAd({ id: 'b' })));
  const source = await demand.asked(world);
  await demand.prepare(world, source);
  const [rejected, kept] = (await demand.creativesOf(world, source)).map((row) => ({
    ...row,
    resource_type: 'creatives',
  }));
  await world.send('creative.reject', rejected!, { cause: 'Misleading.' });
  const paused = (await demand.assignmentsOf(world, source)).find(
    ({ attributes }) => attributes.creative_id === kept!.id,
  )!;
  await world.send('creative_assignment.pause', { ...paused, resource_type: 'creative_assignments' }, {});
  const before = await demand.changeCount(world);
  world.ahead(20 * minute);
  await demand.round();
  expect(await demand.changeCount(world)).toBe(before);
});

test('two workspaces with the same source have their own creatives, and neither sees the other’s', async () => {
  const [world, other] = [createWorld(management), createWorld(management)];
  demand.answers(vast(inlineAd()));
  const source = await demand.asked(world);
  const theirs = await demand.asked(other);
  expect(await demand.creativesOf(world, source)).toHaveLength(1);
  expect(await demand.creativesOf(other, theirs)).toHaveLength(1);
  expect(await demand.creativesOf(other, source)).toEqual([]);
  const foreign = refusalOf(other.send('creative.import', null, other.demandAdOf(source), service('management')));
  expect(await foreign).toMatchObject({ code: 'link_not_found' });
});

test('in a suspended workspace no source is asked', async () => {
  const world = createWorld(management);
  await world.provisioned();
  demand.answers(vast(inlineAd()));
  await demand.asked(world);
  const before = host.requests.length;
  const { rows } = await management.pool.query<ResourceView>('select * from resource where id = $1', [
    world.workspaceId,
  ]);
  await world.send('workspace.suspend', rows[0]!, { cause: 'Unpaid.' }, service('operator'));
  world.ahead(20 * minute);
  await demand.round();
  expect(host.requests).toHaveLength(before);
});
