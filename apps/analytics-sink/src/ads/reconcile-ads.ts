import { maxKeysOfPlay } from '@longwave/audience';
import type { Pool } from '@longwave/postgres';
import { adStages } from './ad-entry.ts';
import { cohortNumbers, cohortSums, servingsReached } from './cohort-table.ts';

/** A contradiction that the reconciliation looks for. */
type AdCheck =
  /** The eligible facts of its session do not cover a delivered ad. */
  | 'delivered_without_bytes'
  /** The session of a delivered ad is not a counted download. */
  | 'delivered_without_download'
  /** The ledger's entries of a delivery do not add up to it. */
  | 'ledger_differs_from_deliveries'
  /** The ledger bills a serving more than once, or less than never. */
  | 'billed_not_once'
  /** A billed serving has no delivery in a counted download. */
  | 'billed_without_delivery'
  /** A billed serving has no decision. */
  | 'billed_without_decision'
  /** The hourly totals differ from the sum of the ledger. */
  | 'hours_differ_from_ledger'
  /** The ledger says of a serving that it was served, or confirmed, other than once if it was, and never if it was not. */
  | 'served_not_once'
  | 'confirmed_not_once'
  /** A cohort differs from a count of its servings. */
  | 'cohort_differs_from_servings';

export interface AdReconciliation {
  readonly decided: number;
  readonly delivered: number;
  /** Delivered ads that written bytes of facts cover; in a sound ledger all but `unchecked`. */
  readonly covered: number;
  /** Delivered ads that are older than the stored facts: nobody can check their bytes. */
  readonly unchecked: number;
  readonly billable: number;
  /** The contradictions found: how often, and up to ten servings (or hours). */
  readonly findings: readonly {
    readonly check: AdCheck;
    readonly count: number;
    readonly examples: readonly string[];
  }[];
}

/**
 * Deliveries of the range, the bytes of their ads, and the deliveries that are covered: eligible facts of the session wrote all bytes of the
 * ad for its own serving, which the facts' layout names in this place; of HLS all cells, from where the last of its tracks begins to where
 * the first of them ends. The facts may have any key that may be the listener's: by the change of secrets, or by a play
 * that at most $4 keys used, with the same address or user agent.
 */
const deliveries = `
  delivery as materialized (
    select a.*, s.arrangement_id, s.counted as in_download,
      a.started_at < coalesce((select kept_from from fact_retention), '-infinity') as unchecked
    from ad_delivered a left join session s using (listener_key, episode_id, window_on)
    where a.workspace_id = $1 and a.started_at >= $2 and a.started_at < $3 and a.counted),
  offer as materialized (
    select d.serving_id, d.arrangement_id, d.break_key, d.slot, d.creative_id, l.digest, l.track,
      range_agg(int8range((p->>'from')::bigint, (p->>'to')::bigint)) as bytes
    from (select distinct serving_id, arrangement_id, break_key, slot, creative_id from delivery) d
    join layout l on l.arrangement_id = d.arrangement_id
    cross join lateral jsonb_array_elements(l.parts) p
    where p->'ad'->>'serving_id' = d.serving_id and p->'ad'->>'break_key' = d.break_key
      and (p->'ad'->>'slot')::int = d.slot and p->'ad'->>'creative_id' = d.creative_id
    group by 1, 2, 3, 4, 5, 6, 7),
  covered as (
    select distinct d.serving_id, d.listener_key, d.episode_id, d.window_on, d.break_key, d.slot, d.creative_id
    from (select * from delivery where not unchecked) d
    cross join lateral (
      with recursive own as (
        select d.listener_key
        union
        select k.listener_key from own cross join lateral (
          select e.listener_key from listener_episode e
          where e.previous_listener_key = own.listener_key and e.episode_id = d.episode_id
          union all
          select e.previous_listener_key from listener_episode e
          where e.listener_key = own.listener_key and e.episode_id = d.episode_id and e.previous_listener_key is not null
          union all
          select other.listener_key from (
            select distinct r.play_id, r.play_address_key, r.user_agent_digest from served_request r
            where r.listener_key = own.listener_key and r.episode_id = d.episode_id and r.play_address_key is not null) used
          join served_request other on other.episode_id = d.episode_id and other.play_id = used.play_id
            and other.play_address_key is not null
            and (other.play_address_key = used.play_address_key or other.user_agent_digest = used.user_agent_digest)
          where (select count(*) from (
            select distinct r.listener_key from served_request r
            where r.episode_id = d.episode_id and r.play_id = used.play_id and r.play_address_key is not null
            limit $4::int + 1) user_of_play) <= $4) k),
      file as (
        select o.track, range_agg(f.written) as written, (array_agg(o.bytes))[1] as bytes
        from own join fact f using (listener_key) join offer o on o.digest = f.layout_digest
        where o.serving_id = d.serving_id and o.arrangement_id = d.arrangement_id and o.break_key = d.break_key
          and o.slot = d.slot and o.creative_id = d.creative_id
          and f.at >= $2 and f.judgement = 'eligible' and f.episode_id = d.episode_id
          and f.started_at >= d.started_at and f.started_at < d.started_at + interval '24 hours'
        group by 1),
      cell as (
        select t.digest, (c->>2)::numeric / t.timescale as starts, ((c->>2)::numeric + (c->>3)::numeric) / t.timescale as ends,
          f.written @> int8range((c->>0)::bigint, (c->>0)::bigint + (c->>1)::bigint) as is_written
        from file f join track_part t on t.digest = f.track and t.media <> 'iframe' cross join lateral jsonb_array_elements(t.cells) c),
      asset as (
        select numrange(max(starts), min(ends)) as whole
        from (select min(starts) as starts, max(ends) as ends from cell group by digest) each_track)
      select exists (select from file where track is null and written @> bytes)
        or (select range_agg(numrange(starts, ends)) filter (where is_written) from cell) @> (select whole from asset) as is_whole) ad
    where ad.is_whole)`;

/** A row for each contradiction. */
const findings = `
  entry as materialized (
    select * from ad_entry where workspace_id = $1 and hour >= date_trunc('hour', $2::timestamptz, 'UTC') and hour < $3),
  ledger as (
    select serving_id, listener_key, episode_id, window_on, break_key, slot, creative_id, sum(quantity) as quantity
    from entry where stage = 'delivered' group by 1, 2, 3, 4, 5, 6, 7 having sum(quantity) <> 0),
  bill as (
    select serving_id, sum(quantity) as quantity from ad_entry
    where serving_id in (select serving_id from entry where stage = 'billable') and stage = 'billable'
    group by 1 having sum(quantity) <> 0),
  stage as (
    select s.serving_id, stage,
      (select coalesce(sum(quantity), 0) from ad_entry e where e.serving_id = s.serving_id and e.stage = s.stage) as quantity,
      exists (select from ad_delivered a where a.serving_id = s.serving_id and (a.counted or s.stage = 'served'))
        or s.stage = 'served' and exists (select from ad_written w where w.serving_id = s.serving_id) as is_due
    from (select distinct serving_id, reached.stage from entry cross join (values ('served'), ('confirmed')) as reached (stage)
      where entry.stage <> 'decided') s),
  cohort as (
    select line_item_id, surface_class, quarter, ${cohortSums((bit) => `now ${bit}`)}
    from (${servingsReached(`s.serving_id in (select serving_id from entry where stage = 'decided')`)}) s
    where quarter >= $2 and quarter < $3 group by 1, 2, 3),
  total as (
    select podcast_id, campaign_id, line_item_id, creative_id, hour, country, region, app, device, platform, operating_system,
      ${adStages.map((stage) => `coalesce(sum(quantity) filter (where stage = '${stage}'), 0) as ${stage}`).join(', ')}
    from entry group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11),
  finding as (
    select 'delivered_without_bytes' as check, d.serving_id as example from delivery d
    left join covered c using (serving_id, listener_key, episode_id, window_on, break_key, slot, creative_id)
    where c.serving_id is null and not d.unchecked
    union all
    select 'delivered_without_download', serving_id from delivery where in_download is not true
    union all
    select 'ledger_differs_from_deliveries', serving_id from ledger l
    full join delivery d using (serving_id, listener_key, episode_id, window_on, break_key, slot, creative_id)
    where l.quantity is distinct from 1 or d.counted is null
    union all
    select 'billed_not_once', serving_id from bill where quantity <> 1
    union all
    select 'billed_without_delivery', serving_id from bill b
    where not exists (select from ad_delivered a where a.serving_id = b.serving_id and a.counted and a.billable)
    union all
    select 'billed_without_decision', serving_id from bill b
    where not exists (select from ad_entry e where e.serving_id = b.serving_id and e.stage = 'decided')
    union all
    select 'hours_differ_from_ledger', hour::text
    from total t full join (
      select * from ad_hour
      where workspace_id = $1 and hour >= date_trunc('hour', $2::timestamptz, 'UTC') and hour < $3) h
      using (podcast_id, campaign_id, line_item_id, creative_id, hour, country, region, app, device, platform, operating_system)
    where ${adStages.map((stage) => `coalesce(t.${stage}, 0) <> coalesce(h.${stage}, 0)`).join(' or ')}
    union all
    select stage || '_not_once', serving_id from stage where quantity <> is_due::int
    union all
    select 'cohort_differs_from_servings', line_item_id || ' ' || quarter
    from cohort c full join (
      select * from serving_cohort where workspace_id = $1 and quarter >= $2 and quarter < $3) k
      using (line_item_id, surface_class, quarter)
    where ${cohortNumbers.map((number) => `coalesce(c.${number}, 0) <> coalesce(k.${number}, 0)`).join(' or ')})`;

/**
 * Checks the ad ledger of a workspace against the bytes of facts and against itself (docs/counting.md#the-ledger-of-ads).
 * @param range of decisions and of downloads' starts, half-open, whole UTC hours
 */
export async function reconcileAds(
  pool: Pool,
  workspaceId: string,
  range: { readonly from: Date; readonly to: Date },
): Promise<AdReconciliation> {
  const { rows } = await pool.query<{
    decided: number;
    delivered: number;
    covered: number;
    unchecked: number;
    billable: number;
    findings: { check: AdCheck; count: number; examples: string[] }[];
  }>(
    `with ${deliveries}, ${findings},
     named as (
       select "check", count(*)::int as count, (array_agg(distinct example order by example))[1:10] as examples
       from finding group by 1)
     select
       (select count(*)::int from entry where stage = 'decided') as decided,
       (select count(*)::int from delivery) as delivered,
       (select count(*)::int from covered) as covered,
       (select count(*)::int from delivery where unchecked) as unchecked,
       (select coalesce(sum(quantity), 0)::int from entry where stage = 'billable') as billable,
       coalesce((select json_agg(to_json(named) order by "check") from named), '[]') as findings`,
    [workspaceId, range.from, range.to, maxKeysOfPlay],
  );
  return rows[0]!;
}
