import { servedBytesOf, type Interval, type ServedBytes } from '@longwave/audience';
import { parseMultirange, factColumns, factOf, partsOf, type FactRow } from '@longwave/audience-store';
import type { Transaction } from '@longwave/postgres';

/** A record that looked like a probe, and the intervals of its request that are known now. */
export interface GrownProbe {
  readonly fact: ServedBytes;
  readonly requested: readonly Interval[];
}

/** Whether another party reported this fact: then it may be one of several pieces of its request. */
export const isDeclared = ({ lists_version }: ServedBytes) => lists_version.startsWith('declared by ');

/**
 * The facts of other parties that were classified as probes although the pieces of their request hold more than two bytes together
 * (docs/counting.md#rule-4). Locked until the transaction ends. The condition is spelt like that of the index `fact_declared_request_idx`.
 */
export async function takeGrownProbes(tx: Transaction, requestIds: readonly string[]): Promise<GrownProbe[]> {
  const { rows } = await tx.query<FactRow & { readonly whole: string }>(
    `with request as (
       select f.request_id, f.listener_key, f.episode_id, l.arrangement_id, range_agg(f.requested) as whole
       from fact f join layout l on l.digest = f.layout_digest
       where f.request_id = any($1) and f.lists_version like 'declared by %'
       group by 1, 2, 3, 4 having bool_or(f.judgement = 'probe'))
     select ${factColumns}, r.whole
     from request r join fact f using (request_id, listener_key, episode_id)
       join layout l on l.digest = f.layout_digest and l.arrangement_id = r.arrangement_id
     where f.judgement = 'probe' and f.lists_version like 'declared by %'
       and (select sum(upper(piece) - lower(piece)) from unnest(r.whole) piece) > 2
     order by f.fact_id for update of f`,
    [requestIds],
  );
  return rows.map(({ whole, ...row }) => ({
    fact: servedBytesOf(factOf({ ...row, parts: partsOf(row.parts) })),
    requested: parseMultirange(whole),
  }));
}
