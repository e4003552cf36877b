import { windows, type Window } from '@longwave/audience';
import { type Columns, readKeptFrom } from '@longwave/audience-store';
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
import type { FactScope } from './fact-range.ts';

type CountRow = Columns<'session', 'workspace_id' | 'podcast_id' | 'episode_id'> & {
  readonly day: string;
  readonly downloads: string;
  readonly listeners: string;
};

const columnsOf = {
  podcasts: 'workspace_id, podcast_id',
  episodes: 'workspace_id, podcast_id, episode_id',
  days: 'workspace_id, podcast_id, episode_id, day',
} as const satisfies Record<keyof WindowTally, string>;

/** The tables of each window's downloads and listeners. */
const windowSources = {
  calendar_utc: { downloads: 'downloads', table: 'session', day: 'window_on::text', counted: 'counted' },
  first_touch_24h: {
    downloads: 'first_touch_24h',
    table: 'rolling_download',
    day: utcDate('started_at'),
    counted: 'counted',
  },
  last_touch_24h: {
    downloads: 'last_touch_24h',
    table: 'rolling_download',
    day: utcDate('started_at'),
    counted: 'counted and last_touch',
  },
} as const satisfies Record<Window, object>;

function utcDate(column: string): string {
  return `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD')`;
}

const scoped = (
  time: string,
) => `($1::timestamptz is null or ${time} >= $1) and ($2::timestamptz is null or ${time} < $2)
  and ($3::text is null or workspace_id = $3) and ($4::text is null or podcast_id = $4)`;

/** Reads one window's downloads from the hourly rollup and its listeners from the downloads themselves. */
async function readWindow(tx: Transaction, values: unknown[], window: Window, tally: WindowTally): Promise<void> {
  const { downloads, table, day, counted } = windowSources[window];
  for (const level of placeLevels) {
    const columns = columnsOf[level];
    const { rows } = await tx.query<CountRow>(
      `with rollup as (
         select ${columns}, sum(${downloads}) as downloads
         from (select *, ${utcDate('hour')} as day from download_hour where ${scoped('hour')}) h
         group by ${columns} having sum(${downloads}) <> 0),
       listener as (
         select ${columns}, count(distinct listener_key) as listeners
         from (select *, ${day} as day from ${table} where ${counted} and ${scoped('started_at')}) s
         group by ${columns})
       select ${columns}, coalesce(downloads, 0) as downloads, coalesce(listeners, 0) as listeners
       from rollup full join listener using (${columns})`,
      values,
    );
    for (const row of rows)
      tally[level].set(
        placeKeys[level]({
          workspaceId: row.workspace_id,
          podcastId: row.podcast_id,
          episodeId: row.episode_id,
          day: row.day,
        }),
        { downloads: Number(row.downloads), listeners: Number(row.listeners) },
      );
  }
}

/** Whether all facts of a scope are stored, so that their number can be compared. */
export async function hasAllFacts(tx: Transaction, { from }: FactScope): Promise<boolean> {
  const keptFrom = await readKeptFrom(tx);
  return keptFrom === undefined || (from !== undefined && from >= keptFrom);
}

/**
 * The numbers that the service shows, from the same tables: downloads and ads from hourly totals, listeners and held downloads from
 * downloads, facts from their judgements. A range that begins before the stored facts has no facts.
 * @param scope times are whole UTC hours
 */
export async function readStoredTally(tx: Transaction, scope: FactScope): Promise<Tally> {
  const values = [scope.from ?? null, scope.to ?? null, scope.workspaceId ?? null, scope.podcastId ?? null];
  const tally = createTally();
  for (const window of windows) await readWindow(tx, values, window, tally.windows[window]);
  const ads = await tx.query<
    Columns<'ad_hour', 'workspace_id' | 'line_item_id'> & { delivered: string; billable: string }
  >(
    `select workspace_id, line_item_id, sum(delivered) as delivered, sum(billable) as billable
     from ad_hour where ${scoped('hour')} group by 1, 2 having sum(delivered) <> 0 or sum(billable) <> 0`,
    values,
  );
  for (const { workspace_id, line_item_id, delivered, billable } of ads.rows)
    addAds(tally, lineItemKey(workspace_id, line_item_id), {
      delivered: Number(delivered),
      billable: Number(billable),
    });
  const held = await tx.query<Columns<'session', 'held', { held: string }> & { downloads: string }>(
    `select held, count(*) as downloads from session where held is not null and ${scoped('started_at')} group by 1`,
    values,
  );
  for (const { held: reason, downloads } of held.rows) addTo(tally.held, reason, Number(downloads));
  if (!(await hasAllFacts(tx, scope))) return tally;
  const facts = await tx.query<Columns<'fact', 'judgement', { judgement: string }> & { facts: string }>(
    `select coalesce(judgement, 'waiting') as judgement, count(*) as facts from fact where ${scoped('started_at')} group by 1`,
    values,
  );
  for (const { judgement, facts: count } of facts.rows) addTo(tally.facts, judgement, Number(count));
  return tally;
}
