import { columns, type Columns } from '@longwave/audience-store';
import type { DecisionMade } from '@longwave/events';
import { copyRows, transaction, type Pool, type Transaction } from '@longwave/postgres';
import { asLedgerRow, hourOf, readChangeBasis, type ChangeBasis } from '../counting/change-basis.ts';
import { adKey, diffRows, ledgerDelta, writtenKey, type Counts } from '../counting/counted-rows.ts';
import { adStages, placeOf, type AdEntry, type AdStage } from './ad-entry.ts';
import { addToCohorts, bitOf, quarterOf, readReached, type Cohort } from './cohort-table.ts';
import { lockServings, moveServings, saveServings } from './serving-stages.ts';

const entryColumns = `methodology_version, lists_version, restates, stage, quantity, serving_id, listener_key, window_on, workspace_id,
  podcast_id, episode_id, campaign_id, line_item_id, creative_id, break_key, slot, hour, country, region, app, device, platform,
  operating_system`;
const hourColumns = [
  ...(['workspace_id', 'podcast_id', 'campaign_id', 'line_item_id', 'creative_id', 'hour', 'country'] as const),
  ...(['region', 'app', 'device', 'platform', 'operating_system'] as const),
];
type HourColumn = (typeof hourColumns)[number];
const hourKey = hourColumns.join(', ');
const nothing = { decided: 0, served: 0, delivered: 0, confirmed: 0, billable: 0 } satisfies Record<AdStage, number>;

/** The sums of entries by hourly total, one row for each total. */
function totalsOf(entries: readonly AdEntry[]) {
  const totals = new Map<string, Pick<AdEntry, HourColumn> & Record<AdStage, number>>();
  for (const entry of entries) {
    // No text of PostgreSQL has a NUL.
    const name = hourColumns.map((column) => entry[column]).join('\0');
    let total = totals.get(name);
    if (total === undefined) {
      const place = Object.fromEntries(hourColumns.map((column) => [column, entry[column]]));
      total = { ...(place as Pick<AdEntry, HourColumn>), ...nothing };
      totals.set(name, total);
    }
    total[entry.stage] += entry.quantity;
  }
  return [...totals.values()];
}

/** Appends entries and brings the hourly totals up to date, rows in key order. */
export async function appendEntries(tx: Transaction, entries: readonly AdEntry[], basis: ChangeBasis): Promise<void> {
  if (entries.length === 0) return;
  await copyRows(
    tx,
    'ad_entry',
    entryColumns,
    entries.map((entry) => asLedgerRow(entry, basis)),
  );
  await tx.query(
    `insert into ad_hour as h (${hourKey}, ${adStages.join(', ')})
     select ${hourKey}, ${adStages.join(', ')} from json_populate_recordset(null::ad_hour, $1) order by ${hourKey}
     on conflict (${hourKey}) do update set ${adStages.map((stage) => `${stage} = h.${stage} + excluded.${stage}`).join(', ')}`,
    [JSON.stringify(totalsOf(entries))],
  );
}

/** Stores ads that were wholly written without being delivered; answers the servings that changed. */
async function saveWritten(tx: Transaction, before: Counts, after: Counts): Promise<string[]> {
  const { saved, gone } = diffRows(before.written, after.written, writtenKey);
  if (gone.length > 0)
    await tx.query(
      `delete from ad_written a using json_populate_recordset(null::ad_written, $1) k
       where (a.listener_key, a.episode_id, a.window_on, a.serving_id)
           = (k.listener_key, k.episode_id, k.window_on, k.serving_id)`,
      [JSON.stringify(gone)],
    );
  if (saved.length > 0)
    await tx.query(
      `insert into ad_written (${columns.ad_written})
       select ${columns.ad_written} from json_populate_recordset(null::ad_written, $1)
       on conflict (listener_key, episode_id, window_on, serving_id) do update set
         started_at = excluded.started_at, creative_id = excluded.creative_id, break_key = excluded.break_key,
         slot = excluded.slot, country = excluded.country, region = excluded.region, app = excluded.app,
         device = excluded.device, platform = excluded.platform, operating_system = excluded.operating_system`,
      [JSON.stringify(saved)],
    );
  return [...gone, ...saved].map((row) => row.serving_id);
}

/** Stores delivered ads; answers the servings that changed. */
async function saveDelivered(tx: Transaction, before: Counts, after: Counts): Promise<string[]> {
  const { saved, gone } = diffRows(before.ads, after.ads, adKey);
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
  const old = new Map(before.ads.map((row) => [adKey(row), row.serving_id]));
  return [...gone, ...saved].flatMap((row) => [row.serving_id, old.get(adKey(row)) ?? row.serving_id]);
}

/**
 * Stores delivered and other written ads, appends the changes to the ledger and brings the cohorts of their servings up to date. The caller
 * holds the locks of chains and days.
 */
export async function saveAds(tx: Transaction, before: Counts, after: Counts, basis: ChangeBasis): Promise<void> {
  const written = await saveWritten(tx, before, after);
  const delivered = await saveDelivered(tx, before, after);
  // Whether a person has rejected what is held shows in the cohorts alone.
  const held = after.ads.flatMap((row) => (row.counted ? [] : [row.serving_id]));
  const changed = [...new Set([...written, ...delivered, ...held])];
  if (changed.length === 0) return;
  const servings = await lockServings(tx, changed, after);
  const deltas = ledgerDelta(before.ads, after.ads, (row) => [placeOf(row), { quantity: row.counted ? 1 : 0 }]);
  const { entries, bills, moves } = await moveServings(tx, servings);
  await appendEntries(tx, [...deltas.map((entry) => ({ ...entry, stage: 'delivered' as const })), ...entries], basis);
  await saveServings(tx, moves, bills);
  await addToCohorts(tx, moves);
}

/** The surface of decisions that do not name one: files, which are delivered later than streams. */
const unnamedSurface = 'download';

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
    const { rows } = await tx.query<Cohort & Columns<'ad_serving', 'serving_id'> & { readonly is_new: boolean }>(
      // Nothing but its decision can be stored of a serving that is new: who delivers it waits for its row.
      `insert into ad_serving as s (serving_id, decided_at, line_item_id, workspace_id, surface_class, position, reached)
       select serving_id, decided_at, line_item_id, workspace_id, coalesce(surface_class, $2), position, ${bitOf('decided')}
       from json_populate_recordset(null::ad_serving, $1) order by serving_id
       on conflict (serving_id) do update set decided_at = excluded.decided_at, line_item_id = excluded.line_item_id,
         workspace_id = excluded.workspace_id, surface_class = excluded.surface_class, position = excluded.position
       where s.decided_at is null
       returning serving_id, line_item_id, workspace_id, surface_class, ${quarterOf('decided_at')}::text as quarter, xmax = 0 as is_new`,
      [JSON.stringify([...slots.values()]), unnamedSurface],
    );
    if (rows.length === 0) return;
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
    const [fresh, known] = [rows.filter((row) => row.is_new), rows.filter((row) => !row.is_new)];
    const moves =
      known.length > 0
        ? await readReached(
            tx,
            known.map((row) => row.serving_id),
          )
        : [];
    await saveServings(tx, moves);
    await addToCohorts(tx, [...fresh.map((row) => ({ ...row, was: 0, now: bitOf('decided') })), ...moves]);
  });
}
