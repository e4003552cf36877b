import type { Transaction } from '@longwave/postgres';
import {
  addAds,
  addTo,
  createTally,
  lineItemKey,
  placeKeys,
  placeLevels,
  type Tally,
  type WindowTally,
} from './tally.ts';
import type { FactScope } from './stored-facts.ts';

interface CountRow {
  readonly workspace_id: string;
  readonly podcast_id: string;
  readonly episode_id: string;
  readonly day: string;
  readonly downloads: string;
  readonly listeners: string;
}

const columnsOf = {
  podcasts: 'workspace_id, podcast_id',
  episodes: 'workspace_id, podcast_id, episode_id',
  days: 'workspace_id, podcast_id, episode_id, day',
} as const satisfies Record<keyof WindowTally, string>;

const scoped = (
  time: string,
) => `($1::timestamptz is null or ${time} >= $1) and ($2::timestamptz is null or ${time} < $2)
  and ($3::text is null or workspace_id = $3) and ($4::text is null or podcast_id = $4)`;

/**
 * The numbers that the service shows, by the tables that it shows them from: downloads by the hourly rollup, listeners by sessions,
 * ads by their ledger, facts by the judgement they were given.
 * @param scope times are whole UTC hours
 */
export async function readStoredTally(tx: Transaction, scope: FactScope): Promise<Tally> {
  const values = [scope.from ?? null, scope.to ?? null, scope.workspaceId ?? null, scope.podcastId ?? null];
  const tally = createTally();
  for (const level of placeLevels) {
    const columns = columnsOf[level];
    const { rows } = await tx.query<CountRow>(
      `with rollup as (
         select ${columns}, sum(downloads) as downloads
         from (select *, to_char(hour at time zone 'UTC', 'YYYY-MM-DD') as day from download_hour where ${scoped('hour')}) h
         group by ${columns}),
       sessions as (
         select ${columns}, count(distinct listener_key) as listeners
         from (select *, window_on::text as day from session where counted and ${scoped('started_at')}) s
         group by ${columns})
       select ${columns}, coalesce(downloads, 0) as downloads, coalesce(listeners, 0) as listeners
       from rollup full join sessions using (${columns}) where coalesce(downloads, 0) <> 0 or listeners is not null`,
      values,
    );
    for (const { workspace_id, podcast_id, episode_id, day, downloads, listeners } of rows)
      tally.windows.calendar_utc[level].set(
        placeKeys[level]({ workspaceId: workspace_id, podcastId: podcast_id, episodeId: episode_id, day }),
        { downloads: Number(downloads), listeners: Number(listeners) },
      );
  }
  const ads = await tx.query<{ workspace_id: string; line_item_id: string; delivered: string; billable: string }>(
    `select workspace_id, line_item_id, count(*) as delivered, count(*) filter (where billable) as billable
     from ad_delivered where counted and ${scoped('started_at')} group by 1, 2`,
    values,
  );
  for (const { workspace_id, line_item_id, delivered, billable } of ads.rows)
    addAds(tally, lineItemKey(workspace_id, line_item_id), {
      delivered: Number(delivered),
      billable: Number(billable),
    });
  const facts = await tx.query<{ judgement: string; facts: string }>(
    `select coalesce(judgement, 'waiting') as judgement, count(*) as facts from fact where ${scoped('started_at')} group by 1`,
    values,
  );
  for (const { judgement, facts: count } of facts.rows) addTo(tally.facts, judgement, Number(count));
  const held = await tx.query<{ held: string; downloads: string }>(
    `select held, count(*) as downloads from session where held is not null and ${scoped('started_at')} group by 1`,
    values,
  );
  for (const { held: reason, downloads } of held.rows) addTo(tally.held, reason, Number(downloads));
  return tally;
}
