import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { Actor } from '@longwave/command-pipeline';
import type { ResourceView } from '@longwave/events';
import { newId } from '@longwave/ids';
import { startTestManagement, type TestManagement } from './_management.ts';
import { balanceOf, clipOf, jobOf, productionOf, service } from './_values.ts';
import { createWorld } from './_world.ts';

let management: TestManagement;
const stack = new AsyncDisposableStack();
beforeAll(async () => {
  management = stack.use(await startTestManagement());
});
beforeEach(() => {
  management.probeMs = 60_000;
});
afterAll(async () => stack.disposeAsync());

test('a production may be deleted in any state; the audio that its episode plays stays', async () => {
  const world = createWorld(management);
  const { production: failing, lease } = await world.encoding();
  const problem = { code: 'media_empty', detail: 'The file is empty.' };
  const failed = await world.send('production.fail', failing, { problem }, service('encoder'), lease);
  const episode = await world.playableEpisode();
  const played = await productionOf(management.pool, episode);
  const clip = await world.send('media_clip.record', null, clipOf(played), service('management'));
  for (const production of [await world.production(), failed, await world.encoded(), played])
    expect(await world.send('production.delete', production, {})).toMatchObject({ lifecycle_state: 'deleted' });
  expect(await stateOf(clip)).toBe('active');
  const published = await world.send('episode.publish', episode, {});
  expect(published).toMatchObject({ lifecycle_state: 'published', attributes: { duration_ms: 60_000 } });
});

test('deleting a production that its episode does not play deletes its clip too, in the same operation', async () => {
  const world = createWorld(management);
  const production = await world.encoded();
  const clip = await world.send('media_clip.record', null, clipOf(production), service('management'));
  const { operationJson } = await management.execute(
    {
      workspaceId: world.workspaceId,
      commandType: 'production.delete',
      idempotencyKey: newId('req'),
      subject: { type: 'productions', id: production.id },
      changes: {},
    },
    world.actor,
  );
  expect(JSON.parse(operationJson)).toMatchObject({
    subject: { id: production.id },
    consequences: [{ type: 'media_clips', id: clip.id, version: 2, state: 'deleted', event: 'media_clip.deleted' }],
  });
  expect(await stateOf(clip)).toBe('deleted');
  // A follower that is late records no clip of it.
  await expect(world.send('media_clip.record', null, clipOf(production), service('management'))).rejects.toMatchObject({
    code: 'state_not_allowed',
  });
});

test('an episode gets the audio of a production that was deleted just after it was encoded, unless its clip was deleted', async () => {
  const world = createWorld(management);
  for (const isRecorded of [false, true]) {
    const production = await world.encoded();
    if (isRecorded) await world.send('media_clip.record', null, clipOf(production), service('management'));
    await world.send('production.delete', production, {});
    const episode = { resource_type: 'episodes', id: String(production.attributes['episode_id']), version: 1 };
    const attach = (actor: Actor) =>
      world.send('episode.attach_production', episode, { production_id: production.id }, actor);
    await expect(attach(world.actor)).rejects.toMatchObject({ code: 'episode_has_no_audio' });
    if (isRecorded) await expect(attach(service('management'))).rejects.toMatchObject({ code: 'episode_has_no_audio' });
    else
      expect((await attach(service('management'))).attributes).toMatchObject({ current_production_id: production.id });
  }
});

test('a production is never attached to its episode by a person and deleted before, ten times', async () => {
  const world = createWorld(management);
  for (let round = 0; round < 10; round++) {
    const production = await world.encoded();
    const episodeId = String(production.attributes['episode_id']);
    await Promise.allSettled([
      world.send(
        'episode.attach_production',
        { resource_type: 'episodes', id: episodeId, version: 1 },
        { production_id: production.id },
      ),
      world.send('production.delete', production, {}),
    ]);
    const { rows } = await management.pool.query<{ id: string; lifecycle_state: string; current: string | null }>(
      `select id, lifecycle_state, attributes ->> 'current_production_id' as current from resource where id = any($1)`,
      [[production.id, episodeId]],
    );
    const { rows: order } = await management.pool.query<{ type: string }>(
      `select type from outbox where payload->'subject'->>'id' = any($1) order by position desc limit 2`,
      [[production.id, episodeId]],
    );
    const attached = rows.some(({ current }) => current === production.id);
    expect(rows.find(({ id }) => id === production.id)?.lifecycle_state).toBe('deleted');
    expect(attached).toBe(order.at(-1)?.type === 'episode.production_attached');
  }
});

test('a running production is stopped when it is deleted: its encoding time is returned and its start is cancelled', async () => {
  const world = createWorld(management);
  const { production, lease } = await world.encoding();
  const deleted = await world.send('production.delete', production, {});
  expect(deleted).toMatchObject({ lifecycle_state: 'deleted' });
  expect(deleted.attributes).not.toHaveProperty('reserved_encoding_ms');
  expect(await balanceOf(management.pool, world.workspaceId)).toEqual({ reserved: 0, used: 0 });
  expect(await jobOf(management.pool, production.id)).toMatchObject({ state: 'stopped', stop_requested: true });
  const { rows } = await management.pool.query(
    "select state from operation where subject_id = $1 and command_type = 'production.start'",
    [production.id],
  );
  expect(rows).toEqual([{ state: 'cancelled' }]);
  for (const [command, changes, reason] of [
    ['production.complete', world.completion, lease],
    ['production.fail', { problem: { code: 'media_empty', detail: 'The file is empty.' } }, lease],
  ] as const)
    await expect(world.send(command, deleted, changes, service('encoder'), reason)).rejects.toMatchObject({
      code: 'state_not_allowed',
    });
  await expect(world.send('production.start', deleted, {})).rejects.toMatchObject({ code: 'state_not_allowed' });
});

/** Records the clip of an encoded production like the follower. */
const stateOf = async ({ id }: ResourceView) =>
  (await management.pool.query<{ lifecycle_state: string }>('select lifecycle_state from resource where id = $1', [id]))
    .rows[0]?.lifecycle_state;

test.each(['created', 'revised'] as const)(
  'audio of a production that was %s with mode "stop_all" ends the plays of what it replaces; any other replacement lets them finish',
  async (how) => {
    const world = createWorld(management);
    let episode = await world.playableEpisode();
    const file_url = (await world.upload()).attributes['file_url'];
    const mode = { mode: 'stop_all' };
    const replace = async (given: object, actor: Actor | undefined, attached: object = {}) => {
      const first = how === 'created' ? given : {};
      let made = await world.send('production.create', null, { episode_id: episode.id, file_url, ...first });
      if (how === 'revised') made = await world.send('production.revise', made, given);
      const started = await world.send('production.start', made, {});
      const lease = await world.lease('encode_production', started.id);
      const { id } = await world.send('production.complete', started, world.completion, service('encoder'), lease);
      episode = await world.send('episode.attach_production', episode, { production_id: id, ...attached }, actor);
      return episode.attributes['plays_end_before'];
    };
    const itself = service('management');
    expect(await replace({}, itself)).toBeUndefined();
    expect(await replace({ mode: 'stop_new' }, itself)).toBeUndefined();
    // A person who attaches audio states the mode then.
    expect(await replace(mode, undefined)).toBeUndefined();
    const before = await replace(mode, itself);
    expect(before).toEqual(expect.any(String));
    expect(await replace({}, itself)).toBe(before);
    const later = await replace({}, undefined, mode);
    expect([later === before, typeof later]).toEqual([false, 'string']);
  },
);
