import type { Transaction } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import { countJobsOf, type JobKind } from './job-table.ts';

/** Jobs of one kind that a workspace may have waiting and running, where nothing else is said. */
const usualOpen = 20;
/** A job takes seconds to minutes; then there is room for the next one. */
const retryAfterSeconds = 60;

/**
 * Throws `rate_limited` when the workspace has as many jobs of a kind that have not ended as it may.
 * @param noun what they are, in the plural
 */
export async function assertFewOpenJobs(
  tx: Transaction,
  workspaceId: string,
  kind: JobKind,
  noun: string,
  maxOpen = usualOpen,
): Promise<void> {
  if ((await countJobsOf(tx, workspaceId, kind)) < maxOpen) return;
  throw new Problem(
    'rate_limited',
    `A workspace may have ${maxOpen} ${noun} that have not ended. Wait until one has ended, or cancel one that can be cancelled.`,
    { retryAfterSeconds },
  );
}
