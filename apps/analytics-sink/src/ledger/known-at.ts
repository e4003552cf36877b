import { completeUntilMs } from '@longwave/audience-store';
import type { Pool } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import { readSettledUntil } from '../ads/settled-until.ts';

const fieldError = (detail: string) =>
  new Problem('validation_failed', detail, {
    errors: [{ path: '/known_at_ms', code: 'validation_failed', detail }],
  });

/**
 * Refuses a time of knowledge of which more may still be recorded: what is known then must be the same whenever it is asked. Throws
 * `validation_failed` for a time to come, `temporarily_unavailable` while a transaction that began before it still runs.
 */
export async function requireSettled(pool: Pool, knownAt: Date): Promise<void> {
  const settled = await readSettledUntil(pool);
  if (knownAt.getTime() > Date.now()) throw fieldError('“known_at_ms” must not be in the future.');
  if (knownAt >= settled)
    throw new Problem('temporarily_unavailable', 'What was known then is still being recorded. Ask again in a second.');
}

/**
 * The time up to which facts are counted. Throws `validation_failed` for a time of knowledge after it, because facts from before would still
 * change what is charged.
 */
export async function requireComplete(pool: Pool, knownAt: Date): Promise<number> {
  const completeUntil = await completeUntilMs(pool);
  if (knownAt.getTime() > completeUntil)
    throw fieldError(
      `“known_at_ms” must not be later than ${new Date(completeUntil).toISOString()}, up to which facts are counted.`,
    );
  await requireSettled(pool, knownAt);
  return completeUntil;
}
