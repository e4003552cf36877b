import { newId } from '@longwave/ids';
import { saveImportRecord } from '../src/hosting/imports/import-report-table.ts';
import { creates, on, type Examples } from './_example.ts';
import { service } from './_values.ts';
import type { World } from './_world.ts';

const counts = { total: 3, done: 1, failed: 0 };
const file = { storage_key: 'exports/x.csv', sha256: 'b'.repeat(64), size_bytes: 60, row_count: 1 };

async function runningBatch(w: World) {
  const batch = await w.send('batch_encoding.start', null, {
    podcast_id: (await w.podcast()).id,
    initiator: 'loudness',
  });
  return { batch, lease: await w.lease('run_batch_encoding', batch.id) };
}

async function runningExport(w: World) {
  const started = await w.send('statistics_export.start', null, { podcast_id: (await w.podcast()).id });
  return { started, lease: await w.lease('export_statistics', started.id) };
}

const importing = async (w: World) => {
  const podcast = await w.send('podcast.import_feed', null, { feed_url: `https://feeds.example/${newId('req')}` });
  return { podcast, lease: await w.lease('import_feed', podcast.id) };
};

const publishing = async (w: World) => {
  const podcast = await w.send('podcast.publish_import', (await importing(w)).podcast, {});
  return { podcast, lease: await w.lease('publish_import', podcast.id) };
};

/** A podcast of whose import one item failed. */
const withFailedItem = async (w: World) => {
  const { podcast, lease } = await importing(w);
  const imported = await w.send(
    'podcast.complete_import',
    podcast,
    { done: 0, failed: 1 },
    service('management'),
    lease,
  );
  await saveImportRecord(
    w.pool,
    { workspaceId: w.workspaceId, podcastId: podcast.id },
    { position: 1, guid: 'one', title: 'One', episodeId: newId('ep'), problem: 'The host gave nothing.', notes: [] },
  );
  return imported;
};

const retrying = async (w: World) => {
  const podcast = await w.send('podcast.retry_import', await withFailedItem(w), { position: 1 });
  return { podcast, lease: await w.lease('retry_import', podcast.id) };
};

/** Valid requests for the commands of imports, exports and batch encodings. */
export const moveExamples = {
  'podcast.import_feed': async (w) =>
    creates('podcasts', { feed_url: `https://feeds.example/${newId('req')}` }, w.actor),
  'podcast.complete_import': async (w) => {
    const { podcast, lease } = await importing(w);
    return on(podcast, { done: 1, failed: 0 }, service('management'), lease);
  },
  'podcast.fail_import': async (w) => {
    const { podcast, lease } = await importing(w);
    return on(podcast, { problem: { code: 'gave_up', detail: 'Not this time.' } }, service('management'), lease);
  },
  'podcast.publish_import': async (w) => on((await importing(w)).podcast, {}, w.actor),
  'podcast.complete_import_publication': async (w) => {
    const { podcast, lease } = await publishing(w);
    return on(podcast, {}, service('management'), lease);
  },
  'podcast.fail_import_publication': async (w) => {
    const { podcast, lease } = await publishing(w);
    return on(podcast, { problem: { code: 'gave_up', detail: 'Not this time.' } }, service('management'), lease);
  },
  'podcast.retry_import': async (w) => on(await withFailedItem(w), { position: 1 }, w.actor),
  'podcast.complete_import_retry': async (w) => {
    const { podcast, lease } = await retrying(w);
    return on(podcast, {}, service('management'), lease);
  },
  'podcast.fail_import_retry': async (w) => {
    const { podcast, lease } = await retrying(w);
    return on(podcast, { problem: { code: 'gave_up', detail: 'Not this time.' } }, service('management'), lease);
  },
  'batch_encoding.start': async (w) =>
    creates('batch_encodings', { podcast_id: (await w.podcast()).id, initiator: 'intro' }, w.actor),
  'batch_encoding.revert': async (w) => {
    const { batch, lease } = await runningBatch(w);
    await w.send('batch_encoding.complete', batch, counts, service('management'), lease);
    return creates('batch_encodings', { podcast_id: batch.attributes['podcast_id'], reverts: batch.id }, w.actor);
  },
  'batch_encoding.advance': async (w) => {
    const { batch, lease } = await runningBatch(w);
    return on(batch, counts, service('management'), lease);
  },
  'batch_encoding.complete': async (w) => {
    const { batch, lease } = await runningBatch(w);
    return on(batch, counts, service('management'), lease);
  },
  'batch_encoding.fail': async (w) => {
    const { batch, lease } = await runningBatch(w);
    return on(batch, { problem: { code: 'gave_up', detail: 'Not this time.' } }, service('management'), lease);
  },
  'batch_encoding.cancel': async (w) => on((await runningBatch(w)).batch, {}, w.actor),
  'podcast.cancel_import': async (w) => on((await importing(w)).podcast, {}, w.actor),
  'statistics_export.start': async (w) =>
    creates('statistics_exports', { podcast_id: (await w.podcast()).id }, w.actor),
  'statistics_export.record': async (w) => {
    const { started, lease } = await runningExport(w);
    return on(started, { file }, service('management'), lease);
  },
  'statistics_export.fail': async (w) => {
    const { started, lease } = await runningExport(w);
    return on(started, { problem: { code: 'gave_up', detail: 'Not this time.' } }, service('management'), lease);
  },
  'statistics_export.cancel': async (w) => on((await runningExport(w)).started, {}, w.actor),
} satisfies Examples;
