import type { Transaction } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import type { Podcast } from './podcast.ts';

/** Throws `value_taken` when the stream of a hosting platform has its podcast. Locks the stream, so that two transactions cannot both make one. */
export async function requireFreeStream(
  tx: Transaction,
  workspaceId: string,
  { authority_id: authorityId, stream_id: streamId }: NonNullable<Podcast['hosted_by']>,
): Promise<void> {
  await tx.query({
    name: 'lock_hosted_stream',
    text: 'select pg_advisory_xact_lock(hashtextextended($1, 3))',
    values: [`${workspaceId} ${authorityId} ${streamId}`],
  });
  const { rowCount } = await tx.query({
    name: 'find_hosted_stream',
    text: `select from resource where resource_type = 'podcasts' and attributes ? 'hosted_by' and workspace_id = $1
             and attributes #>> '{hosted_by,authority_id}' = $2 and attributes #>> '{hosted_by,stream_id}' = $3 limit 1`,
    values: [workspaceId, authorityId, streamId],
  });
  if (rowCount === 1) throw new Problem('value_taken', 'This stream has its podcast already.');
}
