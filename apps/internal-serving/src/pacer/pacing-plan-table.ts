import { createHash } from 'node:crypto';
import type { HourPlan } from '@longwave/pacing';
import type { Pool } from '@longwave/postgres';
import type { Columns } from '../generated/rows.ts';

export interface StoredPlan extends HourPlan {
  readonly lineItemId: string;
}

/** The digests of all plans, by line item. */
export async function listPlanDigests(pool: Pool): Promise<ReadonlyMap<string, string>> {
  const { rows } = await pool.query<Columns<'pacing_plan', 'line_item_id' | 'digest'>>(
    'select line_item_id, digest from pacing_plan',
  );
  return new Map(rows.map((row) => [row.line_item_id, row.digest]));
}

/** The plans of these line items; at most a few hundred, as each has hundreds of hours. */
export async function readPlans(pool: Pool, lineItemIds: readonly string[]): Promise<readonly StoredPlan[]> {
  const { rows } = await pool.query<
    Columns<'pacing_plan', 'line_item_id' | 'digest' | 'starts_at' | 'hours' | 'learning'>
  >('select line_item_id, digest, starts_at, hours, learning from pacing_plan where line_item_id = any ($1)', [
    lineItemIds,
  ]);
  return rows.map((row) => ({
    lineItemId: row.line_item_id,
    digest: row.digest,
    startsAtMs: row.starts_at.getTime(),
    hours: row.hours ?? [],
    isLearning: row.learning,
  }));
}

/** A plan as it is made; its digest follows from its content. */
type NewPlan = Omit<StoredPlan, 'digest'>;

/** SHA-256 (hex) of what a plan says. */
const digestOf = ({ startsAtMs, hours, isLearning }: NewPlan): string =>
  createHash('sha256')
    .update(JSON.stringify([startsAtMs, hours, isLearning]))
    .digest('hex');

/**
 * Keeps plans of one workspace. The newest inputs win: a plan that was made as of an earlier time than the kept one changes nothing, and
 * neither does one for a line item of another workspace.
 * @returns how many are new or differ from what was kept
 */
export async function savePlans(
  pool: Pool,
  workspaceId: string,
  asOfMs: number,
  plans: readonly NewPlan[],
): Promise<number> {
  const { rows } = await pool.query<{ readonly changed: number }>({
    name: 'save-pacing-plans',
    text: `with made as (
        select m ->> 'id' as line_item_id, m ->> 'digest' as digest, to_timestamp((m ->> 'starts')::float8 / 1000) as starts_at,
          array(select hour::float8 from jsonb_array_elements_text(m -> 'hours') with ordinality as one (hour, place) order by place) as hours,
          (m ->> 'learning')::boolean as learning
        from jsonb_array_elements($2::jsonb) as m
      ), before as (
        select line_item_id, digest from pacing_plan where line_item_id in (select line_item_id from made)
      ), saved as (
        insert into pacing_plan as p (line_item_id, workspace_id, digest, starts_at, hours, learning, made_at)
        select line_item_id, $1, digest, starts_at, hours, learning, to_timestamp($3::float8 / 1000) from made order by line_item_id
        on conflict (line_item_id) do update set digest = excluded.digest, starts_at = excluded.starts_at, hours = excluded.hours,
          learning = excluded.learning, made_at = excluded.made_at
        where p.workspace_id = excluded.workspace_id and p.made_at <= excluded.made_at
        returning line_item_id, digest
      )
      select count(*)::int as changed from saved left join before using (line_item_id) where before.digest is distinct from saved.digest`,
    values: [
      workspaceId,
      JSON.stringify(
        plans.map((plan) => ({
          ...{ id: plan.lineItemId, digest: digestOf(plan), starts: plan.startsAtMs },
          ...{ hours: plan.hours, learning: plan.isLearning },
        })),
      ),
      asOfMs,
    ],
  });
  return rows[0]!.changed;
}

/** Removes the plans of a workspace that are older than a making of all of them; answers how many. */
export async function removeOlderPlans(pool: Pool, workspaceId: string, asOfMs: number): Promise<number> {
  const { rowCount } = await pool.query({
    name: 'remove-pacing-plans',
    text: 'delete from pacing_plan where workspace_id = $1 and made_at < to_timestamp($2::float8 / 1000)',
    values: [workspaceId, asOfMs],
  });
  return rowCount ?? 0;
}
