import type { Columns } from '@longwave/audience-store';
import type { Pool, Transaction } from '@longwave/postgres';
import { readSettledUntil } from './settled-until.ts';

/** The numbers of a cohort in the order of their bits in `ad_serving.reached`. */
export const cohortNumbers = ['decided', 'served', 'delivered', 'held', 'client_started', 'client_completed'] as const;
type CohortNumber = (typeof cohortNumbers)[number];

/** SQL: whether a delivery `a` is held by a day that nobody has rejected. A row for each key whose day may hold it. */
const isRejected = `exists (
  select from session d
  join velocity_day v on v.day = d.window_on and v.infeasible and v.decision = 'reject'
    and (v.kind = 'listener' and v.key = d.listener_key or v.kind = 'address' and v.key = d.address_key and not d.address_safe)
  where d.listener_key = a.listener_key and d.episode_id = a.episode_id and d.window_on = a.window_on)`;

const isDelivered = `exists (select from ad_delivered a where a.serving_id = s.serving_id and a.counted)`;
const isReported = (event: string) => `exists (
  select from client_event e where e.serving_id = s.serving_id and e.event = '${event}' and e.judgement = 'eligible')`;

/** SQL: whether a serving `s` counts in each number, by what is stored of it. */
const reaches: Readonly<Record<CohortNumber, string>> = {
  decided: 'true',
  served: `exists (select from ad_delivered a where a.serving_id = s.serving_id)
    or exists (select from ad_written w where w.serving_id = s.serving_id)`,
  delivered: isDelivered,
  held: `not ${isDelivered}
    and exists (select from ad_delivered a where a.serving_id = s.serving_id and not a.counted and not ${isRejected})`,
  client_started: isReported('start'),
  client_completed: isReported('complete'),
};

const quarterOf = (time: string) => `date_bin('15 minutes', ${time}, 'epoch'::timestamptz)`;

/**
 * SQL: what servings `s` of a condition add to their cohorts. Those without a known decision have none.
 * @param isNew SQL: whether nothing but its decision can be stored of a serving
 */
export const servingsReached = (condition: string, isNew = 'false'): string => `
  select s.serving_id, s.workspace_id, s.line_item_id, s.surface_class, ${quarterOf('s.decided_at')} as quarter, s.reached as was,
    case when ${isNew} then 1 else ${cohortNumbers
      .map((number, bit) => `(${reaches[number]})::int << ${bit}`)
      .map((bits) => `(${bits})`)
      .join(' | ')} end as now
  from ad_serving s where ${condition} and s.decided_at is not null and s.line_item_id is not null`;

/** SQL: a sum of one bit for each number. */
export const cohortSums = (sumOf: (bit: string) => string): string =>
  cohortNumbers.map((number, bit) => `sum(${sumOf(`>> ${bit} & 1`)}) as ${number}`).join(', ');

/**
 * Brings the cohorts of servings up to date: what each of them has reached is read anew, and the difference to what it had added is added. So
 * the order of what happened to it does not matter. The caller has locked the servings, and their reports where it changed some.
 * @param newIds those of them whose rows this transaction has inserted with their decision: who delivers them waits for it
 */
export async function updateCohorts(
  tx: Transaction,
  servingIds: readonly string[],
  newIds: readonly string[] = [],
): Promise<void> {
  await tx.query(
    `with reached as materialized (${servingsReached('s.serving_id = any($1)', 's.serving_id = any($2)')}),
     moved as (
       update ad_serving s set reached = r.now from reached r where s.serving_id = r.serving_id and r.was <> r.now)
     insert into serving_cohort as c (workspace_id, line_item_id, surface_class, quarter, ${cohortNumbers.join(', ')})
     select workspace_id, line_item_id, surface_class, quarter, ${cohortSums((bit) => `(now ${bit}) - (was ${bit})`)}
     from reached where was <> now group by 1, 2, 3, 4 order by 2, 3, 4, 1
     on conflict (line_item_id, surface_class, quarter, workspace_id) do update set
       ${cohortNumbers.map((number) => `${number} = c.${number} + excluded.${number}`).join(', ')}, changed_at = excluded.changed_at`,
    [[...servingIds], [...newIds]],
  );
}

type CohortRow = Columns<'serving_cohort', 'line_item_id' | 'surface_class' | 'quarter' | 'changed_at' | CohortNumber>;

/** Cohorts that changed, and how far their changes are read. */
export interface CohortPage {
  readonly cohorts: readonly CohortRow[];
  /** Every change of before is in the cohorts, now or before. */
  readonly until: Date;
  readonly isBehind: boolean;
}

const defaultMaxCohorts = 20_000;

/**
 * One page of cohorts in the order of their latest changes.
 * @param since `until` of the page before; undefined: all cohorts of decisions of the last `horizonDays`
 * @param maxCohorts a page has more where several were changed by one transaction
 */
export async function listCohorts(
  pool: Pool,
  lineItemIds: readonly string[],
  since: Date | undefined,
  horizonDays: number,
  maxCohorts = defaultMaxCohorts,
): Promise<CohortPage> {
  const newest = await readSettledUntil(pool);
  const { rows } = await pool.query<CohortRow>({
    name: 'list_cohorts',
    text: `select line_item_id, surface_class, quarter, changed_at, ${cohortNumbers.join(', ')} from serving_cohort
      where line_item_id = any($1) and ($2::timestamptz is null or changed_at >= $2)
        and ($2::timestamptz is not null or quarter >= now() - $3 * interval '1 day')
      order by changed_at fetch first ($4) rows with ties`,
    values: [lineItemIds, since ?? null, horizonDays, maxCohorts],
  });
  const last = rows.at(-1)?.changed_at;
  // What is not settled yet comes again.
  if (last === undefined || rows.length < maxCohorts || last >= newest)
    return { cohorts: rows, until: since && since > newest ? since : newest, isBehind: false };
  return { cohorts: rows, until: new Date(last.getTime() + 1), isBehind: true };
}
