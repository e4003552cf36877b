import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { findResource } from '@longwave/command-pipeline';
import { Window } from '@longwave/rpc/audience';
import { claimJob } from '../src/jobs/job-table.ts';
import { createExportWork } from '../src/statistics-exports/export-work.ts';
import { createWorld, startTestManagement, type TestManagement } from './_support.ts';

let management: TestManagement;
beforeAll(async () => {
  management = await startTestManagement();
});
afterAll(async () => management?.[Symbol.asyncDispose]());

const dayMs = 86_400_000;
const signal = new AbortController().signal;

test('an export holds a row for every day and episode, in ranges of at most 31 days, and can be fetched', async () => {
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
  const job = await claimJob(management.pool, ['export_statistics'], 'test', 30_000);
  await createExportWork({
    ...management,
    clock: () => later,
    exportDays: async ({ range }) => {
      asked.push(Number(range!.toMs - range!.fromMs) / dayMs);
      return { days: [{ dayMs: range!.fromMs, episodeId: episode.id, downloads: 7n, listeners: 5n }], window };
    },
  })(job!, signal);

  expect(asked.reduce((sum, days) => sum + days, 0)).toBe(41);
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
    `${new Date().toISOString().slice(0, 10)},${episode.id},"'=Tides, ""ebb""",${String(episode.attributes['guid'])},7,5`,
  );
  await world.send('statistics_export.start', null, { podcast_id: podcast.id });
});
