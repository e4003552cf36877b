import type { ResourceView } from '@longwave/events';
import { newId } from '@longwave/ids';
import type { TestManagement } from './_management.ts';

type Endpoint = Pick<ResourceView, 'id' | 'workspace_id'>;

/** Deliveries `evt_1` to `evt_<count>` of an endpoint, of events a second apart, in one state. */
export async function insertDeliveriesOf(
  { pool, clock }: TestManagement,
  { id, workspace_id: workspaceId }: Endpoint,
  { count, state }: { readonly count: number; readonly state: 'pending' | 'failed' },
): Promise<void> {
  await pool.query(
    `insert into webhook_delivery (id, workspace_id, endpoint_id, message_id, message_type, occurred_at, body, state, queued_at,
       next_attempt_at, created_at, ended_at)
     select id, $1, $2, 'evt_' || n, 'podcast.created', $3::timestamptz - make_interval(hours => 2) + make_interval(secs => n), '{}',
       $5, $3, $3, $3, case when $5 = 'failed' then $3::timestamptz end from unnest($4::text[]) with ordinality as d (id, n)`,
    [workspaceId, id, clock(), Array.from({ length: count }, () => newId('whd')), state],
  );
}
