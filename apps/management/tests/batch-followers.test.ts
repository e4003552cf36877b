import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type ResourceView } from '@longwave/events';
import { startFollowed, type Followed } from './_followed.ts';
import { createWorld, service, type World } from './_support.ts';

let followed: Followed;
let management: Followed['management'];
let read: Followed['read'];
let until: Followed['until'];
let caughtUp: Followed['caughtUp'];
let encode: Followed['encode'];
beforeAll(async () => {
  followed = await startFollowed();
  ({ management, read, until, caughtUp, encode } = followed);
});
afterAll(async () => followed?.[Symbol.asyncDispose]());

/** A batch of an episode's podcast, and its encoding of the episode's first file. */
async function batchOf(world: World, initiator = 'loudness') {
  await world.setEncodingLimit(null);
  const episode = await world.playableEpisode();
  const batch = await world.send('batch_encoding.start', null, {
    podcast_id: episode.attributes['podcast_id'],
    initiator,
  });
  const first = await read(String(episode.attributes['current_production_id']));
  const derive = async () => {
    const file = { episode_id: episode.id, file_url: first.attributes['file_url'], batch_encoding_id: batch.id };
    const production = await world.send('production.derive', null, file, service('management'));
    return world.send('production.start', production, {}, service('management'));
  };
  return { episode, batch, derive };
}

async function newAudio(world: World, episodeId: string): Promise<ResourceView> {
  const file = { episode_id: episodeId, file_url: (await world.upload()).attributes['file_url'] };
  return world.send('production.start', await world.send('production.create', null, file), {});
}

test('new audio stays when a batch encodes the old one meanwhile, whichever ends last', async () => {
  const world = createWorld(management);
  for (const lasts of ['batch', 'new audio']) {
    const { episode, derive } = await batchOf(world);
    const mine = await newAudio(world, episode.id);
    const derived = await derive();
    for (const production of lasts === 'batch' ? [mine, derived] : [derived, mine]) {
      await encode(world, production);
      await caughtUp(world);
    }
    expect((await read(episode.id)).attributes['current_production_id']).toBe(mine.id);
  }
});

test('audio older than what a batch encoded again does not come back', async () => {
  const world = createWorld(management);
  await world.setEncodingLimit(null);
  const created = await world.episode();
  const oldest = await newAudio(world, created.id);
  const newer = await newAudio(world, created.id);
  await encode(world, newer);
  await until(created.id, (row) => row.attributes['current_production_id'] === newer.id);
  const batch = await world.send('batch_encoding.start', null, {
    podcast_id: created.attributes['podcast_id'],
    initiator: 'loudness',
  });
  const file = { episode_id: created.id, file_url: newer.attributes['file_url'], batch_encoding_id: batch.id };
  const derived = await world.send('production.derive', null, file, service('management'));
  await world.send('production.start', derived, {});
  await encode(world, derived);
  await until(created.id, (row) => row.attributes['current_production_id'] === derived.id);
  await encode(world, oldest);
  await caughtUp(world);
  expect((await read(created.id)).attributes['current_production_id']).toBe(derived.id);
});

test('a cancelled batch stops its encodings and returns their time; what ends all the same is not attached', async () => {
  const world = createWorld(management);
  const { episode, batch, derive } = await batchOf(world);
  const derived = await derive();
  const reserved = async () =>
    (
      await management.pool.query('select sum(reserved_ms)::int as ms from encoding_balance where workspace_id = $1', [
        world.workspaceId,
      ])
    ).rows[0]?.ms as number;
  expect(await reserved()).toBeGreaterThan(0);
  await world.send('batch_encoding.cancel', batch, {});
  const stopped = await until(derived.id, (row) => row.lifecycle_state === 'initial');
  expect(await reserved()).toBe(0);
  const again = await world.send('production.start', { ...derived, version: stopped.version }, {});
  const lease = await world.lease('encode_production', again.id);
  await world.send('production.complete', again, world.completion, service('encoder'), lease);
  await caughtUp(world);
  const current = episode.attributes['current_production_id'];
  expect((await read(episode.id)).attributes['current_production_id']).toBe(current);
  // A person may still choose it.
  await world.send(
    'episode.attach_production',
    { ...episode, version: (await read(episode.id)).version },
    { production_id: derived.id },
  );
});

test('an encoding of a batch that is reverted is not attached any more', async () => {
  const world = createWorld(management);
  const { episode, batch, derive } = await batchOf(world);
  const derived = await derive();
  const counts = { total: 1, done: 1, failed: 0 };
  const lease = await world.lease('run_batch_encoding', batch.id);
  await world.send('batch_encoding.complete', batch, counts, service('management'), lease);
  await world.send('batch_encoding.revert', null, {
    podcast_id: episode.attributes['podcast_id'],
    reverts: batch.id,
  });
  await encode(world, derived);
  await caughtUp(world);
  const current = episode.attributes['current_production_id'];
  expect((await read(episode.id)).attributes['current_production_id']).toBe(current);
});
