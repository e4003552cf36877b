import { newId } from '@longwave/ids';
import type { AlertKind } from '@longwave/pacing';
import type { Pool } from '@longwave/postgres';
import type { Columns } from '../generated/rows.ts';
import { underTerm } from './pacer-term-table.ts';

/** What a kind says beside the figures, by the name that readers see; as readers see it. */
export type AlertDetail = Readonly<
  Partial<Record<'forecast' | 'unfilled' | 'discrepancy' | 'reservation' | 'day', object>>
>;

/** How a line item stood when an alert of it was raised or cleared; of a podcast all but the units and the detail are 0. */
export interface AlertFigures {
  readonly goal: number;
  readonly target: number;
  readonly committed: number;
  readonly confirmed: number;
  readonly units: number;
  readonly shortBy: string | undefined;
  readonly budgetPercent: number | undefined;
  readonly detail: AlertDetail | undefined;
}

/** What an alert is about: a line item, or a podcast, has at most one open alert of a kind. The id of the other is empty. */
export interface AlertSubject {
  readonly lineItemId: string;
  readonly podcastId: string;
  readonly workspaceId: string;
  readonly kind: AlertKind;
}

/** An alert that is open. */
export interface OpenAlert extends AlertSubject {
  /** It is about slots that a line item holds, and is in no plan for. */
  readonly isOfReservation: boolean;
}

/** An alert that is to be raised. */
export type RaisedAlert = AlertSubject & { readonly figures: AlertFigures };

/** An alert that is to be cleared; one that ended with its line item keeps the figures with which it was raised. */
export type ClearedAlert = AlertSubject & { readonly figures: AlertFigures | undefined };

/** What the judgement of a line item needs beside the pacer's memory. */
export interface LineHistory {
  readonly bound: number;
  /** As the hour before the last one ended. */
  readonly hourAgo: { readonly used: number; readonly target: number } | undefined;
  readonly dayAgo: { readonly atMs: number; readonly committed: number } | undefined;
}

const hourMs = 3_600_000;

/** SQL: an opened row `a` that nobody has closed. */
const isOpen = `a.state = 'open' and not exists (select from alert c where c.alert_id = a.alert_id and c.state = 'closed')`;

/** All alerts that are open. */
export async function listOpenAlerts(pool: Pool): Promise<readonly OpenAlert[]> {
  const { rows } = await pool.query<
    Columns<'alert', 'line_item_id' | 'podcast_id' | 'workspace_id'> & {
      readonly kind: AlertKind;
      readonly is_of_reservation: boolean;
    }
  >(
    `select line_item_id, podcast_id, workspace_id, kind, coalesce(detail ? 'reservation', false) as is_of_reservation from alert a where ${isOpen}`,
  );
  return rows.map((row) => ({
    ...{ lineItemId: row.line_item_id, podcastId: row.podcast_id, workspaceId: row.workspace_id, kind: row.kind },
    isOfReservation: row.is_of_reservation,
  }));
}

/** Bounds of line items, and how they stood at the end of the hour before the last, and a day before that of the last. */
export async function readHistory(
  pool: Pool,
  lineItemIds: readonly string[],
  nowMs: number,
): Promise<ReadonlyMap<string, LineHistory>> {
  const thisHourMs = Math.floor(nowMs / hourMs) * hourMs;
  const { rows } = await pool.query<{
    readonly line_item_id: string;
    readonly bound: number;
    readonly used: number | null;
    readonly target: number | null;
    readonly committed: number | null;
  }>({
    name: 'pacer-read-history',
    text: `select p.line_item_id, greatest(p.bound, p.goal)::float8 as bound, h.used::float8, h.target, d.committed
      from line_pacing p
        left join pacing_hour h on h.line_item_id = p.line_item_id and h.hour = to_timestamp($2::float8 / 1000)
        left join pacing_hour d on d.line_item_id = p.line_item_id and d.hour = to_timestamp($3::float8 / 1000)
      where p.line_item_id = any ($1)`,
    values: [lineItemIds, thisHourMs - 2 * hourMs, thisHourMs - 25 * hourMs],
  });
  return new Map(
    rows.map(({ line_item_id: id, bound, used, target, committed }) => [
      id,
      {
        bound,
        hourAgo: used === null || target === null ? undefined : { used, target },
        dayAgo: committed === null ? undefined : { atMs: thisHourMs - 24 * hourMs, committed },
      },
    ]),
  );
}

const columns = (alerts: readonly ClearedAlert[]) => [
  alerts.map(() => newId('evt')),
  alerts.map((one) => one.lineItemId),
  alerts.map((one) => one.kind),
  alerts.map(({ figures }) => figures?.goal ?? null),
  alerts.map(({ figures }) => figures?.target ?? null),
  alerts.map(({ figures }) => figures?.committed ?? null),
  alerts.map(({ figures }) => figures?.confirmed ?? null),
  alerts.map(({ figures }) => figures?.units ?? null),
  alerts.map(({ figures }) => figures?.shortBy ?? null),
  alerts.map(({ figures }) => figures?.budgetPercent ?? null),
  alerts.map((one) => one.podcastId),
  alerts.map(({ figures }) => (figures?.detail ? JSON.stringify(figures.detail) : null)),
];

const columnArrays = `$3::text[], $4::text[], $5::text[], $6::bigint[], $7::float8[], $8::float8[], $9::float8[], $10::float8[],
  $11::text[], $12::float8[], $13::text[], $14::jsonb[]`;
const columnNames =
  'event_id, line_item_id, kind, goal, target, committed, confirmed, units, short_by, budget_percent, podcast_id, detail';
/** SQL: an alert `a` is about the same as `one`. */
const isSameSubject = 'a.line_item_id = one.line_item_id and a.podcast_id = one.podcast_id and a.kind = one.kind';

/** Raises alerts, each once: one that is open stays as it is, and under another term none is raised. Answers those that were raised. */
export async function openAlerts(
  pool: Pool,
  term: number,
  alerts: readonly RaisedAlert[],
  nowMs: number,
): Promise<readonly RaisedAlert[]> {
  if (alerts.length === 0) return [];
  const alertIds = alerts.map(() => newId('alr'));
  const { rows } = await pool.query<Columns<'alert', 'alert_id'>>({
    name: 'pacer-open-alerts',
    text: `${underTerm}
      insert into alert (event_id, alert_id, state, kind, workspace_id, line_item_id, occurred_at, goal, target, committed, confirmed,
        units, short_by, budget_percent, podcast_id, detail)
      select one.event_id, one.alert_id, 'open', one.kind, one.workspace_id, one.line_item_id, to_timestamp($2::float8 / 1000), one.goal,
        one.target, one.committed, one.confirmed, one.units, one.short_by, one.budget_percent, one.podcast_id, one.detail
      from term, unnest(${columnArrays}, $15::text[], $16::text[]) as one (${columnNames}, alert_id, workspace_id)
      where not exists (select from alert a where ${isSameSubject} and ${isOpen})
      order by one.line_item_id, one.podcast_id, one.kind returning alert_id`,
    values: [term, nowMs, ...columns(alerts), alertIds, alerts.map((one) => one.workspaceId)],
  });
  const raised = new Set(rows.map((row) => row.alert_id));
  return alerts.filter((_, at) => raised.has(alertIds[at]!));
}

/** Clears open alerts, each once. @param cause `recovered`, or `ended` with its line item */
export async function closeAlerts(
  pool: Pool,
  term: number,
  alerts: readonly ClearedAlert[],
  { nowMs, cause }: { readonly nowMs: number; readonly cause: 'recovered' | 'ended' },
): Promise<void> {
  if (alerts.length === 0) return;
  await pool.query({
    name: 'pacer-close-alerts',
    text: `${underTerm}
      insert into alert (event_id, alert_id, state, kind, workspace_id, line_item_id, occurred_at, cause, goal, target, committed,
        confirmed, units, short_by, budget_percent, podcast_id, detail)
      select one.event_id, a.alert_id, 'closed', a.kind, a.workspace_id, a.line_item_id, to_timestamp($2::float8 / 1000), $15::text,
        coalesce(one.goal, a.goal), coalesce(one.target, a.target), coalesce(one.committed, a.committed),
        coalesce(one.confirmed, a.confirmed), coalesce(one.units, a.units), one.short_by, one.budget_percent, a.podcast_id, one.detail
      from term, unnest(${columnArrays}) as one (${columnNames})
        join alert a on ${isSameSubject} and ${isOpen}
      order by a.position`,
    values: [term, nowMs, ...columns(alerts), cause],
  });
}
