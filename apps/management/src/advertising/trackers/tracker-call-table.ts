import { newId } from '@longwave/ids';
import type { Pool, Transaction } from '@longwave/postgres';
import type { FetchFailure } from '../../outside/fetch-failure.ts';
import type { NewTrackerCall } from './tracker-calls-of.ts';

/** Why the last attempt at a call failed, or why there was none. */
export type TrackerProblem = FetchFailure | 'status' | 'endpoint_disabled' | 'too_late' | 'too_many_waiting';

/** A call that nobody could make for so long is given up. */
export const giveUpAfterMs = 24 * 3_600_000;

/** Calls of one workspace that may wait: more of them than its hosts take in a day would only hold room. */
const defaultMaxWaiting = 200_000;
/** Calls that one statement adds. */
const maxInserted = 1_000;

/** A call with its id, and whether it waits or is given up at once. */
interface PlacedCall extends NewTrackerCall {
  readonly id: string;
  readonly isQueued: boolean;
}

/** Queues or gives up calls; one that the serving had already stays as it is. Answers the ids of those that are new. */
async function insertCalls(tx: Transaction, calls: readonly PlacedCall[], now: Date): Promise<ReadonlySet<string>> {
  const added = new Set<string>();
  for (let at = 0; at < calls.length; at += maxInserted) {
    const piece = calls.slice(at, at + maxInserted);
    const column = <T>(of: (call: PlacedCall) => T) => piece.map(of);
    const { rows } = await tx.query<{ id: string }>({
      name: 'insert_tracker_calls',
      text: `insert into tracker_call (id, workspace_id, serving_id, tracker_id, owner_id, url_template, host, counted_at, playhead_ms,
               break_position, ad_type, state, problem, next_attempt_at, ended_at)
             select c.id, c.workspace_id, c.serving_id, c.tracker_id, c.owner_id, case when c.is_queued then c.url_template end, c.host,
               c.counted_at, c.playhead_ms, c.break_position, c.ad_type, case when c.is_queued then 'pending' else 'given_up' end,
               case when not c.is_queued then 'too_many_waiting' end, $13::timestamptz, case when not c.is_queued then $13::timestamptz end
             from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::timestamptz[], $9::int[],
               $10::text[], $11::text[], $12::boolean[]) as c (id, workspace_id, serving_id, tracker_id, owner_id, url_template, host,
               counted_at, playhead_ms, break_position, ad_type, is_queued)
             on conflict (serving_id, tracker_id) do nothing returning id`,
      values: [
        column(({ id }) => id),
        column(({ workspaceId }) => workspaceId),
        column(({ servingId }) => servingId),
        column(({ trackerId }) => trackerId),
        column(({ ownerId }) => ownerId),
        column(({ urlTemplate }) => urlTemplate),
        column(({ host }) => host),
        column(({ countedAt }) => countedAt),
        column(({ playheadMs = null }) => playheadMs),
        column(({ breakPosition = null }) => breakPosition),
        column(({ adType = null }) => adType),
        column(({ isQueued }) => isQueued),
        now,
      ],
    });
    for (const { id } of rows) added.add(id);
  }
  return added;
}

/** Calls that wait in a workspace, counted up to a bound. */
async function countWaitingOf(tx: Transaction, workspaceId: string, atMost: number): Promise<number> {
  const { rows } = await tx.query<{ n: number }>({
    name: 'count_waiting_calls_of_workspace',
    text: `select count(*)::int as n from (
             select from tracker_call where workspace_id = $1 and state = 'pending' limit $2) waiting`,
    values: [workspaceId, atMost],
  });
  return rows[0]!.n;
}

/** The calls in one order for all processes, those for which their workspace has no room given up. */
async function placeCalls(tx: Transaction, calls: readonly NewTrackerCall[], maxWaiting: number) {
  const keyOf = ({ servingId, trackerId }: NewTrackerCall) => `${servingId} ${trackerId}`;
  const inOrder = calls.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  const placed: PlacedCall[] = [];
  for (const [workspaceId, own] of Map.groupBy(inOrder, (call) => call.workspaceId)) {
    const room = maxWaiting - (await countWaitingOf(tx, workspaceId, maxWaiting));
    placed.push(...own.map((call, at) => ({ ...call, id: newId('tcl'), isQueued: at < room })));
  }
  return placed.sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
}

/**
 * Queues the calls of one page of events, and moves the cursor behind it. A page that another process has read meanwhile queues nothing new.
 * What a workspace has beyond `maxWaiting` waiting calls is given up.
 * @returns how many calls are new: those that wait, and those that were given up
 */
export async function savePage(
  tx: Transaction,
  page: { readonly until: Date; readonly calls: readonly NewTrackerCall[] },
  now: Date,
  maxWaiting = defaultMaxWaiting,
): Promise<{ readonly queued: number; readonly givenUp: number }> {
  const placed = await placeCalls(tx, page.calls, maxWaiting);
  const added = await insertCalls(tx, placed, now);
  const givenUp = placed.filter(({ id, isQueued }) => !isQueued && added.has(id)).map(({ id }) => id);
  if (givenUp.length > 0)
    await tx.query({
      name: 'tally_calls_without_room',
      text: `with ended as (select owner_id, state, problem, status from tracker_call where id = any($1)) ${tallyEnded('$2::timestamptz')}`,
      values: [givenUp, now],
    });
  await tx.query({
    name: 'move_tracker_cursor',
    text: `insert into tracker_cursor as c (until) values ($1)
           on conflict (only_row) do update set until = greatest(c.until, excluded.until)`,
    values: [page.until],
  });
  return { queued: added.size - givenUp.length, givenUp: givenUp.length };
}

/** Adds calls that have just ended, a statement named `ended` with owner_id, state, problem, status, to the tallies of their owners. */
export const tallyEnded = (now: string) => `
  insert into tracker_tally as t (owner_id, delivered, failed, given_up, last_delivered_at, last_problem, last_status, last_problem_at)
  select owner_id, count(*) filter (where state = 'delivered'), count(*) filter (where state = 'failed'),
    count(*) filter (where state = 'given_up'), max(${now}) filter (where state = 'delivered'), max(problem), max(status) filter (where problem is not null),
    max(${now}) filter (where problem is not null)
  from ended group by owner_id order by owner_id
  on conflict (owner_id) do update set delivered = t.delivered + excluded.delivered, failed = t.failed + excluded.failed,
    given_up = t.given_up + excluded.given_up, last_delivered_at = coalesce(excluded.last_delivered_at, t.last_delivered_at),
    last_problem = coalesce(excluded.last_problem, t.last_problem),
    last_status = case when excluded.last_problem is null then t.last_status else excluded.last_status end,
    last_problem_at = coalesce(excluded.last_problem_at, t.last_problem_at)`;

/** The last attempt at a call is made when its time is over: only then is it late. */
const lateAfterMs = giveUpAfterMs + 300_000;

/** Gives up at most `maxRows` calls that have waited for too long; answers how many. */
export async function giveUpLate(pool: Pool, now: Date, maxRows: number): Promise<number> {
  const { rows } = await pool.query<{ n: number }>({
    name: 'give_up_tracker_calls',
    text: `with late as (
             select id from tracker_call where state = 'pending' and counted_at < $2 and (lease_until is null or lease_until <= $1)
             order by counted_at limit $3 for update skip locked
           ), ended as (
             update tracker_call c set state = 'given_up', problem = coalesce(c.problem, 'too_late'), url_template = null, lease_id = null,
               lease_until = null, ended_at = $1
             from late where c.id = late.id returning c.owner_id, c.state, c.problem, c.status
           ), tallied as (${tallyEnded('$1::timestamptz')})
           select count(*)::int as n from ended`,
    values: [now, new Date(now.getTime() - lateAfterMs), maxRows],
  });
  return rows[0]!.n;
}

/** Removes calls that ended before a time, at most `maxRows`; answers how many. */
export async function removeCalls(pool: Pool, before: Date, maxRows: number): Promise<number> {
  const { rowCount } = await pool.query({
    name: 'remove_tracker_calls',
    text: `delete from tracker_call where id in (select id from tracker_call where ended_at < $1 order by ended_at limit $2)`,
    values: [before, maxRows],
  });
  return rowCount ?? 0;
}

/** Calls that wait, counted up to a bound. */
export async function countWaiting(pool: Pool, atMost: number): Promise<number> {
  const { rows } = await pool.query<{ n: number }>({
    name: 'count_waiting_tracker_calls',
    text: `select count(*)::int as n from (select from tracker_call where state = 'pending' limit $1) waiting`,
    values: [atMost],
  });
  return rows[0]!.n;
}
