import type { Columns } from '@longwave/audience-store';
import type { Pool } from '@longwave/postgres';
import { adStages, type AdStage } from '../ads/ad-entry.ts';
import type { BucketUnit } from './buckets.ts';
import { seriesBuckets } from './count-series.ts';
import type { HourRange } from './count-queries.ts';

/** The columns of the scopes that ads are counted by. */
export const scopeColumns = {
  podcastId: 'podcast_id',
  campaignId: 'campaign_id',
  lineItemId: 'line_item_id',
  creativeId: 'creative_id',
} as const;

/** The podcast, campaign, line item or creative whose ads are counted. */
export interface AdScope {
  readonly workspaceId: string;
  readonly kind: keyof typeof scopeColumns;
  readonly id: string;
}

/** Ads by the stages of the ledger. */
export type AdCounts = Readonly<Record<AdStage, bigint>>;

type StageRow = Readonly<Record<AdStage, string>>;

const stageCounts = (row: StageRow): AdCounts =>
  Object.fromEntries(adStages.map((stage) => [stage, BigInt(row[stage])])) as AdCounts;

/** Rows to sum up: current totals, or the ledger's entries up to a time. */
function source(knownAt: Date | undefined): string {
  if (knownAt === undefined) return 'ad_hour';
  const stages = adStages.map((stage) => `case when stage = '${stage}' then quantity else 0 end as ${stage}`);
  return `(select e.*, ${stages.join(', ')} from ad_entry e where workspace_id = $1 and recorded_at <= $5) as known`;
}

const sums = adStages.map((stage) => `coalesce(sum(${stage}), 0) as ${stage}`).join(', ');

const where = (kind: AdScope['kind']) =>
  `where workspace_id = $1 and ${scopeColumns[kind]} = $2 and hour >= $3 and hour < $4`;

const parameters = ({ workspaceId, id }: AdScope, { from, to }: HourRange, knownAt: Date | undefined) => [
  workspaceId,
  id,
  from,
  to,
  ...(knownAt ? [knownAt] : []),
];

/** Ads of the range: decisions by their hour, deliveries and bills by the hour in which their download began. */
export async function countAds(pool: Pool, scope: AdScope, range: HourRange, knownAt?: Date): Promise<AdCounts> {
  const { rows } = await pool.query<StageRow>(
    `select ${sums} from ${source(knownAt)} ${where(scope.kind)}`,
    parameters(scope, range, knownAt),
  );
  return stageCounts(rows[0]!);
}

/** Campaigns of a workspace, in all its podcasts or in one. */
export interface CampaignScope {
  readonly workspaceId: string;
  readonly campaignIds: readonly string[];
  readonly podcastId?: string | undefined;
}

/** Ads of several campaigns in the range; campaigns without ads are absent. */
export async function countCampaigns(
  pool: Pool,
  { workspaceId, campaignIds, podcastId }: CampaignScope,
  range: HourRange,
): Promise<{ readonly campaignId: string; readonly decided: bigint; readonly delivered: bigint }[]> {
  const { rows } = await pool.query<StageRow & Columns<'ad_hour', 'campaign_id'>>(
    `select campaign_id, ${sums} from ad_hour
     where workspace_id = $1 and campaign_id = any($2) and hour >= $3 and hour < $4 and ($5::text is null or podcast_id = $5)
     group by 1 order by 1`,
    [workspaceId, campaignIds, range.from, range.to, podcastId ?? null],
  );
  return rows
    .map((row) => ({ campaignId: row.campaign_id, decided: BigInt(row.decided), delivered: BigInt(row.delivered) }))
    .filter(({ decided, delivered }) => decided > 0n || delivered > 0n);
}

/** Reports of one kind: those that count, and those above the bound (docs/counting.md#what-players-report). */
export interface ClientEventCounts {
  readonly event: string;
  readonly count: bigint;
  readonly excess: bigint;
}

/** Reports of players in the range, by kind. */
export async function countClientEvents(
  pool: Pool,
  scope: AdScope,
  range: HourRange,
  knownAt?: Date,
): Promise<ClientEventCounts[]> {
  const { rows } = await pool.query<Columns<'client_event_hour', 'event'> & { count: string; excess: string }>(
    knownAt === undefined
      ? `select event, sum(events) as count, sum(excess) as excess from client_event_hour ${where(scope.kind)}
         group by 1 order by 1`
      : `select event, count(*) filter (where judgement = 'eligible') as count,
           count(*) filter (where judgement = 'excess') as excess
         from client_event
         where workspace_id = $1 and ${scopeColumns[scope.kind]} = $2 and at >= $3 and at < $4 and counted_at <= $5
         group by 1 order by 1`,
    parameters(scope, range, knownAt),
  );
  return rows.map((row) => ({ event: row.event, count: BigInt(row.count), excess: BigInt(row.excess) }));
}

/** Ads of a podcast in every bucket that overlaps the range, UTC, zero-filled, oldest first. Throws `validation_failed` for too many. */
export async function countAdSeries(
  pool: Pool,
  { workspaceId, podcastId }: { readonly workspaceId: string; readonly podcastId: string },
  range: HourRange,
  unit: BucketUnit,
): Promise<(AdCounts & { readonly startMs: bigint })[]> {
  const starts = seriesBuckets(range, unit);
  const { rows } = await pool.query<StageRow & { start: Date }>(
    `select date_trunc($5, hour, 'UTC') as start, ${sums} from ad_hour ${where('podcastId')} group by 1`,
    [workspaceId, podcastId, range.from, range.to, unit],
  );
  const byStart = new Map(rows.map((row) => [row.start.getTime(), stageCounts(row)]));
  const none: AdCounts = { decided: 0n, served: 0n, delivered: 0n, confirmed: 0n, billable: 0n };
  return starts.map((startMs) => ({ startMs: BigInt(startMs), ...(byStart.get(startMs) ?? none) }));
}
