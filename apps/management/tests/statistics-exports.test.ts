import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { findResource } from '@longwave/command-pipeline';
import { Window } from '@longwave/rpc/audience';
import { claimJob } from '../src/background/job-table.ts';
import { createExportHandler } from '../src/hosting/statistics-exports/export-statistics.ts';
import { startTestManagement, type TestManagement } from './_management.ts';
import { createWorld } from './_world.ts';

let management: TestManagement;
beforeAll(async () => {
  management = await startTestManagement();
});
afterAll(async () => management?.[Symbol.asyncDispose]());

const dayMs = 86_400_000;
const signal = new AbortController().signal;

test('an export holds a row for every day and episode since the first download, also before the podcast was here, and can be fetched', async () => {
  const world = createWorld(management);
  const podcast = await world.podcast();
  const episode = await world.send('episode.create', null, { podcast_id: podcast.id, title: '=Tides, "ebb"' });
  const started = await world.send('statistics_export.start', null, { podcast_id: podcast.id });
  await expect(world.send('statistics_export.start', null, { podcast_id: podcast.id })).rejects.toMatchObject({
    code: 'export_in_progress',
    message: 'An export is already being prepared.',
  });

  const asked: number[] = [];
  const window = Window.CALENDAR_UTC;
  const later = new Date(Date.now() + 40 * dayMs);
  const movedIn = new Date(Date.now() - 10 * dayMs);
  const job = await claimJob(management.pool, ['export_statistics'], 'test', 30_000);
  await createExportHandler({
    ...management,
    clock: () => later,
    findFirstDownloads: async ({ podcastIds }) => ({
      podcasts: podcastIds.map((podcastId) => ({ podcastId, hourMs: BigInt(movedIn.getTime()) })),
    }),
    exportDays: async ({ range }) => {
      asked.push(Number(range!.toMs - range!.fromMs) / dayMs);
      return { days: [{ dayMs: range!.fromMs, episodeId: episode.id, downloads: 7n, listeners: 5n }], window };
    },
  }).run(job!, signal);

  expect(asked.reduce((sum, days) => sum + days, 0)).toBe(51);
  expect(Math.max(...asked)).toBeLessThanOrEqual(31);
  const ready = await findResource(management.pool, world.workspaceId, 'statistics_exports', started.id);
  expect(ready?.lifecycle_state).toBe('ready');
  const { file } = ready!.attributes as { file: { storage_key: string; row_count: number; size_bytes: number } };
  expect(file.row_count).toBe(2);
  const parts: Buffer[] = [];
  for await (const part of await management.store.get(file.storage_key)) parts.push(Buffer.from(part));
  const [header, row] = Buffer.concat(parts).toString().split('\r\n');
  expect(header).toBe('date,episode_id,episode_title,guid,downloads,listeners');
  expect(row).toBe(
    `${movedIn.toISOString().slice(0, 10)},${episode.id},"'=Tides, ""ebb""",${String(episode.attributes['guid'])},7,5`,
  );
  await world.send('statistics_export.start', null, { podcast_id: podcast.id });
  // Taken, so that it is no other test's.
  await claimJob(management.pool, ['export_statistics'], 'test', 600_000);
});

test('an export reaches no further back than the plan, and one of a podcast without downloads has no rows', async () => {
  const world = createWorld(management);
  const podcast = await world.podcast();
  const today = Math.floor(Date.now() / dayMs) * dayMs;
  const exportRows = async (changes: object, firstDownload: number | undefined) => {
    const { id } = await world.send('statistics_export.start', null, { podcast_id: podcast.id, ...changes });
    const asked: number[] = [];
    const job = await claimJob(management.pool, ['export_statistics'], 'test', 30_000);
    await createExportHandler({
      ...management,
      clock: () => new Date(today + 1),
      findFirstDownloads: async ({ podcastIds }) => ({
        podcasts:
          firstDownload === undefined
            ? []
            : podcastIds.map((podcastId) => ({ podcastId, hourMs: BigInt(firstDownload) })),
      }),
      exportDays: async ({ range }) => {
        asked.push(Number(range!.fromMs));
        return { days: [], window: Window.CALENDAR_UTC };
      },
    }).run(job!, signal);
    const ready = await findResource(management.pool, world.workspaceId, 'statistics_exports', id);
    expect(ready?.lifecycle_state).toBe('ready');
    return asked;
  };
  const cut = { history_from: new Date(today - 5 * dayMs).toISOString() };
  expect(await exportRows(cut, today - 90 * dayMs)).toEqual([today - 5 * dayMs]);
  expect(await exportRows(cut, today - 2 * dayMs)).toEqual([today - 2 * dayMs]);
  expect(await exportRows({}, undefined)).toEqual([]);
});
