import { createHash } from 'node:crypto';
import type { Reactions } from '@longwave/command-catalog';
import type { DomainEvent } from '@longwave/events';
import { transaction, type Pool, type Transaction } from '@longwave/postgres';
import { pollLoop, type PollLoop } from '@longwave/worker-kit';
import { insertJob, removeEndedJobs } from '../../background/job-table.ts';
import { lockDuePlans, markPlansDue, removePlansDue, setPlansDue, type DuePlans } from './pacing-plan-due-table.ts';

/** After a change, so that those that follow at once are in the same plans. */
const collectMs = 60_000;
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** Of UTC; workspaces are spread over two hours. */
const nightMs = 2 * hourMs;
/** Of one poll. */
const batchSize = 100;
const expectedMs = 10_000;

/** When the plans of a workspace are made if nothing changes: the same minute of every night, another one for each. */
export function nextNight(workspaceId: string, now: Date): Date {
  const spreadMs = createHash('sha256').update(workspaceId).digest().readUInt32BE() % (2 * hourMs);
  const midnightMs = Math.floor(now.getTime() / dayMs) * dayMs;
  const todayMs = midnightMs + nightMs + spreadMs;
  return new Date(todayMs > now.getTime() ? todayMs : todayMs + dayMs);
}

/** Plans follow from what is sold, from releases and from what people expect of traffic. */
export function pacingPlanReactions({
  pool,
  clock,
}: {
  readonly pool: Pool;
  readonly clock: () => Date;
}): Reactions<Promise<void>> {
  const remake = ({ workspace_id: workspaceId }: DomainEvent) =>
    markPlansDue(pool, workspaceId, new Date(clock().getTime() + collectMs));
  return {
    'serving_plan.published': remake,
    'serving_plan.republished': remake,
    'episode.scheduled': remake,
    'episode.published': remake,
    'episode.due_published': remake,
    'episode.unpublished': remake,
    'traffic_modifier.created': remake,
    'traffic_modifier.revised': remake,
    'traffic_modifier.retired': remake,
  };
}

async function queue(tx: Transaction, { workspaceId, hasGoals }: DuePlans, now: Date): Promise<void> {
  await removeEndedJobs(tx, workspaceId, 'make_pacing_plans');
  await insertJob(tx, {
    ...{ kind: 'make_pacing_plans', workspaceId, subjectType: 'workspaces', subjectId: workspaceId, subjectVersion: 0 },
    ...{ input: {}, now, work: { workClass: 'bulk', expectedMs } },
  });
  await (hasGoals ? setPlansDue(tx, workspaceId, nextNight(workspaceId, now)) : removePlansDue(tx, workspaceId));
}

/**
 * Queues a job for each workspace whose plans are due: one at a time, so that a change while plans are being made is in the next ones.
 * @returns how many were queued
 */
export const queueDuePlans = (pool: Pool, now: Date): Promise<number> =>
  transaction(pool, async (tx) => {
    const due = await lockDuePlans(tx, now, batchSize);
    for (const one of due) await queue(tx, one, now);
    return due.length;
  });

/** Queues the jobs of the forecaster that make plans, until it is disposed. Several may run. */
export const startPacingPlans = (options: {
  readonly pool: Pool;
  readonly clock: () => Date;
  readonly everyMs: number;
  /** Wakes workers. */
  readonly onQueued: () => void;
  readonly onError: (error: unknown) => void;
}): PollLoop =>
  pollLoop({
    everyMs: options.everyMs,
    run: async () => {
      const queued = await queueDuePlans(options.pool, options.clock());
      if (queued > 0) options.onQueued();
      return queued === batchSize;
    },
    onError: options.onError,
  });
