import type { Pool } from '@longwave/postgres';

const dayMs = 86_400_000;
/** Decisions of so many days are looked at. */
const days = 7;
/** Decisions of one hour that are looked at, so that a workspace costs 34,000 at most. */
const defaultPerHour = 200;

/** How many of the servings that were looked at had reached a basis by each age. */
export interface BasisAges {
  readonly basis: string;
  readonly decided: number;
  readonly reached: readonly number[];
}

export interface AgesQuery {
  readonly workspaceId: string;
  readonly surfaceClass: 'stream' | 'download';
  /** Rising, in ms from the end of the quarter hour of the decision on. */
  readonly agesMs: readonly number[];
  /** Facts up to this time are counted. */
  readonly completeUntilMs: number;
}

/** The next workspace of the ledger in the order of ids; undefined behind the last. */
export async function nextWorkspace(pool: Pool, afterWorkspaceId: string): Promise<string | undefined> {
  const { rows } = await pool.query<{ id: string | null }>(
    'select min(workspace_id) as id from ad_entry where workspace_id > $1',
    [afterWorkspaceId],
  );
  return rows[0]?.id ?? undefined;
}

/**
 * How late servings of a workspace reached each basis, by when the ledger recorded it first: so a lag of the bus makes them later, never
 * earlier. What was taken back did not reach it; what was held counts from its release on. Of the week that ended before the last of the ages.
 */
export async function readAges(
  pool: Pool,
  { workspaceId, surfaceClass, agesMs, completeUntilMs }: AgesQuery,
  perHour = defaultPerHour,
): Promise<readonly BasisAges[]> {
  const until = new Date(completeUntilMs - agesMs.at(-1)!);
  until.setUTCMinutes(0, 0, 0);
  const { rows } = await pool.query<{ basis: string; bucket: number | null; servings: number }>({
    name: 'read_ages',
    text: `with place as materialized (
        select one.serving_id, date_bin('15 minutes', s.decided_at, 'epoch'::timestamptz) + interval '15 minutes' as ended
        from generate_series($3::timestamptz, $4::timestamptz - interval '1 hour', interval '1 hour') as hours (hour)
        cross join lateral (select serving_id from ad_entry e
          where e.workspace_id = $1 and e.hour = hours.hour and e.stage = 'decided' limit $6) one
        join ad_serving s on s.serving_id = one.serving_id
        where s.surface_class = $2 and s.decided_at is not null and s.line_item_id is not null),
      known as (
        select p.ended, a.*, c.* from place p
        cross join lateral (
          select case when sum(quantity) filter (where stage = 'served') > 0
              then min(recorded_at) filter (where stage = 'served' and quantity > 0) end as served,
            case when sum(quantity) filter (where stage = 'confirmed') > 0
              then min(recorded_at) filter (where stage = 'confirmed' and quantity > 0) end as confirmed
          from ad_entry where serving_id = p.serving_id and stage in ('served', 'confirmed')) a
        cross join lateral (
          select min(counted_at) filter (where event = 'start') as started, min(counted_at) filter (where event = 'complete') as completed
          from client_event where serving_id = p.serving_id and judgement = 'eligible') c)
      select basis, width_bucket((extract(epoch from reached_at - ended) * 1000)::float8, $5::float8[]) as bucket, count(*)::float8 as servings
      from known cross join lateral (values ('served_bytes', served), ('ad_delivered', confirmed), ('client_event', started),
        ('completes', completed)) as bases (basis, reached_at)
      group by 1, 2`,
    values: [workspaceId, surfaceClass, new Date(until.getTime() - days * dayMs), until, agesMs, perHour],
  });
  const bases = new Map<string, { decided: number; inBucket: number[] }>();
  for (const { basis, bucket, servings } of rows) {
    const counts = bases.get(basis) ?? { decided: 0, inBucket: agesMs.map(() => 0) };
    bases.set(basis, counts);
    counts.decided += servings;
    // Of no bucket is what never reached it, or behind the last age.
    if (bucket !== null && bucket < agesMs.length) counts.inBucket[bucket]! += servings;
  }
  return [...bases].map(([basis, { decided, inBucket }]) => {
    let sum = 0;
    return { basis, decided, reached: inBucket.map((count) => (sum += count)) };
  });
}
