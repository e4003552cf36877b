import { readWatermarks } from '@longwave/audience-store';
import type { Pool } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import { readSettledUntil } from '../ads/settled-until.ts';

/** A clock may be ahead of ours by so much. */
const skewMs = 60_000;

/**
 * Refuses a time of knowledge before which more may still be recorded: what is known then must be the same whenever it is asked. Throws
 * `validation_failed` for a time to come, `temporarily_unavailable` while a transaction that began before it still runs.
 */
export async function requireSettled(pool: Pool, knownAt: Date): Promise<void> {
  if (knownAt.getTime() > Date.now() + skewMs) {
    const detail = '“known_at_ms” must not be in the future.';
    throw new Problem('validation_failed', detail, {
      errors: [{ path: '/known_at_ms', code: 'validation_failed', detail }],
    });
  }
  if (knownAt >= (await readSettledUntil(pool)))
    throw new Problem('temporarily_unavailable', 'What is known then is still being recorded. Ask again in a second.');
}

/**
 * The time up to which facts are counted. Throws as `requireSettled`, and `temporarily_unavailable` for a time up to which facts were not
 * read yet, because these would change what is charged. It does not ask whether facts wait: these may hold the time back that was reached
 * before, and what was answered once must be answered again.
 */
export async function requireComplete(pool: Pool, knownAt: Date): Promise<number> {
  await requireSettled(pool, knownAt);
  const { readUntilMs, completeUntilMs } = await readWatermarks(pool);
  if (knownAt.getTime() > readUntilMs)
    throw new Problem(
      'temporarily_unavailable',
      `Facts are counted up to ${new Date(completeUntilMs).toISOString()}: ask for what was known then, or ask again later.`,
    );
  return completeUntilMs;
}
