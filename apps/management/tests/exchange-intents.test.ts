import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Attributes } from '@longwave/command-catalog';
import { listLinked } from '@longwave/command-pipeline';
import { until } from '@longwave/test-kit';
import type { Platform } from './_exchange.ts';
import { startExchangeHost, type ExchangeHost } from './_exchange-host.ts';
import { hour } from './_values.ts';
import type { World } from './_world.ts';

let host: ExchangeHost;
beforeAll(async () => {
  host = await startExchangeHost();
});
afterAll(async () => {
  expect(host.errors).toEqual([]);
  await host[Symbol.asyncDispose]();
});

type Intent = Attributes<'serving_intents'>;

async function find({ workspaceId }: World, { authorityId }: Platform) {
  const { pool } = host.management;
  return (await listLinked(pool, workspaceId, 'serving_intents', 'authority', authorityId))[0];
}

/** Waits until the intent of a platform is as expected. */
const intent = (world: World, platform: Platform, holds: (attributes: Intent) => boolean) =>
  until(() => find(world, platform), { holds: (row) => row !== undefined && holds(row.attributes) });

const first = ({ actions }: Intent) => actions[0]!;

test('an intent says what serves at each alias, and each change is a version of it that names the one before', async () => {
  const { world, platform } = await host.joined();
  await world.surface(platform);
  const alias = await world.alias(platform);
  const before = await intent(world, platform, ({ actions }) => actions.length === 1);
  expect(before.attributes).toMatchObject({ plan_digest: null, supersedes: 0 });
  expect(before.attributes.actions).toEqual([{ alias: 'one', source_id: 'ep-1', presentation: 'none' }]);
  await host.served(world, platform, 1);
  const serving = await intent(world, platform, (row) => first(row).rendition_sha256 !== undefined);
  expect(first(serving.attributes)).toEqual({
    ...{ alias: 'one', source_id: 'ep-1', source_version: 1, presentation: 'stitched' },
    rendition_sha256: world.rendition.sha256,
  });
  expect(serving.attributes.supersedes).toBe(serving.version - 1);
  const route_policy = { surface_id: 'app', route: 'ad_free', when_unavailable: 'gone' };
  const revised = await world.revisedAlias(platform, alias, { route_policy });
  await intent(world, platform, (row) => first(row).presentation === 'clean');
  const paused = await world.revisedAlias(platform, revised, { route_policy, state: 'paused' });
  await intent(world, platform, (row) => first(row).presentation === 'none');
  await world.revisedAlias(platform, paused, { state: 'retired' });
  await intent(world, platform, ({ actions }) => actions.length === 0);
});

test('what a revocation takes away is in no intent any more', async () => {
  const { world, platform } = await host.joined();
  await world.surface(platform);
  await world.alias(platform);
  await host.served(world, platform, 1);
  await intent(world, platform, (row) => first(row).presentation === 'stitched');
  await world.revocation(platform, 'ep-1', { version: 1 });
  await intent(world, platform, (row) => first(row).presentation === 'none');
});

test.each(['episode.unpublish', 'episode.archive', 'podcast.unpublish', 'podcast.archive'] as const)(
  'an episode that the workspace hides by “%s” serves nothing, and where its alias says so the file of the platform, unless it is archived',
  async (how) => {
    const { world, platform } = await host.joined();
    await world.surface(platform);
    const policy = { surface_id: 'app', route: 'platform_controlled' };
    await world.alias(platform, 'one', { route_policy: { ...policy, when_unavailable: 'gone' } });
    await world.alias(platform, 'two', { route_policy: { ...policy, when_unavailable: 'source' } });
    const { id } = await host.episodeOf(world, await host.served(world, platform, 1));
    const presentations = ({ actions }: Intent) => actions.map(({ presentation }) => presentation).join();
    await intent(world, platform, (row) => presentations(row) === 'stitched,stitched');
    const episode = await host.read(world, 'episodes', id);
    const podcast = await host.read(world, 'podcasts', episode.attributes.podcast_id);
    await world.send(how, how.startsWith('episode') ? episode : podcast, {});
    const hidden = how.endsWith('archive') ? 'none,none' : 'none,source';
    await intent(world, platform, (row) => presentations(row) === hidden);
  },
);

test('after the rights of what an address serves have ended, its platform serves it, whatever the policy', async () => {
  const { world, platform } = await host.joined();
  await world.surface(platform);
  const policy = (route: string, when_unavailable: string) => ({
    route_policy: { surface_id: 'app', route, when_unavailable },
  });
  await world.alias(platform, 'a-ads', policy('platform_controlled', 'gone'));
  await world.alias(platform, 'b-clean', policy('clean', 'source'));
  await world.alias(platform, 'c-source', policy('source', 'gone'));
  await world.alias(platform, 'd-paused', { ...policy('clean', 'gone'), state: 'paused' });
  const episode = await host.episodeOf(
    world,
    await host.served(world, platform, 1, { rights: { until: world.inTime(hour) } }),
  );
  const said = ({ actions }: Intent) =>
    actions.map(({ presentation, source_version: version = '' }) => `${presentation} ${version}`.trim()).join();
  await intent(world, platform, (row) => said(row) === 'stitched 1,clean 1,source 1,none');
  await using _clock = host.followed.runClock();
  world.ahead(hour + 1000);
  await intent(world, platform, (row) => said(row) === 'source 1,source 1,source 1,none');
  await until(() => host.read(world, 'episodes', episode.id), {
    holds: (row) => row.lifecycle_state === 'unpublished',
  });
  const second = await world.snapshot(platform, 'ep-1', 2, { audio_master: host.master('/late.mp3', 'late') });
  await intent(world, platform, (row) => said(row) === 'source 1,source 1,source 2,none');
  await host.encode(world, second);
  await intent(world, platform, (row) => said(row) === 'stitched 2,clean 2,source 2,none');
});

test('an archived episode serves nothing, also when its rights have ended and its alias leads to the platform', async () => {
  const { world, platform } = await host.joined();
  await world.surface(platform);
  const policy = { surface_id: 'app', route: 'source', when_unavailable: 'source' };
  await world.alias(platform, 'one', { route_policy: policy });
  const served = await host.served(world, platform, 1, { rights: { until: world.inTime(hour) } });
  await intent(world, platform, (row) => first(row).presentation === 'source');
  // What follows the platform may still change the episode.
  await host.followed.caughtUp(world);
  await world.send('episode.archive', await host.episodeOf(world, served), {});
  await intent(world, platform, (row) => first(row).presentation === 'none');
  await using _clock = host.followed.runClock();
  world.ahead(hour + 1000);
  await host.stateOf(world, served, 'lapsed');
  await host.followed.caughtUp(world);
  await intent(world, platform, (row) => first(row).presentation === 'none');
});

test('a file that its platform has revoked serves nowhere, also where an alias leads to the platform', async () => {
  const { world, platform } = await host.joined();
  await world.surface(platform);
  const policy = { surface_id: 'app', route: 'source', when_unavailable: 'source' };
  await world.alias(platform, 'one', { route_policy: policy });
  await world.snapshot(platform, 'ep-1', 1, { audio_master: host.master('/taken.mp3', 'taken') });
  await intent(world, platform, (row) => first(row).presentation === 'source');
  await world.revocation(platform, 'ep-1', { version: 1 });
  await intent(world, platform, (row) => first(row).presentation === 'none');
});

test('a podcast of a platform that the workspace has hidden is published again, though it has no feed here', async () => {
  const { world, platform } = await host.joined();
  await world.surface(platform);
  await world.alias(platform);
  const episode = await host.episodeOf(world, await host.served(world, platform, 1));
  const podcast = () => host.read(world, 'podcasts', episode.attributes.podcast_id);
  await world.send('podcast.unpublish', await podcast(), {});
  await intent(world, platform, (row) => first(row).presentation === 'source');
  await world.send('podcast.publish', await podcast(), {});
  await intent(world, platform, (row) => first(row).presentation === 'stitched');
});

test('break plans, halts and serving plans of the workspace are in the intent as they take effect', async () => {
  const { world, platform } = await host.joined();
  await world.surface(platform);
  await world.alias(platform);
  await host.served(world, platform, 1);
  const plan = await world.publishedBreakPlan();
  await intent(world, platform, (row) => first(row).break_plan?.id === plan.id);
  const halt = await world.send('serving.halt', null, { scope: { kind: 'workspace' }, cause: 'A wrong ad.' });
  await intent(world, platform, (row) => first(row).halt === halt.id);
  const ready = await world.readyPlan();
  await world.send('serving_plan.publish', ready, {});
  const { plan_digest: digest } = (await intent(world, platform, (row) => row.plan_digest !== null)).attributes;
  expect(digest).toBe(ready.attributes['digest']);
  const later = await world.readyPlan(world.inTime(hour), 'c'.repeat(64));
  await world.send('serving_plan.publish', later, {});
  await host.followed.caughtUp(world);
  expect((await find(world, platform))?.attributes.plan_digest).toBe(digest);
  world.ahead(hour + 1000);
  await intent(world, platform, (row) => row.plan_digest === later.attributes['digest']);
});

test('an episode without ads is clean, whatever its alias asks for', async () => {
  const { world, platform } = await host.joined();
  await world.surface(platform);
  await world.alias(platform);
  await host.served(world, platform, 1, { no_ads: true });
  const row = await intent(world, platform, (each) => first(each).rendition_sha256 !== undefined);
  expect(first(row.attributes).presentation).toBe('clean');
});

test('events that change nothing at the aliases make no version', async () => {
  const { world, platform } = await host.joined();
  await world.surface(platform);
  await world.alias(platform);
  await host.served(world, platform, 1);
  const { version } = await intent(world, platform, (row) => first(row).rendition_sha256 !== undefined);
  const scope = { kind: 'show', podcast_id: (await world.podcast()).id };
  await world.send('serving.halt', null, { scope, cause: 'Another show.' });
  await host.followed.caughtUp(world);
  await until(async () => {
    const { rowCount } = await host.management.pool.query('select from serving_intent_mark where workspace_id = $1', [
      world.workspaceId,
    ]);
    return rowCount === 0;
  });
  expect((await find(world, platform))?.version).toBe(version);
});
