import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { transaction } from '@longwave/postgres';
import { until } from '@longwave/test-kit';
import { startExchangeHost, type ExchangeHost } from './_exchange-host.ts';
import type { Platform } from './_exchange.ts';
import { userIn } from './_authority.ts';
import { hour, service } from './_values.ts';
import { createWorld, type World } from './_world.ts';

let host: ExchangeHost;
beforeAll(async () => {
  host = await startExchangeHost();
});
afterAll(() => host[Symbol.asyncDispose]());

const keyRefused = { code: 'key_revoked', status: 422 };
const stateRefused = { code: 'state_not_allowed', status: 422 };

describe('the grant of a platform', () => {
  test('has the role “machine”, which no person has, and speaks for the whole workspace', async () => {
    const world = createWorld(host.management);
    const refused = { code: 'validation_failed' };
    const podcast_ids = [(await world.podcast()).id];
    await expect(world.proposed({ client_id: 'platform' })).rejects.toMatchObject(refused);
    await expect(world.proposed(undefined, { role: 'machine' })).rejects.toMatchObject(refused);
    const narrow = { role: 'machine', scope_filter: { podcast_ids } };
    await expect(world.proposed({ client_id: 'platform' }, narrow)).rejects.toMatchObject(refused);
  });

  test('is activated by an admin, and by nobody who is none', async () => {
    const world = createWorld(host.management);
    const grant = await world.proposedPlatform();
    const stranger = world.asParty(userIn(world.workspaceId, ['viewer', 'publisher']).actor);
    const denied = { code: 'permission_denied' };
    await expect(world.send('authority_grant.activate', grant, {}, world.exchange)).rejects.toMatchObject(denied);
    const { isParty: _party, ...viewer } = stranger as typeof stranger & { isParty?: boolean };
    await expect(world.send('authority_grant.activate', grant, {}, viewer)).rejects.toMatchObject(denied);
    const active = await world.send('authority_grant.activate', grant, {});
    expect(active).toMatchObject({ lifecycle_state: 'active' });
    expect(active.attributes['grantee_user_id']).toBeUndefined();
  });
});

describe('a message', () => {
  /** Each kind of message, sent under a platform's authority. */
  const messages: readonly (readonly [string, (world: World, platform: Platform) => Promise<unknown>])[] = [
    ['a version', (w, p) => w.snapshot(p)],
    ['a revocation', (w, p) => w.revocation(p, 'ep-1', { version: 1 })],
    ['a surface', (w, p) => w.surface(p)],
    ['an alias', (w, p) => w.alias(p)],
    ['evidence', (w, p) => w.report(p)],
  ];

  test.each(messages)(
    'about %s is refused when its key is revoked, of another authority, or not in its time',
    async (_, sent) => {
      const world = createWorld(host.management);
      const [platform, other] = [await world.platform(), await world.platform()];
      await expect(sent(world, { ...platform, keyId: other.keyId })).rejects.toMatchObject(keyRefused);
      const register = async (more: object) =>
        world.send(
          'machine_key.activate',
          await world.send(
            'machine_key.register',
            null,
            await world.registration(platform.authorityId, more),
            service('operator'),
          ),
          {},
        );
      const early = await register({ not_before: world.inTime(hour) });
      await expect(sent(world, { ...platform, keyId: early.id })).rejects.toMatchObject(keyRefused);
      const brief = await register({ not_after: world.inTime(hour / 60) });
      const key = await register({});
      await world.send('machine_key.revoke', key, { cause: 'Lost.' });
      await expect(sent(world, { ...platform, keyId: key.id })).rejects.toMatchObject(keyRefused);
      world.ahead(hour / 30);
      await expect(sent(world, { ...platform, keyId: brief.id })).rejects.toMatchObject(keyRefused);
    },
  );

  test.each(messages)('about %s is refused when its authority is not active', async (_, sent) => {
    const world = createWorld(host.management);
    const platform = await world.platform();
    const grant = { resource_type: 'authority_grants', id: platform.authorityId, version: 2 };
    await world.send('authority_grant.revoke', grant, { cause: 'The contract has ended.' });
    await expect(sent(world, platform)).rejects.toMatchObject(stateRefused);
  });

  test('that is under way while its key is revoked waits for the revocation and is refused', async () => {
    const world = createWorld(host.management);
    const platform = await world.platform();
    const { attempt } = await transaction(host.management.pool, async (tx) => {
      await tx.query('select from resource where id = $1 for update', [platform.keyId]);
      const sent = world.snapshot(platform).then(
        () => 'accepted',
        (error: { code: string }) => error.code,
      );
      await until(async () => {
        const { rowCount } = await host.management.pool.query(
          `select from pg_stat_activity where wait_event_type = 'Lock' and query like '%for share%'`,
        );
        return rowCount !== 0;
      });
      await tx.query(`update resource set lifecycle_state = 'revoked' where id = $1`, [platform.keyId]);
      return { attempt: sent };
    });
    expect(await attempt).toBe('key_revoked');
  });

  test('of a retiring key is taken until its overlap is over', async () => {
    const world = createWorld(host.management);
    const platform = await world.platform();
    const successor = await world.activeKey(platform.authorityId);
    const key = { resource_type: 'machine_keys', id: platform.keyId, version: 2 };
    const retirement = { successor_id: successor.id, overlap_until: world.inTime(hour) };
    await world.send('machine_key.retire', key, retirement);
    await world.snapshot(platform);
    world.ahead(hour + 1000);
    await expect(world.snapshot(platform, 'ep-1', 2)).rejects.toMatchObject(keyRefused);
  });

  test('about an earlier version of an episode than one that was taken is refused', async () => {
    const world = createWorld(host.management);
    const platform = await world.platform();
    await world.snapshot(platform, 'ep-1', 3);
    for (const version of [2, 3])
      await expect(world.snapshot(platform, 'ep-1', version)).rejects.toMatchObject({
        code: 'source_version_regression',
      });
  });
});

describe('a rotation', () => {
  const rotate = async (world: World, platform: Platform, more: object = {}, signer?: string) => {
    const successor = await world.activeKey(platform.authorityId);
    const rotation = {
      ...{ retired_key_id: platform.keyId, successor_key_id: successor.id },
      ...{ overlap_until: world.inTime(24 * hour), cause: 'A yearly change.', ...more },
    };
    const source = world.source({ ...platform, keyId: signer ?? successor.id }, platform.authorityId);
    const grant = { resource_type: 'authority_grants', id: platform.authorityId, version: 2 };
    await world.send('authority_grant.record_rotation', grant, { ...source, rotation }, world.exchange);
    return successor;
  };

  test('retires the former key, which holds until the end of the overlap', async () => {
    const world = createWorld(host.management);
    const platform = await world.platform();
    const successor = await rotate(world, platform);
    const key = await until(() => host.read(world, 'machine_keys', platform.keyId), {
      holds: (row) => row.lifecycle_state === 'retiring',
    });
    expect(key.attributes).toMatchObject({ successor_id: successor.id });
    await world.snapshot(platform);
    await world.snapshot({ ...platform, keyId: successor.id }, 'ep-2');
  });

  test('is signed by its successor, names keys of its own authority, and overlaps within the time of the former', async () => {
    const world = createWorld(host.management);
    const [platform, other] = [await world.platform(), await world.platform()];
    const refused = { code: 'validation_failed' };
    await expect(rotate(world, platform, {}, platform.keyId)).rejects.toMatchObject(refused);
    await expect(rotate(world, platform, { retired_key_id: other.keyId })).rejects.toMatchObject(refused);
    await expect(rotate(world, platform, { overlap_until: world.inTime(-hour) })).rejects.toMatchObject(refused);
    await expect(rotate(world, platform, { overlap_until: world.inTime(900 * hour) })).rejects.toMatchObject(refused);
  });

  /** Records that one key takes the place of another, and signs. */
  const record = async (world: World, platform: Platform, retired: string, successor: string) => {
    const { version } = await host.read(world, 'authority_grants', platform.authorityId);
    const rotation = { retired_key_id: retired, successor_key_id: successor, overlap_until: world.inTime(hour) };
    const source = world.source({ ...platform, keyId: successor }, platform.authorityId);
    const grant = { resource_type: 'authority_grants', id: platform.authorityId, version };
    const changes = { ...source, rotation: { ...rotation, cause: 'Stolen.' } };
    await world.send('authority_grant.record_rotation', grant, changes, world.exchange);
  };
  const stateOf = async (world: World, id: string) => (await host.read(world, 'machine_keys', id)).lifecycle_state;
  const retiring = (world: World, id: string) =>
    until(() => stateOf(world, id), { holds: (state) => state === 'retiring' });

  test('to a key that is being retired itself is refused, and one to an active key retires the stolen one', async () => {
    const world = createWorld(host.management);
    const platform = await world.platform();
    const [own, stolen] = [(await world.activeKey(platform.authorityId)).id, platform.keyId];
    await record(world, platform, own, stolen);
    await retiring(world, own);
    await expect(record(world, platform, stolen, own)).rejects.toMatchObject({
      code: 'validation_failed',
      message: expect.stringContaining('Sign with an active key'),
      context: { errors: [{ path: '/changes/rotation/successor_key_id', code: 'not_active' }] },
    });
    await record(world, platform, stolen, (await world.activeKey(platform.authorityId)).id);
    await retiring(world, stolen);
  });

  test('retires its key also when its successor was retired or revoked right after it', async () => {
    const world = createWorld(host.management);
    const platform = await world.platform();
    const { id: own } = await world.activeKey(platform.authorityId);
    const { id: third } = await world.activeKey(platform.authorityId);
    // Nothing is retired before both rotations are accepted.
    await transaction(host.management.pool, async (tx) => {
      await tx.query('select from resource where id = any($1) for share', [[own, platform.keyId, third]]);
      await record(world, platform, own, platform.keyId);
      await record(world, platform, platform.keyId, own);
    });
    for (const id of [own, platform.keyId]) await retiring(world, id);
    const { id: fourth } = await world.activeKey(platform.authorityId);
    await transaction(host.management.pool, async (tx) => {
      await tx.query('select from resource where id = $1 for share', [third]);
      await record(world, platform, third, fourth);
      const { version } = await host.read(world, 'machine_keys', fourth);
      const successor = { resource_type: 'machine_keys', id: fourth, version };
      await world.send('machine_key.revoke', successor, { cause: 'Stolen too.' });
    });
    await retiring(world, third);
  });

  test('from a key that was never put into use is refused', async () => {
    const world = createWorld(host.management);
    const platform = await world.platform();
    const pending = await world.pendingKey(platform.authorityId);
    await expect(record(world, platform, pending.id, platform.keyId)).rejects.toMatchObject({
      code: 'validation_failed',
      context: { errors: [{ path: '/changes/rotation/retired_key_id', code: 'not_active' }] },
    });
  });

  test('from a key that is revoked is recorded, and the key stays revoked', async () => {
    const world = createWorld(host.management);
    const platform = await world.platform();
    const key = { resource_type: 'machine_keys', id: platform.keyId, version: 2 };
    await world.send('machine_key.revoke', key, { cause: 'Lost.' });
    await rotate(world, platform);
    await host.followed.caughtUp(world);
    expect((await host.read(world, 'machine_keys', platform.keyId)).lifecycle_state).toBe('revoked');
  });
});

describe('an alias', () => {
  test('keeps its address for ever, also when it is retired, and its version follows the one before', async () => {
    const world = createWorld(host.management);
    const platform = await world.platform();
    await world.surface(platform);
    const alias = await world.alias(platform);
    for (const more of [
      { host: 'another' },
      { path_slug: 'two' },
      { supersedes_version: 7 },
      { supersedes_version: null },
    ])
      await expect(world.revisedAlias(platform, alias, more)).rejects.toMatchObject({ code: 'validation_failed' });
    const taken = { code: 'value_taken' };
    await expect(world.alias(platform, 'two', { path_slug: 'one' })).rejects.toMatchObject(taken);
    await expect(world.alias(platform, 'one', { path_slug: 'two' })).rejects.toMatchObject(taken);
    const retired = await world.revisedAlias(platform, alias, { state: 'retired' });
    await expect(world.revisedAlias(platform, retired)).rejects.toMatchObject(stateRefused);
    await expect(world.alias(platform, 'two', { path_slug: 'one' })).rejects.toMatchObject(taken);
  });

  test('lies at a host that no other workspace has', async () => {
    const [world, other] = [createWorld(host.management), createWorld(host.management)];
    const [platform, stranger] = [await world.platform(), await other.platform()];
    await world.surface(platform);
    await other.surface(stranger);
    const { attributes } = await world.alias(platform);
    await expect(other.alias(stranger, 'one', { host: attributes['host'] })).rejects.toMatchObject({
      code: 'value_taken',
    });
  });

  test('is refused beyond 10,000 of an authority that are not retired, so that an intent names every one', async () => {
    const world = createWorld(host.management);
    const platform = await world.platform();
    const last = await world.alias(platform, 'one', { state: 'paused' });
    await host.management.pool.query(
      `insert into resource (id, workspace_id, resource_type, version, lifecycle_state, attributes, digest, operation_id, created_at, updated_at)
       select id || n, workspace_id, resource_type, version, 'paused', attributes || jsonb_build_object('alias', 'one-' || n), digest,
         operation_id, created_at, updated_at from resource, generate_series(1, 9998) as n where id = $1`,
      [last.id],
    );
    await world.alias(platform, 'two', { state: 'paused' });
    const more = () => world.alias(platform, 'three', { state: 'paused' });
    await expect(more()).rejects.toMatchObject({
      ...{ code: 'policy_rejected', status: 422 },
      message: expect.stringContaining('Retire one that nobody uses'),
    });
    await world.alias(platform, 'four', { state: 'retired' });
    await world.revisedAlias(platform, last, { state: 'retired' });
    await more();
  });

  test('is active only for a surface that its platform vouches for now', async () => {
    const world = createWorld(host.management);
    const platform = await world.platform();
    const refused = { code: 'capability_not_supported' };
    await expect(world.alias(platform)).rejects.toMatchObject(refused);
    const paused = await world.alias(platform, 'one', { state: 'paused' });
    const surface = await world.surface(platform, 'app', { valid_until: world.inTime(hour) });
    const active = await world.revisedAlias(platform, paused);
    await using _clock = host.followed.runClock();
    world.ahead(hour + 1000);
    await until(() => host.read(world, 'surface_capabilities', surface.id), {
      holds: (row) => row.lifecycle_state === 'lapsed',
    });
    const again = await world.revisedAlias(platform, active, { state: 'paused' });
    await expect(world.revisedAlias(platform, again)).rejects.toMatchObject(refused);
  });
});

test('a later revision of a report supersedes the earlier ones of the same source, kind and period, in whatever order they come', async () => {
  const world = createWorld(host.management);
  const platform = await world.platform();
  const second = await world.report(platform, 2);
  const [first, third] = [await world.report(platform, 1), await world.report(platform, 3)];
  const period = { start: '2026-11-02T00:00:00Z', end: '2026-11-03T00:00:00Z' };
  const others = [await world.report(platform, 1, { kind: 'engagement' }), await world.report(platform, 1, { period })];
  const state = async (id: string) => (await host.read(world, 'platform_evidence', id)).lifecycle_state;
  for (const { id } of [first, second]) await until(() => state(id), { holds: (found) => found === 'superseded' });
  await host.followed.caughtUp(world);
  for (const { id } of [third, ...others]) expect(await state(id)).toBe('received');
});

describe('a report of a platform', () => {
  const taken = { code: 'value_taken', status: 422 };

  test('is refused when one of the same source, kind, period and revision was taken, also under another id or once it is superseded', async () => {
    const world = createWorld(host.management);
    const platform = await world.platform();
    const first = await world.report(platform, 1);
    await expect(world.report(platform, 1)).rejects.toMatchObject(taken);
    const again = (more: object = {}) =>
      world.send(
        'platform_evidence.accept',
        null,
        { ...world.source(platform, 'another-id'), evidence: world.evidence(1, more) },
        world.exchange,
      );
    await expect(again()).rejects.toMatchObject(taken);
    // The same instants, written otherwise, with other numbers.
    const period = { start: '2026-11-01T01:00:00+01:00', end: '2026-11-02T00:00:00.000Z' };
    const rows_digest = `sha256:${'c'.repeat(64)}`;
    await expect(again({ period, rows_digest, finality: 'final' })).rejects.toMatchObject(taken);
    await world.report(platform, 2);
    await until(async () => (await host.read(world, 'platform_evidence', first.id)).lifecycle_state, {
      holds: (state) => state === 'superseded',
    });
    await expect(again()).rejects.toMatchObject(taken);
    for (const more of [
      { source_label: 'platform-app' },
      { kind: 'engagement' },
      { period: { start: '2026-11-01T00:00:00Z', end: '2026-11-03T00:00:00Z' } },
    ])
      await again(more);
    await world.report(await world.platform(), 1);
  });

  test('is taken once when two of the same key come at once', async () => {
    const world = createWorld(host.management);
    const platform = await world.platform();
    const sent = ['a', 'b', 'c', 'd'].map((sourceId) =>
      world.send(
        'platform_evidence.accept',
        null,
        { ...world.source(platform, sourceId), evidence: world.evidence() },
        world.exchange,
      ),
    );
    const results = await Promise.allSettled(sent);
    const refusals = results.flatMap((each) => (each.status === 'rejected' ? [each.reason as unknown] : []));
    expect(refusals).toEqual([1, 2, 3].map(() => expect.objectContaining(taken)));
  });
});
