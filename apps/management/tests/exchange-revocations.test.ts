import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { until } from '@longwave/test-kit';
import { startExchangeHost, type ExchangeHost } from './_exchange-host.ts';
import { hour, jobOf, service } from './_values.ts';
import type { World } from './_world.ts';

let host: ExchangeHost;
beforeAll(async () => {
  host = await startExchangeHost();
});
afterAll(async () => {
  expect(host.errors).toEqual([]);
  await host[Symbol.asyncDispose]();
});

const applied = (world: World, { id }: { readonly id: string }) =>
  until(() => host.read(world, 'content_revocations', id), { holds: (row) => row.lifecycle_state === 'applied' });

const withinMs = 5_000;

test.each(['stop_new', 'stop_all'] as const)(
  'within 5 s after a revocation with mode %s its version serves no new play; only "stop_all" ends those that have begun',
  async (mode) => {
    const { world, platform } = await host.joined();
    const first = await host.served(world, platform, 1);
    const begun = performance.now();
    const revocation = await world.revocation(platform, 'ep-1', { version: 1, mode });
    const done = await applied(world, revocation);
    expect(performance.now() - begun).toBeLessThan(withinMs);
    expect(done.attributes).toMatchObject({ snapshot_id: first.id });
    const episode = await host.episodeOf(world, first);
    expect(episode.lifecycle_state).toBe('unpublished');
    expect(episode.attributes.plays_end_before !== undefined).toBe(mode === 'stop_all');
    expect(await host.read(world, 'content_snapshots', first.id)).toMatchObject({
      lifecycle_state: 'revoked',
      attributes: { revocation_id: revocation.id, state_reason: 'A wrong file.' },
    });
  },
);

test('a version that is ready after a revocation serves again, and the revoked one cannot come back', async () => {
  const { world, platform } = await host.joined();
  const first = await host.served(world, platform, 1);
  await applied(world, await world.revocation(platform, 'ep-1', { version: 1 }));
  const hosting = { snapshot_id: first.id };
  const back = world.send('episode.host_version', await host.episodeOf(world, first), hosting, service('management'));
  await expect(back).rejects.toMatchObject({ code: 'state_not_allowed' });
  const second = await host.served(world, platform, 2);
  expect(await host.episodeOf(world, first)).toMatchObject({
    lifecycle_state: 'published',
    attributes: { snapshot_id: second.id },
  });
});

test('a revocation of an older version leaves the one that serves, and with mode "stop_all" ends the plays of the older', async () => {
  const { world, platform } = await host.joined();
  const first = await host.served(world, platform, 1);
  const second = await host.served(world, platform, 2);
  const older = await host.stateOf(world, first, 'superseded');
  world.ahead(hour);
  await applied(world, await world.revocation(platform, 'ep-1', { version: 1 }));
  expect((await host.episodeOf(world, second)).attributes.plays_end_before).toBeUndefined();
  await applied(world, await world.revocation(platform, 'ep-1', { version: 1, mode: 'stop_all' }));
  const episode = await host.episodeOf(world, second);
  expect(episode).toMatchObject({ lifecycle_state: 'published', attributes: { snapshot_id: second.id } });
  const ended = Date.parse(episode.attributes.plays_end_before!) - Date.parse(older.attributes.superseded_at!);
  expect(ended).toBe(5_000);
});

test('the plays that a first revocation let finish are ended by a second one with mode "stop_all"', async () => {
  const { world, platform } = await host.joined();
  const first = await host.served(world, platform, 1);
  await applied(world, await world.revocation(platform, 'ep-1', { version: 1 }));
  expect((await host.episodeOf(world, first)).attributes.plays_end_before).toBeUndefined();
  await applied(world, await world.revocation(platform, 'ep-1', { version: 1, mode: 'stop_all' }));
  expect((await host.episodeOf(world, first)).attributes.plays_end_before).toBeDefined();
});

test('the encoding of a revoked version is stopped, and what it had done is not published', async () => {
  const { world, platform } = await host.joined();
  const snapshot = await world.snapshot(platform, 'ep-1', 1, { audio_master: host.master('/stopped.mp3') });
  const { attributes } = await host.stateOf(world, snapshot, 'encoding');
  await applied(world, await world.revocation(platform, 'ep-1', { version: 1 }));
  await until(() => host.read(world, 'productions', attributes.production_id!), {
    holds: (row) => row.lifecycle_state === 'initial',
  });
  expect((await jobOf(host.management.pool, attributes.production_id!))?.stop_requested).toBe(true);
  expect((await host.episodeOf(world, { attributes })).lifecycle_state).toBe('draft');
});

test('a revocation waits for its time; then it takes effect without another message', async () => {
  const { world, platform } = await host.joined();
  const first = await host.served(world, platform, 1);
  const revocation = await world.revocation(platform, 'ep-1', { version: 1, at: world.inTime(hour) });
  await host.followed.caughtUp(world);
  expect((await host.episodeOf(world, first)).lifecycle_state).toBe('published');
  world.ahead(hour + 1000);
  await applied(world, revocation);
  expect((await host.episodeOf(world, first)).lifecycle_state).toBe('unpublished');
});

test('a version that was revoked before it was sent is refused, and the revocation is applied all the same', async () => {
  const { world, platform } = await host.joined();
  await applied(world, await world.revocation(platform, 'ep-1', { version: 3 }));
  await expect(world.snapshot(platform, 'ep-1', 3)).rejects.toMatchObject({ code: 'source_revoked', status: 409 });
  await world.snapshot(platform, 'ep-1', 4, { audio_master: host.master('/four.mp3') });
});

test('of a revocation and a version that becomes ready at the same time, the revocation wins', async () => {
  const rounds = Array.from({ length: 6 }, async (_, round) => {
    const { world, platform } = await host.joined();
    const snapshot = await world.snapshot(platform, 'ep-1', 1, { audio_master: host.master(`/race-${round}.mp3`) });
    const { attributes } = await host.stateOf(world, snapshot, 'encoding');
    const [revocation] = await Promise.all([
      world.revocation(platform, 'ep-1', { version: 1 }),
      // It may have been stopped before.
      host.encode(world, snapshot).catch(() => undefined),
    ]);
    await applied(world, revocation);
    await host.followed.caughtUp(world);
    expect((await host.read(world, 'content_snapshots', snapshot.id)).lifecycle_state).toBe('revoked');
    expect((await host.episodeOf(world, { attributes })).lifecycle_state).not.toBe('published');
  });
  await Promise.all(rounds);
});

test('a suspended workspace takes no version, but revocations', async () => {
  const { world, platform } = await host.joined();
  const first = await host.served(world, platform, 1);
  await world.suspended();
  await expect(world.snapshot(platform, 'ep-1', 2)).rejects.toMatchObject({ code: 'state_not_allowed' });
  await applied(world, await world.revocation(platform, 'ep-1', { version: 1, mode: 'stop_all' }));
  expect((await host.episodeOf(world, first)).lifecycle_state).toBe('unpublished');
});

/** Copies a revocation so often, each about another subject. */
const copyRevocation = ({ id }: { readonly id: string }, times: number) =>
  host.management.pool.query(
    `insert into resource (id, workspace_id, resource_type, version, lifecycle_state, attributes, digest, operation_id, created_at, updated_at)
     select id || '-' || n, workspace_id, resource_type, version, lifecycle_state, attributes || jsonb_build_object('source_id', 'copy-' || n),
       digest, operation_id, created_at, updated_at from resource, generate_series(1, $2::int) as n where id = $1`,
    [id, times],
  );

test('500 revocations of one platform that are due earlier do not hold up that of another, which is carried out in the same round', async () => {
  const [{ world, platform }, other] = [await host.joined(), await host.joined()];
  const at = Date.parse(world.inTime(hour));
  const first = await world.revocation(platform, 'many', { version: 1, at: new Date(at).toISOString() });
  await copyRevocation(first, 499);
  const late = new Date(at + 1000).toISOString();
  const single = await other.world.revocation(other.platform, 'one', { version: 1, at: late });
  world.ahead(hour + 2000);
  const { updated_at: appliedAt } = await applied(other.world, single);
  const { rows } = await host.management.pool.query<{ readonly earlier: number }>(
    `select count(*)::int as earlier from resource where workspace_id = $1 and lifecycle_state = 'applied' and updated_at < $2`,
    [world.workspaceId, appliedAt],
  );
  // One round carries out five of a platform.
  expect(rows[0]!.earlier).toBeLessThanOrEqual(5);
});

test('a revocation that is to wait is refused beyond 10,000 of its authority that wait; one that takes effect at once is taken', async () => {
  const { world, platform } = await host.joined();
  const at = world.inTime(1000 * hour);
  await copyRevocation(await world.revocation(platform, 'many', { version: 1, at }), 9_998);
  await world.revocation(platform, 'last', { version: 1, at });
  await expect(world.revocation(platform, 'further', { version: 1, at })).rejects.toMatchObject({
    ...{ code: 'policy_rejected', status: 422 },
    message: expect.stringContaining('Send this one when it is to take effect.'),
  });
  await applied(world, await world.revocation(platform, 'further', { version: 1 }));
});
