import { jcsDigest } from '@longwave/idempotency';
import { Problem } from '@longwave/problems';
import { claimKey, keepAnswer, releaseKey } from '../messages/idempotency-table.ts';
import type { Answer, RouteCall, RouteDeps } from './exchange-route.ts';

/**
 * Carries out a write once for its key: a repetition gets the first answer. Throws `idempotency_conflict` for another payload under the
 * key; one that was refused gives its key back. A write whose process was killed before its answer is carried out again, so it must be
 * repeatable itself.
 */
export async function once(
  operation: string,
  { client, idempotencyKey: key, body }: RouteCall,
  { pool }: Pick<RouteDeps, 'pool'>,
  subject: string,
  work: () => Promise<Answer>,
): Promise<Answer> {
  const write = { clientId: client.clientId, workspaceId: client.workspaceId, operation, key };
  const digest = jcsDigest([subject, body]);
  const record = await claimKey(pool, write, digest);
  if (record.digest !== digest)
    throw new Problem(
      'idempotency_conflict',
      'This Idempotency-Key was used with another body. Use another key for this one.',
    );
  if (record.answer !== null && record.status !== null) return { status: record.status, body: record.answer };
  try {
    const answer = await work();
    await keepAnswer(pool, write, answer);
    return answer;
  } catch (error) {
    if (error instanceof Problem && error.status < 500) await releaseKey(pool, write);
    throw error;
  }
}
