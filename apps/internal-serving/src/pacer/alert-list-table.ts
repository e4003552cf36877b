import type { Pool } from '@longwave/postgres';
import type { Columns } from '../generated/rows.ts';
import type { AlertDetail, AlertFigures } from './alert-table.ts';

/** An alert with the figures of both its ends. */
export interface StoredAlert {
  readonly alertId: string;
  readonly workspaceId: string;
  /** Empty for an alert of a podcast. */
  readonly lineItemId: string;
  readonly podcastId: string;
  readonly kind: string;
  readonly raised: { readonly atMs: number; readonly figures: AlertFigures };
  /** Undefined while it is open. */
  readonly cleared: { readonly atMs: number; readonly figures: AlertFigures; readonly cause: string } | undefined;
}

/** Which alerts of a workspace are listed. */
export interface AlertFilter {
  readonly workspaceId: string;
  readonly lineItemId: string | undefined;
  readonly podcastId: string | undefined;
  readonly state: 'open' | 'closed' | undefined;
  readonly kind: string | undefined;
  readonly limit: number;
  /** Only alerts that were stored before this position. */
  readonly before: bigint | undefined;
}

type Figures = Columns<'alert', 'target' | 'committed' | 'confirmed' | 'units' | 'short_by' | 'budget_percent'> & {
  readonly at_ms: number;
  readonly goal: number;
  readonly cause: string | null;
  readonly detail: AlertDetail | null;
};

type Row = Columns<
  'alert',
  'event_id' | 'position' | 'alert_id' | 'kind' | 'workspace_id' | 'line_item_id' | 'podcast_id'
> & {
  readonly raised: Figures;
  readonly cleared: Figures | null;
};

/** SQL: the figures of a row. */
const figuresOf = (
  row: 'a' | 'c',
) => `jsonb_build_object('at_ms', (extract(epoch from ${row}.occurred_at) * 1000)::float8,
  'goal', ${row}.goal, 'target', ${row}.target, 'committed', ${row}.committed, 'confirmed', ${row}.confirmed, 'units', ${row}.units,
  'short_by', ${row}.short_by, 'budget_percent', ${row}.budget_percent, 'cause', ${row}.cause,
  'detail', ${row}.detail)`;

const toFigures = ({ at_ms: atMs, short_by: shortBy, budget_percent: budgetPercent, ...row }: Figures) => ({
  atMs: Math.round(atMs),
  figures: {
    ...{ goal: row.goal, target: row.target, committed: row.committed, confirmed: row.confirmed, units: row.units },
    ...{ shortBy: shortBy ?? undefined, budgetPercent: budgetPercent ?? undefined },
    detail: row.detail ?? undefined,
  },
});

const toAlert = (row: Row): StoredAlert => ({
  ...{ alertId: row.alert_id, workspaceId: row.workspace_id, lineItemId: row.line_item_id, kind: row.kind },
  podcastId: row.podcast_id,
  raised: toFigures(row.raised),
  cleared: row.cleared ? { ...toFigures(row.cleared), cause: row.cleared.cause ?? '' } : undefined,
});

/** Alerts of a workspace, those that were raised last come first. */
export async function listAlerts(
  pool: Pool,
  { workspaceId, lineItemId, podcastId, state, kind, limit, before }: AlertFilter,
): Promise<readonly (StoredAlert & { readonly position: bigint })[]> {
  const { rows } = await pool.query<Row>({
    name: 'list-alerts',
    text: `select a.position::text, a.alert_id, a.kind, a.workspace_id, a.line_item_id, a.podcast_id, ${figuresOf('a')} as raised,
        case when c.alert_id is not null then ${figuresOf('c')} end as cleared
      from alert a left join alert c on c.alert_id = a.alert_id and c.state = 'closed'
      where a.workspace_id = $1 and a.state = 'open' and ($2::text is null or a.line_item_id = $2) and ($3::text is null or a.kind = $3)
        and ($4::text is null or ($4 = 'open') = (c.alert_id is null)) and ($5::bigint is null or a.position < $5)
        and ($7::text is null or a.podcast_id = $7)
      order by a.position desc limit $6`,
    values: [
      workspaceId,
      lineItemId ?? null,
      kind ?? null,
      state ?? null,
      before?.toString() ?? null,
      limit,
      podcastId ?? null,
    ],
  });
  return rows.map((row) => ({ ...toAlert(row), position: BigInt(row.position) }));
}

/** What was raised and cleared after a position, as of then. No row is added before one that was read: the pacer alone writes, in order. */
export async function listAlertEvents(
  pool: Pool,
  after: bigint,
  limit: number,
): Promise<readonly (StoredAlert & { readonly position: bigint; readonly eventId: string })[]> {
  const { rows } = await pool.query<Row>({
    name: 'list-alert-events',
    text: `select e.position::text, e.event_id, a.alert_id, a.kind, a.workspace_id, a.line_item_id, a.podcast_id, ${figuresOf('a')} as raised,
        case when c.alert_id is not null then ${figuresOf('c')} end as cleared
      from alert e join alert a on a.alert_id = e.alert_id and a.state = 'open'
        left join alert c on c.event_id = e.event_id and c.state = 'closed'
      where e.position > $1 order by e.position limit $2`,
    values: [after.toString(), limit],
  });
  return rows.map((row) => ({ ...toAlert(row), position: BigInt(row.position), eventId: row.event_id }));
}
