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

export const quarterOf = (time: string): string => `date_bin('15 minutes', ${time}, 'epoch'::timestamptz)`;

/** The bit of a number in `ad_serving.reached`. */
export const bitOf = (number: CohortNumber): number => 1 << cohortNumbers.indexOf(number);

/** SQL: what servings `s` of a condition add to their cohorts. Those without a known decision have none. */
export const servingsReached = (condition: string): string => `
  select s.serving_id, s.workspace_id, s.line_item_id, s.surface_class, ${quarterOf('s.decided_at')} as quarter, s.reached as was,
    ${cohortNumbers
      .map((number, bit) => `(${reaches[number]})::int << ${bit}`)
      .map((bits) => `(${bits})`)
      .join(' | ')} as now
  from ad_serving s where ${condition} and s.decided_at is not null and s.line_item_id is not null`;

/** SQL: a sum of one bit for each number. */
export const cohortSums = (sumOf: (bit: string) => string): string =>
  cohortNumbers.map((number, bit) => `sum(${sumOf(`>> ${bit} & 1`)}) as ${number}`).join(', ');

/** Names a cohort. */
export interface Cohort extends Columns<'serving_cohort', 'workspace_id' | 'line_item_id' | 'surface_class'> {
  /** The text of PostgreSQL: a date would be made of it and a text again, for each serving. */
  readonly quarter: string;
}

/** The bits that a serving adds to its cohort, before a change and after it. */
export interface CohortMove extends Cohort {
  readonly serving_id: string;
  readonly was: number;
  readonly now: number;
}

/** Reads anew what decided servings have reached. The caller has locked them, and their reports where it changed some. */
export async function readReached(tx: Transaction, servingIds: readonly string[]): Promise<CohortMove[]> {
  const { rows } = await tx.query<CohortMove>(
    `select serving_id, workspace_id, line_item_id, surface_class, quarter::text, was, now
     from (${servingsReached('s.serving_id = any($1)')}) s`,
    [servingIds],
  );
  return rows;
}

const nothing = { decided: 0, served: 0, delivered: 0, held: 0, client_started: 0, client_completed: 0 };

/** Adds to cohorts, in the order of their keys, what servings reach now and did not before. */
export async function addToCohorts(tx: Transaction, moves: readonly CohortMove[]): Promise<void> {
  const sums = new Map<string, Cohort & Record<CohortNumber, number>>();
  for (const { workspace_id, line_item_id, surface_class, quarter, was, now } of moves) {
    if (was === now) continue;
    const name = `${line_item_id} ${surface_class} ${quarter} ${workspace_id}`;
    let sum = sums.get(name);
    if (sum === undefined) sums.set(name, (sum = { workspace_id, line_item_id, surface_class, quarter, ...nothing }));
    for (const [bit, number] of cohortNumbers.entries()) sum[number] += ((now >> bit) & 1) - ((was >> bit) & 1);
  }
  if (sums.size === 0) return;
  const place = 'workspace_id, line_item_id, surface_class, quarter';
  await tx.query(
    `insert into serving_cohort as c (${place}, ${cohortNumbers.join(', ')})
     select ${place}, ${cohortNumbers.join(', ')} from json_populate_recordset(null::serving_cohort, $1) order by 2, 3, 4, 1
     on conflict (line_item_id, surface_class, quarter, workspace_id) do update set
       ${cohortNumbers.map((number) => `${number} = c.${number} + excluded.${number}`).join(', ')}, changed_at = excluded.changed_at`,
    [JSON.stringify([...sums.values()])],
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
  // Without a name, so that it is planned for its values each time: a plan for any values cannot go by the time of changes.
  const { rows } = await pool.query<CohortRow>({
    text: `select line_item_id, surface_class, quarter, changed_at, ${cohortNumbers.join(', ')} from serving_cohort
      where line_item_id = any($1) and ($2::timestamptz is null or changed_at >= $2)
        and ($2::timestamptz is not null or quarter >= now() - $3 * interval '1 day')
      order by changed_at fetch first ($4) rows with ties`,
    values: [lineItemIds, since ?? null, horizonDays, maxCohorts],
  });
  const last = rows.at(-1)?.changed_at;
  // Changes that are not settled yet come again.
  if (last === undefined || rows.length < maxCohorts || last >= newest)
    return { cohorts: rows, until: since && since > newest ? since : newest, isBehind: false };
  return { cohorts: rows, until: new Date(last.getTime() + 1), isBehind: true };
}
