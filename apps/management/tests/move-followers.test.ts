import { describe, expect, test } from '@jest/globals';
import { typedResource } from '@longwave/command-catalog';
import { listLinked } from '@longwave/command-pipeline';
import { type ResourceView } from '@longwave/events';
import { newId } from '@longwave/ids';
import { createImportReport } from '../src/hosting/imports/import-report.ts';
import { createImportHandler } from '../src/hosting/imports/import-feed.ts';
import { saveImportRecord } from '../src/hosting/imports/import-report-table.ts';
import { createPublishImportHandler } from '../src/hosting/imports/publish-import.ts';
import { createRetryImportHandler } from '../src/hosting/imports/retry-import.ts';
import { startJobRunner } from '../src/background/job-runner.ts';
import { caughtUp, encode, management, read, until } from './_following.ts';
import { service } from './_values.ts';
import { createWorld, type World } from './_world.ts';

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

test('a batch that encodes old audio again never replaces newer audio, whichever encoding ends last', async () => {
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

test('audio that is older than the audio of a batch is not attached', async () => {
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

test('a cancelled batch stops its encodings and returns their time; one that still ends is not attached', async () => {
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

test('an encoding of a reverted batch is not attached', async () => {
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

describe('an imported podcast', () => {
  const item = (guid: string, date: string, more = '') =>
    `<item><title>${guid}</title><guid>${guid}</guid><pubDate>${date}</pubDate>${more}` +
    `<enclosure url="https://cdn.example/${guid}.mp3" type="audio/mpeg" length="3"/></item>`;
  const past = 'Mon, 01 Jun 2020 06:00:00 GMT';
  const feedOf = (items: string, channel = '') =>
    '<rss version="2.0" xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd"><channel>' +
    `<title>Moved</title>${channel}${items}</channel></rss>`;

  /** Imports a feed; its episodes have their rows, and their audio once `encodeAll` was called. */
  async function importFeed(xml: string, changes: { readonly publish?: boolean } = {}) {
    const world = createWorld(management);
    management.fetch = async (url) => ({
      status: 200,
      headers: { 'content-type': 'application/rss+xml' },
      finalUrl: url,
      body: (async function* () {
        yield Buffer.from(xml);
      })(),
      [Symbol.dispose]: () => undefined,
    });
    const podcast = await world.send('podcast.import_feed', null, {
      feed_url: `https://feeds.example/${newId('req')}.xml`,
      ...changes,
    });
    await runJobs(podcast);
    const episodes = await listLinked(management.pool, world.workspaceId, 'episodes', 'podcast', podcast.id);
    const byGuid = new Map(episodes.map((episode) => [String(episode.attributes['guid']), episode.id]));
    return {
      world,
      podcast,
      idOf: (guid: string) => byGuid.get(guid)!,
      stateOf: async (guid: string) => (await read(byGuid.get(guid)!)).lifecycle_state,
      encodeAll: async () => {
        for (const id of byGuid.values()) {
          const [production] = await listLinked(management.pool, world.workspaceId, 'productions', 'episode', id);
          await encode(world, { ...production!, resource_type: 'productions' } as unknown as ResourceView);
          await until(id, (row) => row.attributes['current_production_id'] !== undefined);
        }
        await caughtUp(world);
      },
    };
  }

  /** The podcast as it is now. */
  const current = async (podcast: ResourceView) =>
    typedResource({ ...podcast, ...(await read(podcast.id)) }, 'podcasts');

  /** Runs management's own jobs about a podcast to their end. */
  async function runJobs({ id }: Pick<ResourceView, 'id'>): Promise<void> {
    const { pool, execute, clock } = management;
    await using _runner = startJobRunner({
      pool,
      execute,
      handlers: {
        import_feed: createImportHandler(management),
        publish_import: createPublishImportHandler({ pool, execute, clock }),
        retry_import: createRetryImportHandler(management),
      },
      onError: (error) => {
        throw error;
      },
      pollMs: 20,
    });
    const open = async () =>
      (await pool.query(`select from job where subject_id = $1 and state in ('queued', 'running')`, [id])).rowCount;
    while ((await open()) !== 0) await new Promise((turn) => setImmediate(turn));
  }

  test('is published by nobody but a person: one command publishes it, keeps its dates, schedules the future and leaves blocked items hidden', async () => {
    const { world, podcast, stateOf, idOf, encodeAll } = await importFeed(
      feedOf(
        item('future', 'Fri, 01 Jan 2999 00:00:00 GMT') +
          item('hidden', 'Fri, 01 Jan 2999 00:00:00 GMT', '<itunes:block>Yes</itunes:block>') +
          item('old', past),
      ),
    );
    await encodeAll();
    for (const guid of ['future', 'hidden', 'old']) expect(await stateOf(guid)).toBe('draft');
    const report = createImportReport(management.pool);
    const counts = async () => report.get(await current(podcast));
    const none = { failed: 0, published: 0, scheduled: 0 };
    expect(await counts()).toMatchObject({ state: 'completed', total: 3, created: 3, encoded: 3, ...none });

    await world.send('podcast.publish_import', await current(podcast), {});
    await runJobs(podcast);
    expect(await read(idOf('old'))).toMatchObject({
      lifecycle_state: 'published',
      attributes: { published_at: '2020-06-01T06:00:00.000Z' },
    });
    const future = await read(idOf('future'));
    expect(future).toMatchObject({
      lifecycle_state: 'scheduled',
      attributes: { publish_at: '2999-01-01T00:00:00.000Z' },
    });
    expect(future.attributes['published_at']).toBeUndefined();
    expect(await read(idOf('hidden'))).toMatchObject({ lifecycle_state: 'draft', attributes: { blocked: true } });
    expect((await read(podcast.id)).lifecycle_state).toBe('draft');
    expect(await counts()).toMatchObject({ created: 3, encoded: 3, published: 1, scheduled: 1, failed: 0 });
    const { csv, items } = await report.exportLines(await current(podcast), { after: 0, limit: 2 });
    const [ofFuture, ofHidden] = csv.split('\r\n');
    expect([items, ofFuture, ofHidden]).toEqual([
      2,
      expect.stringMatching(/ is in the future\. Publishing the import schedules it for that time\.",$/),
      expect.stringMatching(
        /^2,hidden,hidden,encoded,ep_\w+,,"publish_at: [^|]* is in the future\. \| blocked: The feed hides this item\. Its episode stays a draft/,
      ),
    ]);
    const rest = await report.list(await current(podcast), { after: 2, limit: 2 });
    expect(rest.items.map(({ position, guid, state }) => [position, guid, state])).toEqual([[3, 'old', 'published']]);
  });

  test('is counted as failed with the reason when its audio cannot be encoded; a podcast that was not imported has no report', async () => {
    const { world, podcast, idOf } = await importFeed(feedOf(item('broken', past)));
    const [production] = await listLinked(management.pool, world.workspaceId, 'productions', 'episode', idOf('broken'));
    const lease = await world.lease('encode_production', production!.id);
    const subject = { ...production!, resource_type: 'productions' } as unknown as ResourceView;
    const problem = { code: 'encoder_failed', detail: 'The encoder found no sound.' };
    await world.send('production.fail', { ...subject, version: 2 }, { problem }, service('encoder'), lease);
    const report = createImportReport(management.pool);
    expect(await report.get(await current(podcast))).toMatchObject({ created: 1, encoded: 0, failed: 1 });
    expect((await report.list(await current(podcast), { after: 0, limit: 5 })).items).toMatchObject([
      { state: 'failed', problem: 'The encoder found no sound.' },
    ]);
    await expect(report.get(typedResource(await world.podcast(), 'podcasts'))).rejects.toMatchObject({
      code: 'not_found',
    });
  });

  test('tries a failed item again: it gets another production that uses no encoding time, and one that has its audio is left alone', async () => {
    const { world, podcast, idOf } = await importFeed(feedOf(item('broken', past) + item('fine', past)));
    const productionsOf = (guid: string) =>
      listLinked(management.pool, world.workspaceId, 'productions', 'episode', idOf(guid));
    const [production] = await productionsOf('broken');
    const lease = await world.lease('encode_production', production!.id);
    const subject = { ...production!, resource_type: 'productions' } as unknown as ResourceView;
    const problem = { code: 'media_not_fetchable', detail: 'The host answers with 503.' };
    const report = createImportReport(management.pool);
    const states = async () =>
      (await report.list(await current(podcast), { after: 0, limit: 5 })).items.map(({ state }) => state);
    const retry = async (changes: object) => world.send('podcast.retry_import', await current(podcast), changes);
    await expect(retry({})).rejects.toMatchObject({ code: 'state_not_allowed' });
    await world.send('production.fail', { ...subject, version: 2 }, { problem }, service('encoder'), lease);
    expect(await states()).toEqual(['failed', 'encoding']);
    await expect(retry({ position: 2 })).rejects.toMatchObject({ code: 'state_not_allowed' });

    await retry({ position: 1 });
    expect(await report.get(await current(podcast))).toMatchObject({ state: 'running', failed: 1 });
    await expect(retry({ position: 1 })).rejects.toMatchObject({ code: 'state_not_allowed' });
    await runJobs(podcast);
    expect(await states()).toEqual(['encoding', 'encoding']);
    const again = await productionsOf('broken');
    expect(again).toHaveLength(2);
    const { attributes } = again.find(({ id }) => id !== production!.id)!;
    expect(attributes).toMatchObject({ imported: true, file_url: production!.attributes['file_url'] });
    expect(attributes['encoding_month']).toBeUndefined();
    expect(await productionsOf('fine')).toHaveLength(1);
    expect(await report.get(await current(podcast))).toMatchObject({ state: 'completed', failed: 0 });
  });

  test('keeps the audio that somebody gave an episode meanwhile, when its failed items are tried again', async () => {
    const { world, podcast, idOf } = await importFeed(feedOf(item('given', past) + item('broken', past)));
    await world.setEncodingLimit(null);
    const productionsOf = (guid: string) =>
      listLinked(management.pool, world.workspaceId, 'productions', 'episode', idOf(guid));
    for (const guid of ['given', 'broken']) {
      const [production] = await productionsOf(guid);
      const lease = await world.lease('encode_production', production!.id);
      const subject = { ...production!, resource_type: 'productions', version: 2 } as unknown as ResourceView;
      const problem = { code: 'media_not_fetchable', detail: 'The host answers with 503.' };
      await world.send('production.fail', subject, { problem }, service('encoder'), lease);
    }
    const mine = await newAudio(world, idOf('given'));
    await world.send('podcast.retry_import', await current(podcast), {});
    await runJobs(podcast);
    expect((await productionsOf('given')).map(({ id }) => id).at(-1)).toBe(mine.id);
    expect(await productionsOf('broken')).toHaveLength(2);
  });

  test('shows, after it was cancelled, that failed items are tried again, which can be cancelled too', async () => {
    const world = createWorld(management);
    const started = await world.send('podcast.import_feed', null, {
      feed_url: `https://feeds.example/${newId('req')}.xml`,
    });
    const podcast = await world.send('podcast.cancel_import', started, {});
    await saveImportRecord(
      management.pool,
      { workspaceId: world.workspaceId, podcastId: podcast.id },
      { position: 1, guid: 'one', title: 'One', episodeId: newId('ep'), problem: 'No answer.', notes: [] },
    );
    const report = createImportReport(management.pool);
    const state = async () => (await report.get(await current(podcast))).state;
    expect(await state()).toBe('failed');
    await world.send('podcast.retry_import', podcast, {});
    expect(await state()).toBe('running');
    await world.send('podcast.cancel_import', await current(podcast), {});
    expect(await state()).toBe('failed');
  });

  test('and is still being encoded when it is published appears with its audio; drafts of one’s own stay drafts', async () => {
    const { world, podcast, stateOf, encodeAll } = await importFeed(feedOf(item('late', past)));
    const own = await world.audibleEpisode(podcast);
    await world.send('podcast.publish_import', await current(podcast), {});
    await runJobs(podcast);
    expect(await stateOf('late')).toBe('draft');
    await encodeAll();
    expect(await stateOf('late')).toBe('published');
    expect((await read(own.id)).lifecycle_state).toBe('draft');
  });

  test('with publish: true is published as it is encoded, unless the feed blocks its channel', async () => {
    const open = await importFeed(feedOf(item('open', past)), { publish: true });
    await open.encodeAll();
    expect(await open.stateOf('open')).toBe('published');

    const block = '<itunes:block>yes</itunes:block>';
    const blocked = await importFeed(feedOf(item('private', past), block), { publish: true });
    await blocked.encodeAll();
    expect(await blocked.stateOf('private')).toBe('draft');
    expect((await read(blocked.podcast.id)).attributes).toMatchObject({
      blocked_platforms: ['apple'],
      import: { publish: false },
    });
  });

  test('cannot be published without an import, nor twice at once', async () => {
    const world = createWorld(management);
    const refused = (podcast: ResourceView) =>
      world.send('podcast.publish_import', podcast, {}).catch((error: unknown) => error);
    expect(await refused(await world.podcast())).toMatchObject({ code: 'state_not_allowed' });
    const moved = await importFeed(feedOf(item('one', past)));
    const started = await moved.world.send('podcast.publish_import', await current(moved.podcast), {});
    await expect(moved.world.send('podcast.publish_import', started, {})).rejects.toMatchObject({
      code: 'state_not_allowed',
    });
  });
});
