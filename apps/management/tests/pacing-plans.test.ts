import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { reactTo } from '@longwave/command-catalog';
import { domainEventSchema } from '@longwave/events';
import { claimJob, endJob, type ClaimedJob } from '../src/background/job-table.ts';
import { nextNight, pacingPlanReactions, queueDuePlans } from '../src/commerce/forecasts/queue-pacing-plans.ts';
import { startTestManagement, type TestManagement } from './_management.ts';
import { createWorld, type World } from './_world.ts';

const minuteMs = 60_000;
const kinds = ['make_pacing_plans'] as const;

let management: TestManagement;
beforeAll(async () => {
  management = await startTestManagement();
});
afterAll(async () => management[Symbol.asyncDispose]());
beforeEach(async () => {
  await management.pool.query('delete from pacing_plan_due');
  await management.pool.query('delete from job where kind = any($1)', [kinds]);
});

/** Lets the follower see the newest event of a resource. */
async function followed(id: string): Promise<void> {
  const { rows } = await management.pool.query<{ payload: unknown }>(
    `select payload from outbox where payload #>> '{subject,id}' = $1 order by position desc limit 1`,
    [id],
  );
  await reactTo(pacingPlanReactions(management), domainEventSchema.parse(rows[0]!.payload));
}

/** Queues what is due after so long, and takes the job of this workspace alone. */
async function jobAfter(w: World, ms: number): Promise<ClaimedJob | undefined> {
  w.ahead(ms);
  await queueDuePlans(management.pool, w.now());
  const job = await claimJob(management.pool, kinds, 'worker', 30_000);
  expect(job?.workspace_id ?? w.workspaceId).toBe(w.workspaceId);
  return job;
}

const end = ({ id, lease_id: leaseId }: ClaimedJob, of: Parameters<typeof endJob>[3] = kinds) =>
  endJob(management.pool, id, leaseId, of);

const scheduled = async (w: World) => {
  const publishAt = new Date(w.now().getTime() + 24 * 60 * minuteMs).toISOString();
  return w.send('episode.schedule', await w.playableEpisode(), { publish_at: publishAt });
};

test('plans are made a minute after a release is known, one job at a time: what changes meanwhile is in the next one', async () => {
  const w = createWorld(management);
  await w.booked();
  for (const episode of [await scheduled(w), await scheduled(w)]) await followed(episode.id);
  expect(await jobAfter(w, 0)).toBeUndefined();
  const job = (await jobAfter(w, minuteMs))!;
  expect(job).toMatchObject({ kind: 'make_pacing_plans', input: {} });

  await followed((await scheduled(w)).id);
  expect(await jobAfter(w, 2 * minuteMs)).toBeUndefined();
  expect(await end(job, ['run_forecast'])).toBe(false);
  expect(await end({ ...job, lease_id: 'lse_0' })).toBe(false);
  expect(await end(job)).toBe(true);
  const next = (await jobAfter(w, 0))!;
  expect(await end(next)).toBe(true);
  // The rows of jobs do not grow with the changes.
  const { rows } = await management.pool.query('select id from job where subject_id = $1', [w.workspaceId]);
  expect(rows).toEqual([{ id: next.id }]);
});

test('plans are made again every night, and a last time when nothing with a goal is left', async () => {
  const w = createWorld(management);
  const { lineItem } = await w.booked();
  await followed((await w.planned(lineItem.id)).id);
  expect(await end((await jobAfter(w, minuteMs))!)).toBe(true);
  const night = nextNight(w.workspaceId, w.now());
  expect(night.getTime() - w.now().getTime()).toBeLessThanOrEqual(24 * 60 * minuteMs);
  expect(await jobAfter(w, night.getTime() - w.now().getTime() - minuteMs)).toBeUndefined();
  expect(await end((await jobAfter(w, 2 * minuteMs))!)).toBe(true);
  await w.send('line_item.cancel', lineItem, { cause: 'The offer ended early.' });
  expect(await end((await jobAfter(w, 24 * 60 * minuteMs))!)).toBe(true);
  expect(await jobAfter(w, 48 * 60 * minuteMs)).toBeUndefined();
});

test('releases of a workspace that has sold nothing make no jobs', async () => {
  const w = createWorld(management);
  await followed((await scheduled(w)).id);
  expect(await jobAfter(w, minuteMs)).toBeUndefined();
});
