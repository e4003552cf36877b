import { classifyEvent, methodologyVersion, type EventJudgement, type UserAgentVerdict } from '@longwave/audience';
import type { Columns } from '@longwave/audience-store';
import type { DeliveryEvent } from '@longwave/events';
import type { Transaction } from '@longwave/postgres';
import { addToCohorts, readReached } from '../ads/cohort-table.ts';
import { holdServings, saveServings } from '../ads/serving-stages.ts';
import { holdExcess, lockServingsEvents } from './hold-excess.ts';

/** The verdict on a user agent; undefined while its text is unknown. */
type VerdictOf = (digest: string | null) => UserAgentVerdict | undefined;

const hourColumns = `workspace_id, podcast_id, campaign_id, line_item_id, creative_id, hour, event`;

/** Reports that count, and those above the bound of their serving. */
const isSettled = `judgement in ('eligible', 'excess')`;

/** Adds the settled rows of a statement named `judged` to the hours. */
const countJudged = `
  insert into client_event_hour as h (${hourColumns}, events, excess)
  select workspace_id, podcast_id, campaign_id, line_item_id, creative_id, date_trunc('hour', at, 'UTC'), event,
    count(*) filter (where judgement = 'eligible'), count(*) filter (where judgement = 'excess')
  from judged where ${isSettled} group by 1, 2, 3, 4, 5, 6, 7 order by 1, 2, 3, 4, 5, 6, 7
  on conflict (${hourColumns}) do update set events = h.events + excluded.events, excess = h.excess + excluded.excess`;

/** An eligible repetition replaces one that is not, and a waiting repetition replaces a rejected one. */
const supersedes = (repetition: EventJudgement | undefined, known: EventJudgement | undefined) =>
  known !== 'eligible' && (repetition === 'eligible' || (repetition === undefined && known !== undefined));

const eventColumns = `fact_id, serving_id, event, sequence, at, late, workspace_id, podcast_id, episode_id, campaign_id, line_item_id,
  creative_id, break_key, slot, ad_duration_ms, listener_key, address_verdict, user_agent_digest, country, region, lists_version, judgement, judged_by`;
const excluded = eventColumns.replace(/\w+/g, 'excluded.$&');

/** Brings the cohorts of the servings up to date that these reports may confirm. */
async function updateReportedCohorts(
  tx: Transaction,
  reports: readonly Columns<'client_event', 'serving_id' | 'event' | 'judgement'>[],
): Promise<void> {
  const confirming = reports.filter(
    ({ event, judgement }) => judgement === 'eligible' && (event === 'start' || event === 'complete'),
  );
  if (confirming.length === 0) return;
  const servingIds = [...new Set(confirming.map((row) => row.serving_id))];
  await holdServings(tx, servingIds);
  const moves = await readReached(tx, servingIds);
  await saveServings(tx, moves);
  await addToCohorts(tx, moves);
}

/** Keeps one repetition of each report: the first, unless a later one supersedes it. */
function mergeRepetitions<R extends { readonly fact_id: string; readonly judgement: EventJudgement | undefined }>(
  rows: readonly R[],
): R[] {
  const kept = new Map<string, R>();
  for (const row of rows) {
    const known = kept.get(row.fact_id);
    if (known === undefined || supersedes(row.judgement, known.judgement)) kept.set(row.fact_id, row);
  }
  return [...kept.values()];
}

/**
 * Stores the reports of players and counts them by kind, each once, when any of its repetitions counts. The transaction has stored nothing
 * of ads before: reports are locked before servings.
 * @returns digests of the user agents that reports wait for; also those of reports that were stored before, because an earlier process may
 *   have died before it settled them
 */
export async function recordEvents(
  tx: Transaction,
  events: readonly DeliveryEvent[],
  verdictOf: VerdictOf,
  listsVersion: string,
): Promise<string[]> {
  const classified = mergeRepetitions(
    events.map((event) => {
      const judgement: EventJudgement | undefined = classifyEvent(event, verdictOf(event.user_agent_digest));
      return { ...event, judgement, judged_by: judgement && `${methodologyVersion} ${listsVersion}` };
    }),
  );
  const rows = await holdExcess(tx, classified);
  const { rows: inserted } = await tx.query<Columns<'client_event', 'fact_id' | 'serving_id' | 'event' | 'judgement'>>(
    `with judged as (
       insert into client_event as known (${eventColumns}, counted_at)
       select ${eventColumns}, case when ${isSettled} then now() end
       from json_populate_recordset(null::client_event, $1) order by fact_id
       on conflict (fact_id) do update set (${eventColumns}, counted_at) = (select ${excluded}, excluded.counted_at)
       where (known.judgement is null or known.judgement not in ('eligible', 'excess'))
         and (excluded.${isSettled} or excluded.judgement is null and known.judgement is not null)
       returning *),
     counted as (${countJudged})
     select fact_id, serving_id, event, judgement from judged`,
    [JSON.stringify(rows)],
  );
  await updateReportedCohorts(tx, inserted);
  const isFresh = new Set(inserted.map((row) => row.fact_id));
  return rows
    .filter((row) => row.judgement === undefined || !isFresh.has(row.fact_id))
    .flatMap((row) => row.user_agent_digest ?? []);
}

/**
 * Classifies up to `limit` reports that wait for these user agents, when their texts are known; answers how many. The transaction has stored
 * nothing of ads before.
 */
export async function settleEvents(
  tx: Transaction,
  digests: readonly string[],
  verdictOf: VerdictOf,
  listsVersion: string,
  limit: number,
): Promise<number> {
  const waiting = digests.filter((digest) => verdictOf(digest) !== undefined);
  const condition = `judgement is null and user_agent_digest = any($1)`;
  const { rows: servings } = await tx.query<Columns<'client_event', 'serving_id'>>(
    `select serving_id from client_event where ${condition} order by fact_id limit $2`,
    [waiting, limit],
  );
  if (servings.length === 0) return 0;
  const servingIds = servings.map((row) => row.serving_id);
  await lockServingsEvents(tx, servingIds);
  const { rows } = await tx.query<
    Columns<
      'client_event',
      'fact_id' | 'serving_id' | 'event' | 'at' | 'ad_duration_ms' | 'user_agent_digest' | 'address_verdict',
      Pick<DeliveryEvent, 'event' | 'address_verdict'>
    >
  >(
    `select fact_id, serving_id, event, at, ad_duration_ms, user_agent_digest, address_verdict from client_event
     where ${condition} and serving_id = any($3) order by fact_id limit $2 for update`,
    [waiting, limit, servingIds],
  );
  const classified = await holdExcess(
    tx,
    rows.map((row) => {
      const judgement: EventJudgement | undefined = classifyEvent(row, verdictOf(row.user_agent_digest));
      return { ...row, judgement };
    }),
  );
  const { rows: judged } = await tx.query<Columns<'client_event', 'serving_id' | 'event' | 'judgement'>>(
    `with judged as (
       update client_event e set judgement = k.judgement, judged_by = $3,
         counted_at = case when k.${isSettled} then now() end
       from unnest($1::text[], $2::text[]) as k (fact_id, judgement) where e.fact_id = k.fact_id returning e.*),
     counted as (${countJudged})
     select serving_id, event, judgement from judged`,
    [
      classified.map((row) => row.fact_id),
      classified.map((row) => row.judgement),
      `${methodologyVersion} ${listsVersion}`,
    ],
  );
  await updateReportedCohorts(tx, judged);
  return servings.length;
}
