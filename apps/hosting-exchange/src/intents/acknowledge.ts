import { transaction, type Pool } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import { insertEvents } from '../messages/outbox-table.ts';
import { findIntent, insertAcknowledgement, type Acknowledgement } from './intent-table.ts';

/**
 * Records what a hosting plane says about a version of a serving intent: the first word counts. Answers whether it was new.
 * @param authorityId that of the client; undefined for our own services, which serve every authority's addresses
 * Throws `not_found` for an unknown version, `validation_failed` for another plan.
 */
export async function acknowledge(
  pool: Pool,
  said: Acknowledgement,
  authorityId: string | undefined,
  now: Date,
): Promise<boolean> {
  return transaction(pool, async (tx) => {
    const { workspaceId, intentId, intentVersion } = said;
    const intent = await findIntent(tx, workspaceId, intentId, intentVersion);
    if (!intent || (authorityId !== undefined && intent.authority_id !== authorityId))
      throw new Problem('not_found', 'There is no such version of a serving intent.');
    if (intent.attributes.plan_digest !== said.planDigest) {
      const detail = 'The version of the intent has another plan_digest.';
      throw new Problem('validation_failed', detail, {
        errors: [{ path: '/plan_digest', code: 'other_plan', detail }],
      });
    }
    const isNew = await insertAcknowledgement(tx, said);
    if (isNew)
      await insertEvents(
        tx,
        [
          {
            type: 'serving_intent.acknowledged',
            workspaceId,
            key: intentId,
            detail: {
              intent_id: intentId,
              intent_version: intentVersion,
              acknowledged_by: said.acknowledgedBy,
              status: said.status,
            },
          },
        ],
        now,
      );
    return isNew;
  });
}
