import { columns, type Columns, type JsonRows } from '@longwave/audience-store';
import type { DecisionMade } from '@longwave/events';
import { transaction, type Pool, type Transaction } from '@longwave/postgres';
import { asLedgerRow, hourOf, readChangeBasis, type ChangeBasis } from '../counting/change-basis.ts';
import { adKey, diffRows, ledgerDelta, type AdRow, type Counts } from '../counting/counted-rows.ts';

/** An entry of the ledger, without the columns that the basis adds. */
type AdEntry = Readonly<
  Omit<JsonRows['ad_entry'], 'id' | 'recorded_at' | 'methodology_version' | 'lists_version' | 'restates'>
> & { readonly stage: 'decided' | 'delivered' | 'billable' };

/** The delivery or serving that an entry is about. */
function placeOf(row: AdRow): Omit<AdEntry, 'stage' | 'quantity'> {
  return {
    serving_id: row.serving_id,
    listener_key: row.listener_key,
    window_on: row.window_on,
    workspace_id: row.workspace_id,
    podcast_id: row.podcast_id,
    episode_id: row.episode_id,
    campaign_id: row.campaign_id,
    line_item_id: row.line_item_id,
    creative_id: row.creative_id,
    break_key: row.break_key,
    slot: row.slot,
    hour: hourOf(row.started_at),
    country: row.country,
    region: row.region,
    app: row.app,
    device: row.device,
    platform: row.platform,
    operating_system: row.operating_system,
  };
}

const entryColumns = `methodology_version, lists_version, restates, stage, quantity, serving_id, listener_key, window_on, workspace_id,
  podcast_id, episode_id, campaign_id, line_item_id, creative_id, break_key, slot, hour, country, region, app, device, platform,
  operating_system`;
const hourColumns = `workspace_id, podcast_id, campaign_id, line_item_id, creative_id, hour, country, region, app, device, platform,
  operating_system`;

/** Appends entries and brings the hourly totals up to date, rows in key order. */
async function appendEntries(tx: Transaction, entries: readonly AdEntry[], basis: ChangeBasis): Promise<void> {
  if (entries.length === 0) return;
  const stage = (name: AdEntry['stage']) => `coalesce(sum(quantity) filter (where stage = '${name}'), 0)`;
  await tx.query(
    `with entry as (
       insert into ad_entry (${entryColumns})
       select ${entryColumns} from json_populate_recordset(null::ad_entry, $1) returning *)
     insert into ad_hour as h (${hourColumns}, decided, delivered, billable)
     select ${hourColumns}, ${stage('decided')}, ${stage('delivered')}, ${stage('billable')}
     from entry group by ${hourColumns} order by ${hourColumns}
     on conflict (${hourColumns}) do update set decided = h.decided + excluded.decided,
       delivered = h.delivered + excluded.delivered, billable = h.billable + excluded.billable`,
    [JSON.stringify(entries.map((entry) => asLedgerRow(entry, basis)))],
  );
}

/**
 * Bills each serving at most once: for the earliest of its counted, billable deliveries, by the start of the download. When that delivery is
 * taken back, the bill moves to the next one. Answers the entries of the ledger.
 */
async function moveBills(tx: Transaction, servingIds: readonly string[]): Promise<AdEntry[]> {
  type Billed = Omit<AdEntry, 'stage' | 'quantity'>;
  const { rows: servings } = await tx.query<Columns<'ad_serving', 'serving_id' | 'billed', { billed: Billed | null }>>(
    `insert into ad_serving (serving_id) select unnest($1::text[]) as serving_id order by 1
     on conflict (serving_id) do update set serving_id = excluded.serving_id returning serving_id, billed`,
    [servingIds],
  );
  const { rows: earliest } = await tx.query<{ row: AdRow }>(
    `select to_json(a) as row from unnest($1::text[]) as serving (id) cross join lateral (
       select * from ad_delivered a where a.serving_id = serving.id and a.counted and a.billable
       order by started_at, listener_key, episode_id, window_on, break_key, slot, creative_id limit 1) a`,
    [servingIds],
  );
  const due = new Map(
    earliest.map(({ row }) => [
      row.serving_id,
      placeOf({ ...row, started_at: new Date(row.started_at).toISOString() }),
    ]),
  );
  const moved = servings
    .map(({ serving_id, billed }) => ({ serving_id, billed, due: due.get(serving_id) ?? null }))
    .filter((one) => JSON.stringify(one.billed) !== JSON.stringify(one.due));
  if (moved.length > 0)
    await tx.query(
      `update ad_serving s set billed = k.due from json_to_recordset($1) as k(serving_id text, due json)
       where s.serving_id = k.serving_id`,
      [JSON.stringify(moved)],
    );
  return moved.flatMap(({ billed, due: next }) => [
    ...(billed ? [{ ...billed, stage: 'billable' as const, quantity: -1 }] : []),
    ...(next ? [{ ...next, stage: 'billable' as const, quantity: 1 }] : []),
  ]);
}

/** Stores delivered ads and appends the changes to the ledger. The caller holds the locks of chains and days. */
export async function saveAds(tx: Transaction, before: Counts, after: Counts, basis: ChangeBasis): Promise<void> {
  const { saved, gone } = diffRows(before.ads, after.ads, adKey);
  if (saved.length + gone.length === 0) return;
  if (gone.length > 0)
    await tx.query(
      `delete from ad_delivered a using json_populate_recordset(null::ad_delivered, $1) k
       where (a.listener_key, a.episode_id, a.window_on, a.break_key, a.slot, a.creative_id)
           = (k.listener_key, k.episode_id, k.window_on, k.break_key, k.slot, k.creative_id)`,
      [JSON.stringify(gone)],
    );
  if (saved.length > 0)
    await tx.query(
      `insert into ad_delivered (${columns.ad_delivered})
       select ${columns.ad_delivered} from json_populate_recordset(null::ad_delivered, $1)
       on conflict (listener_key, episode_id, window_on, break_key, slot, creative_id) do update set
         started_at = excluded.started_at, campaign_id = excluded.campaign_id, line_item_id = excluded.line_item_id,
         serving_id = excluded.serving_id, billable = excluded.billable, counted = excluded.counted,
         country = excluded.country, region = excluded.region, app = excluded.app, device = excluded.device,
         platform = excluded.platform, operating_system = excluded.operating_system`,
      [JSON.stringify(saved)],
    );
  const delivered = ledgerDelta(before.ads, after.ads, (row) => [placeOf(row), { quantity: row.counted ? 1 : 0 }]);
  const old = new Map(before.ads.map((row) => [adKey(row), row.serving_id]));
  const servings = new Set([...gone, ...saved].map((row) => row.serving_id));
  for (const row of saved) servings.add(old.get(adKey(row)) ?? row.serving_id);
  await appendEntries(
    tx,
    [...delivered.map((entry) => ({ ...entry, stage: 'delivered' as const })), ...(await moveBills(tx, [...servings]))],
    basis,
  );
}

/** Enters decisions into the ledger, each serving once, however often its decision arrives. */
export async function recordDecisions(
  pool: Pool,
  decisions: readonly DecisionMade[],
  listsVersion: string,
): Promise<void> {
  const slots = new Map(
    decisions.flatMap(({ slots: decided, ...decision }) =>
      decided.map((slot) => [slot.serving_id, { ...slot, ...decision }] as const),
    ),
  );
  await transaction(pool, async (tx) => {
    const { rows } = await tx.query<Columns<'ad_serving', 'serving_id'>>(
      `insert into ad_serving as s (serving_id, decided_at)
       select serving_id, decided_at from json_populate_recordset(null::ad_serving, $1) order by serving_id
       on conflict (serving_id) do update set decided_at = excluded.decided_at where s.decided_at is null
       returning serving_id`,
      [JSON.stringify([...slots.values()])],
    );
    const unknown = {
      region: 'unknown',
      app: 'unknown',
      device: 'unknown',
      platform: 'unknown',
      operating_system: 'unknown',
    };
    const entries = rows.map(({ serving_id }): AdEntry => {
      const one = slots.get(serving_id)!;
      return {
        ...unknown,
        stage: 'decided',
        quantity: 1,
        serving_id,
        listener_key: null,
        window_on: null,
        workspace_id: one.workspace_id,
        podcast_id: one.podcast_id,
        episode_id: one.episode_id,
        campaign_id: one.campaign_id,
        line_item_id: one.line_item_id,
        creative_id: one.creative_id,
        break_key: one.break_key,
        slot: one.slot,
        hour: hourOf(new Date(one.decided_at).toISOString()),
        country: one.country,
      };
    });
    await appendEntries(tx, entries, await readChangeBasis(tx, listsVersion));
  });
}
