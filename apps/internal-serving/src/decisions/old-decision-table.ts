import type { Pool } from '@longwave/postgres';
import type { Columns } from '../generated/rows.ts';
import type { DecisionPosition, OldestDay } from './decision-table.ts';

/** SQL: the whole row `d` as one line of JSON. */
const wholeLine = `json_build_object('decision_id', d.decision_id, 'workspace_id', d.workspace_id,
  'at', to_char(d.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'serving_plan_id', d.serving_plan_id,
  'plan_digest', d.plan_digest, 'request_digest', d.request_digest, 'response', d.response, 'trace', d.trace, 'inputs', d.inputs,
  'goal_line_items', d.goal_line_items, 'goal_attempts', d.goal_attempts, 'share_opportunities', d.share_opportunities,
  'share_servings', d.share_servings)::text`;

/** SQL: the UTC day of row `d`. */
const dayOf = `to_char(d.at at time zone 'UTC', 'YYYY-MM-DD')`;

/** A decision of such a release as a line of JSON. */
export interface OldRow {
  readonly decisionId: string;
  readonly atMs: number;
  readonly line: string;
}

/** SQL: the columns of `Row`, of table `d`. */
const rowColumns = `decision_id, d.at, ${wholeLine} as line`;

type Row = Columns<'decision', 'decision_id' | 'at'> & { readonly line: string };

const toOldRow = ({ decision_id: decisionId, at, line }: Row): OldRow => ({ decisionId, atMs: at.getTime(), line });

/** A decision of a release up to 0.4.0, or undefined. @param workspaceId absent: of any */
export async function findOldDecision(
  pool: Pool,
  decisionId: string,
  workspaceId?: string,
): Promise<
  | { readonly kind: 'stored'; readonly row: OldRow }
  | { readonly kind: 'archived'; readonly day: string; readonly digest: string }
  | undefined
> {
  const { rows } = await pool.query<{ at: Date; line: string | null; day: string; digest: string | null }>({
    name: 'find-old-decision',
    text: `select d.at, case when archived_in is null then ${wholeLine} end as line, ${dayOf} as day,
                  encode(archived_in, 'hex') as digest
           from decision d where decision_id = $1 and ($2::text is null or workspace_id = $2)`,
    values: [decisionId, workspaceId ?? null],
  });
  const [row] = rows;
  if (!row) return undefined;
  if (row.digest !== null) return { kind: 'archived', day: row.day, digest: row.digest };
  return { kind: 'stored', row: { decisionId, atMs: row.at.getTime(), line: row.line! } };
}

/** These decisions as far as such a release stored them. */
export async function listOldDecisions(pool: Pool, decisionIds: readonly string[]): Promise<readonly OldRow[]> {
  const { rows } = await pool.query<Row>({
    name: 'list-old-decisions',
    text: `select ${rowColumns} from decision d where decision_id = any ($1) and archived_in is null`,
    values: [decisionIds],
  });
  return rows.map(toOldRow);
}

/** Decisions of a workspace within a time that such a release stored, the newest first, behind a position; at most so many. */
export async function readOldDecisions(
  pool: Pool,
  { workspaceId, from, to, after }: DecisionPosition,
  limit: number,
): Promise<readonly OldRow[]> {
  const { rows } = await pool.query<Row>({
    name: 'read-old-decisions',
    text: `select ${rowColumns} from decision d
           where workspace_id = $1 and archived_in is null and at >= $2 and at < $3
             and at <= $4 and (at, decision_id) < ($4, $5)
           order by at desc, decision_id desc limit $6`,
    values: [workspaceId, from, to, after ? new Date(after.atMs) : to, after?.decisionId ?? '', limit],
  });
  return rows.map(toOldRow);
}

/** Rows of such releases of the oldest UTC day before a time, always in the same order; undefined when there is none. */
export async function readOldestOldDay(pool: Pool, before: Date, maxRows: number): Promise<OldestDay | undefined> {
  // A decision that is not published yet stays: its publication reads the row.
  const movable = `archived_in is null and d.at < $1
    and not exists (select from decision_announcement waiting where waiting.decision_id = d.decision_id)`;
  const { rows } = await pool.query<Columns<'decision', 'decision_id'> & { day: string; line: string }>({
    name: 'read-oldest-old-decisions',
    text: `with oldest as (select date_trunc('day', d.at, 'UTC') as day from decision d where ${movable} order by d.at limit 1)
           select d.decision_id, ${dayOf} as day, ${wholeLine} as line from oldest, decision d
           where ${movable} and d.at >= oldest.day and d.at < oldest.day + interval '1 day'
           order by d.at, d.decision_id limit $2`,
    values: [before, maxRows],
  });
  const [first] = rows;
  return first && { day: first.day, rows: rows.map(({ decision_id: id, line }) => ({ id, line })) };
}

/**
 * Empties rows that an object of the archive holds, and records its digest. Their ids stay taken, and the slots of line items with goals counted.
 */
export async function markOldArchived(pool: Pool, decisionIds: readonly string[], digest: string): Promise<void> {
  await pool.query({
    name: 'mark-old-archived',
    text: `update decision set archived_in = decode($2, 'hex'), response = null, trace = null, inputs = null, request_digest = '',
             serving_plan_id = null, plan_digest = null, goal_attempts = '{}', share_opportunities = '{}', share_servings = '{}'
           where decision_id = any ($1) and archived_in is null`,
    values: [decisionIds, digest],
  });
}
