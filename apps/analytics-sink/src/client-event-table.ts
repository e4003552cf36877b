import { judgeEvent, methodologyVersion, type Judgement, type UserAgentVerdict } from '@longwave/audience';
import type { DeliveryEvent } from '@longwave/events';
import type { Transaction } from '@longwave/postgres';

/** What a user agent says, as far as its text is known. */
type VerdictOf = (digest: string | null) => UserAgentVerdict | undefined;

const hourColumns = `workspace_id, podcast_id, campaign_id, line_item_id, creative_id, hour, event`;

/** Adds the eligible rows of a statement named `judged` to the hours. */
const countJudged = `
  insert into client_event_hour as h (${hourColumns}, events)
  select workspace_id, podcast_id, campaign_id, line_item_id, creative_id, date_trunc('hour', at, 'UTC'), event, count(*)
  from judged where judgement = 'eligible' group by 1, 2, 3, 4, 5, 6, 7 order by 1, 2, 3, 4, 5, 6, 7
  on conflict (${hourColumns}) do update set events = h.events + excluded.events`;

/** A repetition that counts takes the place of one that does not, one that may count the place of one that never will. */
const supersedes = (repetition: Judgement | undefined, known: Judgement | undefined) =>
  known !== 'eligible' && (repetition === 'eligible' || (repetition === undefined && known !== undefined));

const columns = `fact_id, serving_id, event, sequence, at, late, workspace_id, podcast_id, episode_id, campaign_id, line_item_id,
  creative_id, break_key, slot, listener_key, address_verdict, user_agent_digest, country, region, lists_version, judgement, judged_by`;
const excluded = columns.replace(/\w+/g, 'excluded.$&');

/** One of the repetitions of each report: the first, unless a later one supersedes it. */
function mergeRepetitions<R extends { readonly fact_id: string; readonly judgement: Judgement | undefined }>(
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
 * Stores what players reported and counts it by kind, each report once: when any of its repetitions counts.
 * @returns digests of user agents that some of them wait for, or may: those that were here before may be of a batch that was not finished
 */
export async function recordEvents(
  tx: Transaction,
  events: readonly DeliveryEvent[],
  verdictOf: VerdictOf,
  listsVersion: string,
): Promise<string[]> {
  const rows = mergeRepetitions(
    events.map((event) => {
      const judgement = judgeEvent(event, verdictOf(event.user_agent_digest));
      return { ...event, judgement, judged_by: judgement && `${methodologyVersion} ${listsVersion}` };
    }),
  );
  const { rows: inserted } = await tx.query<{ fact_id: string }>(
    `with judged as (
       insert into client_event as known (${columns}, counted_at)
       select ${columns}, case when judgement = 'eligible' then now() end
       from json_populate_recordset(null::client_event, $1) order by fact_id
       on conflict (fact_id) do update set (${columns}, counted_at) = (select ${excluded}, excluded.counted_at)
       where known.judgement is distinct from 'eligible'
         and (excluded.judgement = 'eligible' or excluded.judgement is null and known.judgement is not null)
       returning *),
     counted as (${countJudged})
     select fact_id from judged`,
    [JSON.stringify(rows)],
  );
  const isFresh = new Set(inserted.map((row) => row.fact_id));
  return rows
    .filter((row) => row.judgement === undefined || !isFresh.has(row.fact_id))
    .flatMap((row) => row.user_agent_digest ?? []);
}

/** Judges up to `most` reports that wait for these user agents, as far as their texts are known; answers how many. */
export async function settleEvents(
  tx: Transaction,
  digests: readonly string[],
  verdictOf: VerdictOf,
  listsVersion: string,
  most: number,
): Promise<number> {
  const { rows } = await tx.query<Pick<DeliveryEvent, 'fact_id' | 'user_agent_digest' | 'address_verdict'>>(
    `select fact_id, user_agent_digest, address_verdict from client_event
     where judgement is null and user_agent_digest = any($1) order by fact_id limit $2 for update`,
    [digests.filter((digest) => verdictOf(digest) !== undefined), most],
  );
  if (rows.length === 0) return 0;
  const judgements = rows.map((row): Judgement => judgeEvent(row, verdictOf(row.user_agent_digest))!);
  await tx.query(
    `with judged as (
       update client_event e set judgement = k.judgement, judged_by = $3,
         counted_at = case when k.judgement = 'eligible' then now() end
       from unnest($1::text[], $2::text[]) as k (fact_id, judgement) where e.fact_id = k.fact_id returning e.*)
     ${countJudged}`,
    [rows.map((row) => row.fact_id), judgements, `${methodologyVersion} ${listsVersion}`],
  );
  return rows.length;
}
