import type { Columns } from '@longwave/audience-store';
import type { Transaction } from '@longwave/postgres';
import type { WrittenRow } from '../counting/counted-rows.ts';
import { placeOf, type AdEntry, type AdPlace } from './ad-entry.ts';

/** A serving whose row is locked, with the billable entry that stands. */
interface LockedServing extends Columns<'ad_serving', 'serving_id' | 'billed', { billed: AdPlace | null }> {
  /** It has reached nothing yet but its decision, so no entry of a later stage stands. */
  readonly is_fresh: boolean;
}

/** Locks servings in the order of their ids until the transaction ends; those that nobody has decided yet get a row. */
export async function lockServings(tx: Transaction, servingIds: readonly string[]): Promise<LockedServing[]> {
  const { rows } = await tx.query<LockedServing>(
    `insert into ad_serving (serving_id) select unnest($1::text[]) as serving_id order by 1
     on conflict (serving_id) do update set serving_id = excluded.serving_id
     returning serving_id, billed, xmax = 0 or line_item_id is not null and reached & 6 = 0 as is_fresh`,
    [servingIds],
  );
  return rows;
}

/** Stages that a serving reaches once, in the earliest of the sessions that reach it, by the start of the session. */
const stagesOfServings = ['served', 'confirmed', 'billable'] as const;
type ServingStage = (typeof stagesOfServings)[number];

const rowColumns = `listener_key, episode_id, window_on, serving_id, started_at, workspace_id, podcast_id, campaign_id, line_item_id,
  creative_id, break_key, slot, country, region, app, device, platform, operating_system`;

/** The earliest session of each serving in each stage. */
const earliest = `
  select stage, to_json(first) as row from unnest($1::text[]) as serving (id)
  cross join (values ${stagesOfServings.map((stage) => `('${stage}')`).join(', ')}) as reached (stage)
  cross join lateral (
    select ${rowColumns} from (
      select ${rowColumns}, counted, billable from ad_delivered a where a.serving_id = serving.id
      union all
      select ${rowColumns}, false, false from ad_written w where w.serving_id = serving.id) own
    where case stage when 'served' then true when 'confirmed' then counted else counted and billable end
    order by started_at, listener_key, episode_id, window_on, break_key, slot, creative_id limit 1) first`;

/** The entries of the ledger that stand. Of billable ones each serving knows its own. */
const standing = `
  select stage, to_json(place) as row from (
    select stage, serving_id, listener_key, window_on, workspace_id, podcast_id, episode_id, campaign_id, line_item_id, creative_id,
      break_key, slot, hour as started_at, country, region, app, device, platform, operating_system
    from ad_entry where serving_id = any($1) and stage in ('served', 'confirmed')
    group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19 having sum(quantity) > 0) place`;

const nameOf = (stage: ServingStage, servingId: string) => `${stage} ${servingId}`;

/** Reads places by stage and serving. */
async function readPlaces(tx: Transaction, text: string, servingIds: readonly string[]): Promise<Map<string, AdPlace>> {
  const { rows } = await tx.query<{ stage: ServingStage; row: WrittenRow }>(text, [servingIds]);
  return new Map(
    rows.map(({ stage, row }) => [
      nameOf(stage, row.serving_id),
      placeOf({ ...row, started_at: new Date(row.started_at).toISOString() }),
    ]),
  );
}

/**
 * Lets each serving be served, confirmed and billed at most once: in the earliest of its sessions that write it, that deliver it in a counted
 * download, and that bill it besides. When that one is taken back, the stage moves to the next. Answers the entries of the ledger.
 */
export async function moveStages(tx: Transaction, servings: readonly LockedServing[]): Promise<AdEntry[]> {
  const servingIds = servings.map((row) => row.serving_id);
  const known = servings.flatMap((one) => (one.is_fresh ? [] : [one.serving_id]));
  const was = known.length > 0 ? await readPlaces(tx, standing, known) : new Map<string, AdPlace>();
  for (const { serving_id, billed } of servings) if (billed) was.set(nameOf('billable', serving_id), billed);
  const due = await readPlaces(tx, earliest, servingIds);
  const moved = servingIds.flatMap((servingId) =>
    stagesOfServings
      .map((stage) => ({
        servingId,
        stage,
        was: was.get(nameOf(stage, servingId)),
        due: due.get(nameOf(stage, servingId)),
      }))
      .filter((one) => JSON.stringify(one.was) !== JSON.stringify(one.due)),
  );
  const bills = moved.filter(({ stage }) => stage === 'billable');
  if (bills.length > 0)
    await tx.query(
      `update ad_serving s set billed = k.due from json_to_recordset($1) as k(serving_id text, due json)
       where s.serving_id = k.serving_id`,
      [JSON.stringify(bills.map(({ servingId, due: billed }) => ({ serving_id: servingId, due: billed ?? null })))],
    );
  return moved.flatMap(({ stage, was: old, due: next }) => [
    ...(old ? [{ ...old, stage, quantity: -1 }] : []),
    ...(next ? [{ ...next, stage, quantity: 1 }] : []),
  ]);
}
