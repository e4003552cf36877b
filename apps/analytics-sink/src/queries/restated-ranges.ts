import type { Pool, Transaction } from '@longwave/postgres';
import { scopeColumns, type AdScope, type CampaignScope } from './ad-queries.ts';
import { windowColumns, type DownloadBasis, type HourRange } from './count-queries.ts';

/** Consecutive hours whose numbers changed after they were closed (docs/counting.md#corrections); milliseconds since the epoch, half-open. */
export interface RestatedRange {
  readonly fromMs: bigint;
  readonly toMs: bigint;
  /** When the latest of these changes was recorded. */
  readonly restatedAtMs: bigint;
}

const maxRanges = 100;

/**
 * Restated hours of a ledger as ranges, the latest restatement first.
 * @param ledger table and condition, `TABLE where …`
 * @param parameters those of `hourParameters`, then those of the condition
 */
async function joinRestatedHours(
  pool: Pool | Transaction,
  ledger: string,
  parameters: readonly unknown[],
): Promise<RestatedRange[]> {
  const { rows } = await pool.query<{ from: Date; to: Date; restated_at: Date }>(
    `with restated as (
       select hour, max(recorded_at) as restated_at from ${ledger}
         and restates and hour > $1::timestamptz - interval '1 hour' and hour < $2
         and ($3::timestamptz is null or recorded_at <= $3)
       group by hour),
     numbered as (
       select hour, restated_at, hour - row_number() over (order by hour) * interval '1 hour' as run from restated)
     select min(hour) as from, max(hour) + interval '1 hour' as to, max(restated_at) as restated_at
     from numbered group by run order by 3 desc, 1 desc limit ${maxRanges}`,
    [...parameters],
  );
  return rows.map((row) => ({
    fromMs: BigInt(row.from.getTime()),
    toMs: BigInt(row.to.getTime()),
    restatedAtMs: BigInt(row.restated_at.getTime()),
  }));
}

const hourParameters = ({ from, to }: HourRange, knownAt: Date | undefined) => [from, to, knownAt ?? null];

/** The restated hours of podcasts, or of one of their episodes, in a window; at most 100 ranges. */
export async function findRestatedDownloads(
  pool: Pool,
  scope: {
    readonly workspaceId: string;
    readonly podcastIds: readonly string[];
    readonly episodeId?: string | undefined;
  },
  range: HourRange,
  { window, knownAt }: DownloadBasis,
): Promise<RestatedRange[]> {
  return joinRestatedHours(
    pool,
    `download_change where workspace_id = $4 and podcast_id = any($5) and ($6::text is null or episode_id = $6)
       and ${windowColumns[window]} <> 0`,
    [...hourParameters(range, knownAt), scope.workspaceId, scope.podcastIds, scope.episodeId ?? null],
  );
}

/** The restated hours of ads, in any stage; at most 100 ranges. */
export async function findRestatedAds(
  pool: Pool,
  { workspaceId, kind, id }: AdScope,
  range: HourRange,
  knownAt?: Date,
): Promise<RestatedRange[]> {
  return joinRestatedHours(pool, `ad_entry where workspace_id = $4 and ${scopeColumns[kind]} = $5`, [
    ...hourParameters(range, knownAt),
    workspaceId,
    id,
  ]);
}

/** The restated hours of campaigns, in any stage; at most 100 ranges. */
export const findRestatedCampaigns = (
  pool: Pool,
  { workspaceId, campaignIds, podcastId }: CampaignScope,
  range: HourRange,
): Promise<RestatedRange[]> =>
  joinRestatedHours(
    pool,
    'ad_entry where workspace_id = $4 and campaign_id = any($5) and ($6::text is null or podcast_id = $6)',
    [...hourParameters(range, undefined), workspaceId, campaignIds, podcastId ?? null],
  );

/** The restated hours of a workspace: of its downloads in a window, of its ads, or of both; at most 100 ranges. */
export async function findRestatedOfWorkspace(
  tx: Transaction,
  workspaceId: string,
  range: HourRange,
  counted: { readonly downloads: DownloadBasis['window'] | undefined; readonly ads: boolean },
): Promise<RestatedRange[]> {
  const columns = 'workspace_id, hour, recorded_at, restates';
  const ledgers = [
    ...(counted.downloads
      ? [`select ${columns} from download_change where ${windowColumns[counted.downloads]} <> 0`]
      : []),
    ...(counted.ads ? [`select ${columns} from ad_entry`] : []),
  ];
  if (ledgers.length === 0) return [];
  return joinRestatedHours(tx, `(${ledgers.join(' union all ')}) as change where workspace_id = $4`, [
    ...hourParameters(range, undefined),
    workspaceId,
  ]);
}
