import type { Pool, Transaction } from '@longwave/postgres';
import type { Columns } from '../../generated/rows.ts';

/** A demand source that is due to be asked, under the lease of this process. */
export interface DueSource {
  readonly sourceId: string;
  readonly workspaceId: string;
  /** Refreshes in a row that failed. */
  readonly failures: number;
}

/** Asks an active source from `now` on, and settles its ads. */
export async function startRefreshing(tx: Transaction, workspaceId: string, sourceId: string, now: Date) {
  await tx.query({
    name: 'start_refreshing',
    text: `insert into demand_refresh (source_id, workspace_id, refresh_at, settle_at) values ($1, $2, $3, $3)
           on conflict (source_id) do update set refresh_at = excluded.refresh_at, settle_at = excluded.settle_at, failures = 0`,
    values: [sourceId, workspaceId, now],
  });
}

/** Asks a source no more; its ads are settled once more. A source that was never asked has nothing to settle. */
export async function stopRefreshing(tx: Transaction, sourceId: string, now: Date): Promise<void> {
  await tx.query({
    name: 'stop_refreshing',
    text: 'update demand_refresh set refresh_at = null, settle_at = $2 where source_id = $1',
    values: [sourceId, now],
  });
}

/** Settles the ads of a source that is asked: one of them was prepared or approved. */
export async function markUnsettled(tx: Transaction, sourceId: string | undefined, now: Date): Promise<void> {
  if (sourceId === undefined) return;
  await tx.query({
    name: 'mark_unsettled',
    text: 'update demand_refresh set settle_at = $2 where source_id = $1',
    values: [sourceId, now],
  });
}

/**
 * Leases sources that are due to be asked. Workspaces take turns: the one with the fewest sources under a lease comes first, and among equal ones the
 * source that has been due for longest.
 * @param limits.limitOfWorkspace leases that a workspace may have at the same time
 */
export async function claimDueSources(
  pool: Pool,
  now: Date,
  until: Date,
  { limit, limitOfWorkspace }: { readonly limit: number; readonly limitOfWorkspace: number },
): Promise<DueSource[]> {
  const { rows } = await pool.query<DueSource>({
    name: 'claim_due_sources',
    text: `with leased as (select workspace_id, count(*) as sources from demand_refresh where leased_until > $1 group by workspace_id),
           ranked as (
             select d.source_id, coalesce(leased.sources, 0) + row_number() over (partition by d.workspace_id order by d.refresh_at) as turn
             from demand_refresh d left join leased using (workspace_id) where d.refresh_at <= $1 and d.leased_until <= $1),
           due as (
             select d.source_id from demand_refresh d join ranked using (source_id)
             where ranked.turn <= $4 and d.leased_until <= $1 order by ranked.turn, d.refresh_at limit $3 for update of d skip locked)
           update demand_refresh set leased_until = $2 from due
           where demand_refresh.source_id = due.source_id
           returning demand_refresh.source_id as "sourceId", workspace_id as "workspaceId", failures`,
    values: [now, until, limit, limitOfWorkspace],
  });
  return rows;
}

/** A demand source whose ads are to be settled. */
export type UnsettledSource = Pick<DueSource, 'sourceId' | 'workspaceId'>;

/** Takes sources whose ads are to be settled, the longest due first; they are due again at `until` unless their settlement is finished. */
export async function claimUnsettled(pool: Pool, now: Date, until: Date, limit: number): Promise<UnsettledSource[]> {
  const { rows } = await pool.query<UnsettledSource>({
    name: 'claim_unsettled',
    text: `with due as (
             select source_id from demand_refresh where settle_at <= $1 order by settle_at limit $3 for update skip locked)
           update demand_refresh set settle_at = $2 from due
           where demand_refresh.source_id = due.source_id
           returning demand_refresh.source_id as "sourceId", workspace_id as "workspaceId"`,
    values: [now, until, limit],
  });
  return rows;
}

/** Ends a settlement that was taken until `until`. What was to be settled meanwhile still is. */
export async function finishSettlement(
  pool: Pool,
  sourceId: string,
  until: Date,
  next: Date | undefined,
): Promise<void> {
  await pool.query({
    name: 'finish_settlement',
    text: `update demand_refresh set settle_at = case when settle_at = $2 then $3 else least(settle_at, $3) end where source_id = $1`,
    values: [sourceId, until, next ?? null],
  });
}

/**
 * Ends a lease: what was to be settled when it began is settled. A source that has stopped meanwhile stays stopped.
 * @param done.settleAt when the time of the next ad is over
 * @param done.next of a refresh: when the next one is due, and how many have failed in a row
 */
export async function releaseSource(
  pool: Pool,
  sourceId: string,
  done: {
    readonly claimedAt: Date;
    readonly settleAt?: Date | undefined;
    readonly next?: { readonly refreshAt: Date; readonly failures: number } | undefined;
  },
): Promise<void> {
  const { claimedAt, settleAt, next } = done;
  await pool.query({
    name: 'release_source',
    text: `update demand_refresh set leased_until = '-infinity', failures = coalesce($5, failures),
             settle_at = least(case when settle_at > $2 then settle_at end, $3),
             refresh_at = case when refresh_at is null then null else coalesce($4, refresh_at) end
           where source_id = $1`,
    values: [sourceId, claimedAt, settleAt ?? null, next?.refreshAt ?? null, next?.failures ?? null],
  });
}

/** The ads of a source whose time is not over: the creative's key, and until when it may be assigned. */
export async function listValidAds(
  pool: Pool,
  sourceId: string,
  now: Date,
): Promise<readonly { readonly demandKey: string; readonly validUntil: Date }[]> {
  const { rows } = await pool.query<{ demandKey: string; validUntil: Date }>({
    name: 'list_valid_ads',
    text: `select demand_key as "demandKey", max(valid_until) as "validUntil" from demand_ad
           where source_id = $1 and valid_until > $2 group by demand_key`,
    values: [sourceId, now],
  });
  return rows;
}

/** The key of the creative that was made of an answer; undefined for a new one. */
export async function findDemandKey(pool: Pool, sourceId: string, answerKey: string): Promise<string | undefined> {
  const { rows } = await pool.query<Columns<'demand_ad', 'demand_key'>>({
    name: 'find_demand_key',
    text: 'select demand_key from demand_ad where source_id = $1 and answer_key = $2',
    values: [sourceId, answerKey],
  });
  return rows[0]?.demand_key;
}

/** An ad of the newest answer of a source. */
export interface AnsweredKey {
  readonly answerKey: string;
  readonly demandKey: string;
  readonly validUntil: Date;
}

/**
 * Saves the newest answer of a source: what is not in it is over from `now` on. What has been over since before `forgetBefore` is forgotten.
 */
export async function saveAnswer(
  pool: Pool,
  sourceId: string,
  ads: readonly AnsweredKey[],
  { now, forgetBefore }: { readonly now: Date; readonly forgetBefore: Date },
): Promise<void> {
  await pool.query({
    name: 'save_answer',
    text: `with answered as (
             insert into demand_ad (source_id, answer_key, demand_key, valid_until)
             select $1, * from unnest($2::text[], $3::text[], $4::timestamptz[])
             on conflict (source_id, answer_key) do update
               set demand_key = excluded.demand_key, valid_until = excluded.valid_until),
           over as (
             update demand_ad set valid_until = least(valid_until, $5)
             where source_id = $1 and answer_key <> all ($2::text[]) and valid_until >= $6)
           delete from demand_ad where source_id = $1 and answer_key <> all ($2::text[]) and valid_until < $6`,
    values: [
      sourceId,
      ads.map(({ answerKey }) => answerKey),
      ads.map(({ demandKey }) => demandKey),
      ads.map(({ validUntil }) => validUntil),
      now,
      forgetBefore,
    ],
  });
}
