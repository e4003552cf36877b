import { type Columns, factColumns, factOf, type FactRow } from '@longwave/audience-store';
import type { ByteRangeServed, MediaRangeServed, TrackDescribed, UserAgentSeen } from '@longwave/events';
import type { Transaction } from '@longwave/postgres';
import type { BilledBefore, VelocityDayEntry } from './fact-file.ts';
import { neededFacts, type FactScope } from './fact-range.ts';

/**
 * `needed`: ids of the facts of a scope. `run`: listeners and episodes with requests on each of so many days (24 h) before it, under
 * the keys that they had, with those that a play may join to them; a day more than the unbroken run takes is harmless.
 */
const needed = `
  with recursive run (listener_key, episode_id, days) as (
    select distinct r.listener_key, r.episode_id, 1 from served_request r
    where r.started_at >= $1::timestamptz - interval '1 day' and r.started_at < $1
      and ($3::text is null or r.workspace_id = $3) and ($4::text is null or r.podcast_id = $4)
    union
    select k.listener_key, run.episode_id, run.days + k.earlier
    from run cross join lateral (
      select run.listener_key, 1 as earlier
      union all
      select l.previous_listener_key, 1 from listener_episode l
      where l.listener_key = run.listener_key and l.episode_id = run.episode_id and l.previous_listener_key is not null
      union all
      select joined.listener_key, earlier from served_request own
        join served_request joined on joined.episode_id = own.episode_id and joined.play_id = own.play_id
          and joined.play_address_key is not null,
        generate_series(0, 1) earlier
      where own.listener_key = run.listener_key and own.episode_id = run.episode_id and own.play_address_key is not null) k
    where exists (
      select from served_request r where r.listener_key = k.listener_key and r.episode_id = run.episode_id
        and r.started_at >= $1::timestamptz - (run.days + k.earlier) * interval '1 day'
        and r.started_at < $1::timestamptz - (run.days + k.earlier - 1) * interval '1 day')),
  needed as (
    select f.* from fact f
    where ($1::timestamptz is null or f.at >= $1 and f.started_at >= $1) and ($2::timestamptz is null or f.started_at < $2)
      and ($3::text is null or f.workspace_id = $3) and ($4::text is null or f.podcast_id = $4)
    union all
    select f.* from run join fact f on f.listener_key = run.listener_key and f.episode_id = run.episode_id
      and f.started_at >= $1::timestamptz - run.days * interval '1 day'
      and f.started_at < $1::timestamptz - (run.days - 1) * interval '1 day')`;

function parameters(scope: FactScope): (Date | string | null)[] {
  const { from, to } = neededFacts(scope);
  return [from ?? null, to ?? null, scope.workspaceId ?? null, scope.podcastId ?? null];
}

/** Rows of a query in batches, by a cursor of the server: neither side ever holds them all. */
async function* fetchRows<R extends object>(tx: Transaction, sql: string, values: unknown[]): AsyncGenerator<R[]> {
  await tx.query(`declare stored_facts no scroll cursor for ${sql}`, values);
  for (;;) {
    const { rows } = await tx.query<R>('fetch 1000 from stored_facts');
    if (rows.length === 0) break;
    yield rows;
  }
  await tx.query('close stored_facts');
}

/** The user agents that the facts of a scope name, as facts; in batches. */
export async function* streamUserAgents(tx: Transaction, scope: FactScope): AsyncGenerator<UserAgentSeen[]> {
  const batches = fetchRows<Columns<'user_agent', 'digest' | 'text' | 'first_seen_at'>>(
    tx,
    `${needed} select u.digest, u.text, u.first_seen_at from user_agent u
     where u.digest in (select user_agent_digest from needed)`,
    parameters(scope),
  );
  for await (const rows of batches)
    yield rows.map((row) => ({
      kind: 'user_agent_seen',
      fact_id: `user_agent ${row.digest}`,
      at: row.first_seen_at.toISOString(),
      user_agent_digest: row.digest,
      user_agent: row.text,
    }));
}

/** The descriptions of tracks that the facts of a scope name, as facts; in batches. */
export async function* streamTracks(tx: Transaction, scope: FactScope): AsyncGenerator<TrackDescribed[]> {
  const batches = fetchRows<
    Columns<
      'track_part',
      'digest' | 'part' | 'parts' | 'media' | 'timescale' | 'cells',
      Pick<TrackDescribed, 'media' | 'cells'>
    >
  >(
    tx,
    `${needed} select t.digest, t.part, t.parts, t.media, t.timescale, t.cells from track_part t
     where t.digest in (select l.track from needed f join layout l on l.digest = f.layout_digest)`,
    parameters(scope),
  );
  for await (const rows of batches)
    yield rows.map(({ digest, ...track }) => ({
      kind: 'track_described',
      fact_id: `track ${digest} ${track.part}`,
      // Nothing depends on when a track was described.
      at: new Date(0).toISOString(),
      track: digest,
      ...track,
    }));
}

/** The facts of a scope as they were reported, with sorted and merged intervals; in batches, in no order. */
export async function* streamFacts(
  tx: Transaction,
  scope: FactScope,
): AsyncGenerator<(ByteRangeServed | MediaRangeServed)[]> {
  const batches = fetchRows<FactRow>(
    tx,
    `${needed} select ${factColumns} from needed f join layout l on l.digest = f.layout_digest`,
    parameters(scope),
  );
  for await (const rows of batches) yield rows.map(factOf);
}

/** Whether a listener's or an address's day has downloads in the scope, in any window. */
const hasDownloads = (table: string, day: string) => `exists (
  select from ${table} d where ${day} = v.day and ($3::text is null or d.workspace_id = $3) and ($4::text is null or d.podcast_id = $4)
    and case v.kind when 'listener' then d.listener_key = v.key else d.address_key = v.key end)`;

/**
 * The days of keys that people have released and, where the scope is a part of the installation, those that velocity holds; in batches.
 * Keys without downloads in the scope are left out.
 */
export async function* streamVelocityDays(tx: Transaction, scope: FactScope): AsyncGenerator<VelocityDayEntry[]> {
  const isPart = scope.workspaceId !== undefined || scope.podcastId !== undefined;
  const batches = fetchRows<{ kind: VelocityDayEntry['of']; key: string; day: string; held: boolean }>(
    tx,
    `select v.kind, v.key, v.day::text, v.decision is distinct from 'release' as held from velocity_day v
     where v.infeasible and ($5 or v.decision = 'release')
       and ($1::timestamptz is null or v.day >= ($1::timestamptz at time zone 'UTC')::date - 1)
       and ($2::timestamptz is null or v.day <= ($2::timestamptz at time zone 'UTC')::date)
       and (${hasDownloads('session', 'd.window_on')}
         or ${hasDownloads('rolling_download', "(d.started_at at time zone 'UTC')::date")})`,
    [...parameters(scope), isPart],
  );
  for await (const rows of batches) yield rows.map(({ kind, ...row }) => ({ kind: 'velocity_day', of: kind, ...row }));
}

/** The servings that were delivered in the range and billed before it, with the time of that delivery; in batches. */
export async function* streamBilledBefore(tx: Transaction, scope: FactScope): AsyncGenerator<BilledBefore[]> {
  const batches = fetchRows<{ serving_id: string; started_at: Date }>(
    tx,
    `select a.serving_id, min(b.started_at) as started_at
     from ad_delivered a join ad_delivered b using (serving_id)
     where a.started_at >= $1::timestamptz and ($2::timestamptz is null or a.started_at < $2)
       and ($3::text is null or a.workspace_id = $3) and ($4::text is null or a.podcast_id = $4)
       and a.counted and a.billable and b.started_at < $1 and b.counted and b.billable
     group by 1`,
    [scope.from ?? null, scope.to ?? null, scope.workspaceId ?? null, scope.podcastId ?? null],
  );
  for await (const rows of batches)
    yield rows.map((row) => ({
      kind: 'billed_before',
      serving_id: row.serving_id,
      started_at: row.started_at.toISOString(),
    }));
}
