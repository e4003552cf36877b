import type { DeliveryEventKind } from '@longwave/events';
import type { Pool } from '@longwave/postgres';
import { readSettledUntil } from './settled-until.ts';

/** The reports of players that trackers may be told of. An impression is not among them: that is a delivery of the ledger. */
const reportedEvents: readonly DeliveryEventKind[] = [
  ...(['start', 'first_quartile', 'midpoint', 'third_quartile', 'complete'] as const),
  ...(['click', 'error'] as const),
];

/** The time that one page covers at most, so that a long absence is read in many short statements. */
const maxPageMs = 600_000;
const defaultMaxEvents = 500;

interface AdEventRow {
  readonly event: string;
  readonly counted_at: Date;
  readonly serving_id: string;
  readonly workspace_id: string;
  readonly campaign_id: string;
  readonly line_item_id: string;
  readonly creative_id: string;
  /** Content before the ad; null where the layout is not known, as for HLS. */
  readonly playhead_ms: number | null;
  readonly break_position: 'pre' | 'mid' | 'post' | null;
}

export interface AdEventPage {
  readonly events: readonly AdEventRow[];
  /** Everything that was counted before was answered, now or before. */
  readonly until: Date;
  readonly isBehind: boolean;
}

/** The first delivery of each serving, and the first counted report of each kind, of these workspaces. */
const eventsBetween = `
  with named as (
    select 'impression' as event, e.recorded_at as counted_at, e.serving_id, e.workspace_id, e.campaign_id, e.line_item_id, e.creative_id
    from ad_entry e
    where e.stage = 'delivered' and e.quantity = 1 and not e.restates and e.recorded_at >= $1 and e.recorded_at < $2
      and e.workspace_id = any($3)
      and not exists (select from ad_entry f where f.serving_id = e.serving_id and f.stage = 'delivered' and f.quantity = 1 and f.id < e.id)
    union all
    select c.event, c.counted_at, c.serving_id, c.workspace_id, c.campaign_id, c.line_item_id, c.creative_id
    from client_event c
    where c.judgement = 'eligible' and c.counted_at >= $1 and c.counted_at < $2 and c.workspace_id = any($3) and c.event = any($4)
      and not exists (select from client_event f where f.serving_id = c.serving_id and f.event = c.event and f.judgement = 'eligible'
        and (f.counted_at, f.fact_id) < (c.counted_at, c.fact_id))),
  page as (select * from named order by counted_at fetch first ($5) rows with ties)
  select page.*, place.playhead_ms, place.break_position
  from page left join known_layout k on k.name = page.serving_id and k.workspace_id = page.workspace_id
  left join layout l on l.digest = k.layout_digest
  left join lateral (
    select coalesce(sum((p->>'duration_ms')::int) filter (where is_content and at < ad_at), 0)::int as playhead_ms,
      case when not bool_or(is_content and at < ad_at) then 'pre' when not bool_or(is_content and at > ad_at) then 'post' else 'mid' end
        as break_position
    from (select p, at, p->>'kind' = 'content' as is_content,
        min(at) filter (where p->'ad'->>'serving_id' = page.serving_id) over () as ad_at
      from jsonb_array_elements(l.parts) with ordinality as part (p, at)) placed
    having min(ad_at) is not null) place on true
  order by page.counted_at`;

/**
 * One page of what was counted of single servings, in the order of counting. An event is answered once as long as each page begins where the
 * one before ended.
 * @param from undefined: no event, only the time to begin with
 * @param maxEvents a page has more where several were counted in one transaction
 */
export async function listAdEvents(
  pool: Pool,
  workspaceIds: readonly string[],
  from: Date | undefined,
  maxEvents = defaultMaxEvents,
): Promise<AdEventPage> {
  const newest = await readSettledUntil(pool);
  if (from === undefined || from >= newest) return { events: [], until: from ?? newest, isBehind: false };
  // Nobody asks for what happened while no workspace had a tracker.
  if (workspaceIds.length === 0) return { events: [], until: newest, isBehind: false };
  const until = new Date(Math.min(newest.getTime(), from.getTime() + maxPageMs));
  const { rows: events } = await pool.query<AdEventRow>({
    name: 'list_ad_events',
    text: eventsBetween,
    values: [from, until, workspaceIds, reportedEvents, maxEvents],
  });
  if (events.length < maxEvents) return { events, until, isBehind: until < newest };
  return { events, until: new Date(events.at(-1)!.counted_at.getTime() + 1), isBehind: true };
}
