import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { findResource } from '@longwave/command-pipeline';
import type { ResourceView } from '@longwave/events';
import { newId } from '@longwave/ids';
import { until } from '@longwave/test-kit';
import type { BatchEncoding } from '../src/hosting/batch-encodings/batch-encoding.ts';
import { createBatchEncodingHandler } from '../src/hosting/batch-encodings/run-batch-encoding.ts';
import type { Episode } from '../src/hosting/episodes/episode.ts';
import { claimJob } from '../src/background/job-table.ts';
import { startTestManagement, type TestManagement } from './_management.ts';
import { hour, service } from './_values.ts';
import { createWorld, type World } from './_world.ts';

let management: TestManagement;
beforeAll(async () => {
  management = await startTestManagement();
});
afterAll(async () => management?.[Symbol.asyncDispose]());

let world: World;
let podcast: ResourceView;
beforeEach(async () => {
  world = createWorld(management);
  podcast = await world.podcast();
  await world.setEncodingLimit(100 * hour);
});

const segment = (letter: string) => ({
  stream_format: 'mp3/128000/48000/2',
  storage_key: `media/${letter.repeat(64)}`,
  sha256: letter.repeat(64),
  size_bytes: 384,
  duration_ms: 24,
});

const now = async (type: string, id: string) => (await findResource(management.pool, world.workspaceId, type, id))!;
const episodeNow = async (id: string) => (await now('episodes', id)).attributes as unknown as Episode;
const batchNow = async (id: string) => {
  const { lifecycle_state: state, attributes } = await now('batch_encodings', id);
  return { state, ...(attributes as unknown as BatchEncoding) };
};

/** An episode of the podcast with an encoded production. */
async function episode(title: string): Promise<string> {
  const created = await world.send('episode.create', null, { podcast_id: podcast.id, title });
  const upload = await world.upload();
  const production = await world.send('production.create', null, {
    episode_id: created.id,
    file_url: upload.attributes['file_url'],
  });
  const started = await world.send('production.start', production, {});
  await encode(started);
  await world.send('episode.attach_production', created, { production_id: production.id });
  return created.id;
}

/** New audio of an episode, which an encoder encodes. */
async function newAudio(episodeId: string): Promise<ResourceView> {
  const upload = await world.upload();
  const file = { episode_id: episodeId, file_url: upload.attributes['file_url'] };
  return world.send('production.start', await world.send('production.create', null, file), {});
}

const productionsOf = async (batchId: string) =>
  (
    await management.pool.query<{ id: string; state: string }>(
      `select id, lifecycle_state as state from resource where resource_type = 'productions'
       and attributes ->> 'batch_encoding_id' = $1 order by id`,
      [batchId],
    )
  ).rows;

/** Waits for the batch's first production and encodes it. */
async function encodeDerived(batchId: string): Promise<string> {
  const id = await until(async () => (await productionsOf(batchId)).find(({ state }) => state === 'encoding')?.id);
  await encode({ ...(await now('productions', id)), resource_type: 'productions' });
  return id;
}

type Execute = TestManagement['execute'];

/** One attempt whose commands go through `around`; another worker can take the job over at once. */
async function workThrough(around: (execute: Execute) => Execute): Promise<void> {
  const job = await claimJob(management.pool, ['run_batch_encoding'], 'test', 0);
  const { pool, execute } = management;
  await createBatchEncodingHandler({ pool, execute: around(execute) }).run(job!, new AbortController().signal);
}

const diesBefore =
  (commandType: string) =>
  (execute: Execute): Execute =>
  async (request, actor) => {
    if (request.commandType === commandType) throw new Error('the process died');
    return await execute(request, actor);
  };

const diesAfter =
  (prefix: string) =>
  (execute: Execute): Execute =>
  async (request, actor) => {
    const outcome = await execute(request, actor);
    if (request.commandType.startsWith(prefix)) throw new Error('the process died');
    return outcome;
  };

/** Claims and reports a started production like an encoder. */
async function encode(production: Pick<ResourceView, 'resource_type' | 'id' | 'version'>): Promise<void> {
  const lease = await world.lease('encode_production', production.id);
  await world.send('production.complete', production, world.completion, service('encoder'), lease);
}

/** Sets the podcast's intro and prepares it. */
async function setIntro(letter: string): Promise<void> {
  const upload = await world.upload();
  const current = await now('podcasts', podcast.id);
  const waiting = await world.send('podcast.set_intro', current, { file_url: upload.attributes['file_url'] });
  const lease = await world.lease('encode_segment', podcast.id);
  await world.send('podcast.record_intro', waiting, { segment: segment(letter) }, service('encoder'), lease);
}

const start = (initiator: string) =>
  world.send('batch_encoding.start', null, { podcast_id: podcast.id, initiator }).then(({ id }) => id);

/** One attempt at the batch. */
async function work(id: string, signal = new AbortController().signal): Promise<void> {
  const job = await claimJob(management.pool, ['run_batch_encoding'], 'test', 30_000);
  expect(job?.subject_id).toBe(id);
  await createBatchEncodingHandler(management).run(job!, signal);
}

describe('a batch encoding of the intro', () => {
  test('puts the present intro on every episode that has audio, and counts them', async () => {
    const ids = [await episode('One'), await episode('Two')];
    await world.send('episode.create', null, { podcast_id: podcast.id, title: 'Without audio' });
    await setIntro('b');
    const id = await start('intro');
    await work(id);
    expect(await batchNow(id)).toMatchObject({ state: 'completed', total: 2, done: 2, failed: 0 });
    for (const each of ids)
      expect(await episodeNow(each)).toMatchObject({ intro: segment('b'), batch_encoding_id: id });
  });

  test('removes a cleared intro', async () => {
    const one = await episode('One');
    await setIntro('b');
    await work(await start('intro'));
    await world.send('podcast.clear_intro', await now('podcasts', podcast.id), {});
    await work(await start('intro'));
    expect((await episodeNow(one)).intro).toBeUndefined();
  });

  test('is refused while the intro is being prepared, and while another batch of the podcast runs', async () => {
    const upload = await world.upload();
    await world.send('podcast.set_intro', podcast, { file_url: upload.attributes['file_url'] });
    await expect(start('intro')).rejects.toMatchObject({ code: 'state_not_allowed' });
    const running = await start('outro');
    await expect(start('outro')).rejects.toMatchObject({ code: 'value_taken' });
    await work(running);
    await work(await start('outro'));
  });

  test('goes on after a crash of its worker, and does nothing twice', async () => {
    const ids = [await episode('One'), await episode('Two'), await episode('Three')];
    await setIntro('b');
    const id = await start('intro');
    const dying = createBatchEncodingHandler({
      ...management,
      execute: async (request, actor) => {
        if (request.commandType === 'episode.apply_template' && request.subject.id === ids[1])
          throw new Error('the process died');
        return management.execute(request, actor);
      },
    });
    const first = await claimJob(management.pool, ['run_batch_encoding'], 'test', 0);
    await expect(dying.run(first!, new AbortController().signal)).rejects.toThrow('the process died');
    await work(id);
    expect(await batchNow(id)).toMatchObject({ state: 'completed', total: 3, done: 3, failed: 0 });
    // Created, audio attached, intro applied: one version each.
    for (const each of ids) expect((await now('episodes', each)).version).toBe(3);
  });

  test('can be cancelled: finished episodes keep the change, the others stay as they were', async () => {
    const ids = [await episode('One'), await episode('Two')];
    await setIntro('b');
    const id = await start('intro');
    const cancelling = createBatchEncodingHandler({
      ...management,
      execute: async (request, actor) => {
        const outcome = await management.execute(request, actor);
        if (request.commandType === 'episode.apply_template')
          await world.send('batch_encoding.cancel', { ...(await now('batch_encodings', id)) }, {});
        return outcome;
      },
    });
    await cancelling.run(
      (await claimJob(management.pool, ['run_batch_encoding'], 'test', 30_000))!,
      new AbortController().signal,
    );
    expect((await batchNow(id)).state).toBe('cancelled');
    expect((await episodeNow(ids[0]!)).intro).toBeDefined();
    expect((await episodeNow(ids[1]!)).intro).toBeUndefined();
    expect(await claimJob(management.pool, ['run_batch_encoding'], 'test', 30_000)).toBeUndefined();
  });

  test('can be reverted: every episode gets back what it had, except one that something newer changed', async () => {
    const [one, two] = [await episode('One'), await episode('Two')];
    await setIntro('b');
    await work(await start('intro'));
    await setIntro('c');
    const second = await start('intro');
    await work(second);
    const newer = await world.send('batch_encoding.start', null, { podcast_id: podcast.id, initiator: 'outro' });
    await work(newer.id);
    await world.send(
      'episode.apply_template',
      await now('episodes', two),
      { batch_encoding_id: second, intro: segment('c') },
      service('management'),
    );
    const revert = await world.send('batch_encoding.revert', null, { podcast_id: podcast.id, reverts: second });
    await work(revert.id);
    expect((await episodeNow(one)).intro).toEqual(segment('c'));
    expect((await episodeNow(two)).intro).toEqual(segment('b'));
    expect(await batchNow(revert.id)).toMatchObject({ state: 'completed', total: 1, done: 1, failed: 0 });
  });
});

describe('a batch encoding of the loudness', () => {
  test('encodes every source again, ends when the encoders have, and can be reverted', async () => {
    const one = await episode('One');
    const before = (await episodeNow(one)).current_production_id;
    const id = await start('loudness');
    const running = work(id);
    const derived = await encodeDerived(id);
    await running;
    expect(await batchNow(id)).toMatchObject({ state: 'completed', total: 1, done: 1, failed: 0 });
    await world.send('episode.attach_production', await now('episodes', one), { production_id: derived });
    expect(await episodeNow(one)).toMatchObject({ current_production_id: derived, batch_encoding_id: id });

    const revert = await world.send('batch_encoding.revert', null, { podcast_id: podcast.id, reverts: id });
    await work(revert.id);
    expect((await episodeNow(one)).current_production_id).toBe(before);
  });

  test('counts an episode that could not be encoded again, and completes', async () => {
    await episode('One');
    await world.setEncodingLimit(0);
    const id = await start('loudness');
    await work(id);
    expect(await batchNow(id)).toMatchObject({ state: 'completed', total: 1, done: 0, failed: 1 });
  });

  test('does not change an episode that gets new audio', async () => {
    const one = await episode('One');
    await newAudio(one);
    const id = await start('loudness');
    await work(id);
    expect(await productionsOf(id)).toEqual([]);
    expect(await batchNow(id)).toMatchObject({ state: 'completed', total: 0, done: 0, failed: 0 });
  });

  test('goes on after a crash of its worker, and keeps audio that replaced the old one meanwhile', async () => {
    const one = await episode('One');
    const id = await start('loudness');
    await expect(workThrough(diesBefore('production.start'))).rejects.toThrow('the process died');
    const production = await newAudio(one);
    await encode(production);
    await world.send('episode.attach_production', await now('episodes', one), { production_id: production.id });
    await work(id);
    expect(await batchNow(id)).toMatchObject({ state: 'completed', total: 0, done: 0, failed: 0 });
    expect((await productionsOf(id)).map(({ state }) => state)).toEqual(['initial']);
    expect((await episodeNow(one)).current_production_id).toBe(production.id);
  });

  test('goes on after a crash of its worker with the encodings that it had begun', async () => {
    await episode('One');
    const id = await start('loudness');
    await expect(workThrough(diesBefore('production.start'))).rejects.toThrow('the process died');
    const running = work(id);
    await encodeDerived(id);
    await running;
    expect(await productionsOf(id)).toHaveLength(1);
    expect(await batchNow(id)).toMatchObject({ state: 'completed', total: 1, done: 1, failed: 0 });
  });

  test('encodes nothing after it was cancelled, not even an episode that it was about to start', async () => {
    await episode('One');
    const id = await start('loudness');
    await workThrough((execute) => async (request, actor) => {
      if (request.commandType === 'production.start')
        await world.send('batch_encoding.cancel', await now('batch_encodings', id), {});
      return await execute(request, actor);
    });
    expect((await batchNow(id)).state).toBe('cancelled');
    expect((await productionsOf(id)).map(({ state }) => state)).toEqual(['initial']);
  });

  test('is reverted only after its running encodings were stopped', async () => {
    const one = await episode('One');
    const before = (await episodeNow(one)).current_production_id;
    const id = await start('loudness');
    await expect(workThrough(diesAfter('production.start'))).rejects.toThrow('the process died');
    expect((await productionsOf(id)).map(({ state }) => state)).toEqual(['encoding']);
    await world.send('batch_encoding.cancel', await now('batch_encodings', id), {});
    const revert = await world.send('batch_encoding.revert', null, { podcast_id: podcast.id, reverts: id });
    await work(revert.id);
    expect((await productionsOf(id)).map(({ state }) => state)).toEqual(['initial']);
    expect(await batchNow(revert.id)).toMatchObject({ state: 'completed', total: 0 });
    expect((await episodeNow(one)).current_production_id).toBe(before);
  });

  test('a revert restores audio and intro in one command: a crash in between loses nothing', async () => {
    await setIntro('b');
    const one = await episode('One');
    const before = await episodeNow(one);
    const id = await start('loudness');
    const running = work(id);
    const derived = await encodeDerived(id);
    await running;
    await setIntro('c');
    await world.send('episode.attach_production', await now('episodes', one), { production_id: derived });
    expect((await episodeNow(one)).intro).toEqual(segment('c'));

    const revert = await world.send('batch_encoding.revert', null, { podcast_id: podcast.id, reverts: id });
    await expect(workThrough(diesAfter('episode.'))).rejects.toThrow('the process died');
    await work(revert.id);
    const { current_production_id, intro } = before;
    expect(await episodeNow(one)).toMatchObject({ current_production_id, intro, batch_encoding_id: revert.id });
    expect(await batchNow(revert.id)).toMatchObject({ state: 'completed', total: 1, done: 1, failed: 0 });
  });

  test('a revert keeps audio that was attached at the same moment', async () => {
    const one = await episode('One');
    const id = await start('loudness');
    const running = work(id);
    const derived = await encodeDerived(id);
    await running;
    await world.send('episode.attach_production', await now('episodes', one), { production_id: derived });
    const production = await newAudio(one);
    await encode(production);
    const revert = await world.send('batch_encoding.revert', null, { podcast_id: podcast.id, reverts: id });
    await workThrough((execute) => async (request, actor) => {
      if (request.subject.id === one && (await episodeNow(one)).current_production_id === derived)
        await world.send('episode.attach_production', await now('episodes', one), { production_id: production.id });
      return await execute(request, actor);
    });
    expect((await episodeNow(one)).current_production_id).toBe(production.id);
    expect(await batchNow(revert.id)).toMatchObject({ state: 'completed', total: 0, done: 0, failed: 0 });
  });

  test('of a podcast without episodes completes at once', async () => {
    const id = await start('audio_format');
    await work(id);
    expect(await batchNow(id)).toMatchObject({ state: 'completed', total: 0 });
  });
});

test('a batch of another podcast, or one that still runs, cannot be reverted', async () => {
  const id = await start('outro');
  const revert = (podcastId: string, reverts: string) =>
    world.send('batch_encoding.revert', null, { podcast_id: podcastId, reverts });
  await expect(revert(podcast.id, id)).rejects.toMatchObject({ code: 'state_not_allowed' });
  await expect(revert((await world.podcast()).id, id)).rejects.toMatchObject({ code: 'link_not_found' });
  await expect(revert(podcast.id, newId('bat'))).rejects.toMatchObject({ code: 'link_not_found' });
  await work(id);
});
