import { columns } from '@longwave/audience-store';
import type { DecisionMade } from '@longwave/events';
import { createPool, transaction, type Pool, type Transaction } from '@longwave/postgres';
import type { AdRow } from '../src/counting/counted-rows.ts';
import { placeOf } from '../src/ads/ad-entry.ts';

const hourColumns = `workspace_id, podcast_id, campaign_id, line_item_id, creative_id, hour, country, region, app, device, platform,
  operating_system`;
const entryColumns = `methodology_version, lists_version, restates, stage, quantity, serving_id, listener_key, window_on, workspace_id,
  podcast_id, episode_id, campaign_id, line_item_id, creative_id, break_key, slot, hour, country, region, app, device, platform,
  operating_system`;

type Entry = Omit<ReturnType<typeof placeOf>, 'listener_key' | 'window_on'> & {
  readonly stage: string;
  readonly quantity: number;
};

async function append(tx: Transaction, entries: readonly Entry[]): Promise<void> {
  if (entries.length === 0) return;
  const stage = (name: string) => `coalesce(sum(quantity) filter (where stage = '${name}'), 0)`;
  const basis = { methodology_version: 'before', lists_version: 'before', restates: false };
  await tx.query(
    `with entry as (
       insert into ad_entry (${entryColumns})
       select ${entryColumns} from json_populate_recordset(null::ad_entry, $1) returning *)
     insert into ad_hour as h (${hourColumns}, decided, delivered, billable)
     select ${hourColumns}, ${stage('decided')}, ${stage('delivered')}, ${stage('billable')}
     from entry group by ${hourColumns} order by ${hourColumns}
     on conflict (${hourColumns}) do update set decided = h.decided + excluded.decided,
       delivered = h.delivered + excluded.delivered, billable = h.billable + excluded.billable`,
    [JSON.stringify(entries.map((entry) => ({ ...entry, ...basis })))],
  );
}

const keyColumns = 'listener_key, episode_id, window_on, break_key, slot, creative_id';

async function moveBills(tx: Transaction, servingIds: readonly string[]): Promise<Entry[]> {
  const { rows: servings } = await tx.query<{ serving_id: string; billed: Entry | null }>(
    `insert into ad_serving (serving_id) select unnest($1::text[]) as serving_id order by 1
     on conflict (serving_id) do update set serving_id = excluded.serving_id returning serving_id, billed`,
    [servingIds],
  );
  const { rows: earliest } = await tx.query<{ row: AdRow }>(
    `select to_json(a) as row from unnest($1::text[]) as serving (id) cross join lateral (
       select * from ad_delivered a where a.serving_id = serving.id and a.counted and a.billable
       order by started_at, ${keyColumns} limit 1) a`,
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
    ...(billed ? [{ ...billed, stage: 'billable', quantity: -1 }] : []),
    ...(next ? [{ ...next, stage: 'billable', quantity: 1 }] : []),
  ]);
}

/** An ad that was delivered in the download of a listener, once a day. */
export const deliveryOf = (servingId: string, listener: string, changes: Partial<AdRow> = {}): AdRow => ({
  ...{ listener_key: listener, episode_id: 'ep_1', window_on: '2025-11-02', break_key: 'pre', slot: 0 },
  ...{ creative_id: 'crv_1', started_at: '2025-11-02T10:00:00.000Z', workspace_id: 'ws_1', podcast_id: 'pod_1' },
  ...{ campaign_id: 'cmp_1', line_item_id: 'li_1', serving_id: servingId, billable: true, counted: true },
  ...{ country: 'DE', region: 'unknown', app: 'unknown', device: 'unknown', platform: 'unknown' },
  operating_system: 'unknown',
  ...changes,
});

/** A sink of 0.7.0 writes these of ads, in its own statements, which stay as they were when the sink's change. */
export interface ReleaseBefore extends AsyncDisposable {
  decide(...decisions: readonly DecisionMade[]): Promise<void>;
  /** Stores deliveries in the place of others of the same listeners and days. */
  deliver(saved: readonly AdRow[], gone?: readonly AdRow[]): Promise<void>;
  report(servingId: string, event: string): Promise<void>;
  /** A person rejects what is held of a listener and day. */
  reject(listener: string, day: string): Promise<void>;
}

/** @param databaseUrl of the service's role */
export function releaseBefore(databaseUrl: string): ReleaseBefore {
  const pool: Pool = createPool(databaseUrl, 'audience', { name: 'analytics-sink' });
  return {
    decide: (...decisions) =>
      transaction(pool, async (tx) => {
        const slots = new Map(
          decisions.flatMap(({ slots: decided, ...decision }) =>
            decided.map((slot) => [slot.serving_id, { ...slot, ...decision }] as const),
          ),
        );
        const { rows } = await tx.query<{ serving_id: string }>(
          `insert into ad_serving as s (serving_id, decided_at)
           select serving_id, decided_at from json_populate_recordset(null::ad_serving, $1) order by serving_id
           on conflict (serving_id) do update set decided_at = excluded.decided_at where s.decided_at is null
           returning serving_id`,
          [JSON.stringify([...slots.values()])],
        );
        await append(
          tx,
          rows.map(({ serving_id: servingId }) => {
            const { decided_at: decidedAt, ...slot } = slots.get(servingId)!;
            const { listener_key: _key, window_on: _on, ...place } = placeOf(deliveryOf(servingId, ''));
            const hour = `${decidedAt.slice(0, 13)}:00:00.000Z`;
            return { ...place, line_item_id: slot.line_item_id, hour, stage: 'decided', quantity: 1 };
          }),
        );
      }),
    deliver: (saved, gone = []) =>
      transaction(pool, async (tx) => {
        const { rows: old } = await tx.query<{ row: AdRow }>(
          `select to_json(a) as row from ad_delivered a join json_populate_recordset(null::ad_delivered, $1) k using (${keyColumns}) for update of a`,
          [JSON.stringify([...saved, ...gone])],
        );
        const before = old.map(({ row }) => ({ ...row, started_at: new Date(row.started_at).toISOString() }));
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
        const servingIds = [...new Set([...before, ...saved].map((row) => row.serving_id))];
        const counted = (rows: readonly AdRow[], quantity: number) =>
          rows.flatMap((row) => (row.counted ? [{ ...placeOf(row), stage: 'delivered', quantity }] : []));
        await append(tx, [...counted(before, -1), ...counted(saved, 1), ...(await moveBills(tx, servingIds))]);
      }),
    report: async (servingId, event) => {
      await pool.query(
        `insert into client_event (fact_id, serving_id, event, sequence, at, late, workspace_id, podcast_id, episode_id, campaign_id,
           line_item_id, creative_id, break_key, slot, listener_key, address_verdict, country, region, lists_version, judgement, judged_by, counted_at)
         values ($1, $2, $3, 0, '2025-11-02T10:00:05Z', false, 'ws_1', 'pod_1', 'ep_1', 'cmp_1', 'li_1', 'crv_1', 'pre', 0, 'l', 'ok', 'DE',
           'unknown', 'before', 'eligible', 'before', now())`,
        [`${servingId} ${event}`, servingId, event],
      );
    },
    reject: async (listener, day) => {
      await pool.query(
        `with decided as (
           insert into anomaly_decision (kind, key, day, decision, reason, decided_by) values ('listener', $1, $2, 'reject', 'r', 'Ada') returning *)
         update velocity_day v set decision = d.decision from decided d where (v.kind, v.key, v.day) = (d.kind, d.key, d.day)`,
        [listener, day],
      );
    },
    [Symbol.asyncDispose]: () => pool.end(),
  };
}
