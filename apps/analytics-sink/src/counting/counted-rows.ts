import {
  dateOf,
  methodologyVersion,
  type DeliveredAd,
  type HeldReason,
  type Session,
  type RollingDownload,
  type UserAgentDescription,
} from '@longwave/audience';
import type { JsonRows } from '@longwave/audience-store';
import type { StoredRequest } from './request-table.ts';

/** The dimensions of a download. */
export type Dimensions = Pick<RollingRow, 'country' | 'region' | 'app' | 'device' | 'platform' | 'operating_system'>;

type Place = Pick<RollingRow, 'listener_key' | 'episode_id' | 'started_at' | 'workspace_id' | 'podcast_id'>;
type Address = Pick<RollingRow, 'address_key' | 'address_safe'>;

/** A row of `session`. Times are RFC 3339. Counted: qualified and not held. */
export type SessionRow = Readonly<JsonRows['session']> & { readonly held: HeldReason | null };

/** A row of `rolling_download`. */
export type RollingRow = Readonly<JsonRows['rolling_download']>;

/** A row of `ad_delivered`: an ad delivered within a qualified session. */
export type AdRow = Readonly<JsonRows['ad_delivered']>;

/** A row of `ad_written`: an ad that was wholly written within a session, and that the session does not deliver. */
export type WrittenRow = Readonly<JsonRows['ad_written']>;

/** The counts of some listener-episode chains, as rows. */
export interface Counts {
  readonly sessions: readonly SessionRow[];
  readonly rolling: readonly RollingRow[];
  readonly ads: readonly AdRow[];
  readonly written: readonly WrittenRow[];
}

export const sessionKey = (row: Pick<SessionRow, 'listener_key' | 'episode_id' | 'window_on'>) =>
  `${row.listener_key} ${row.episode_id} ${row.window_on}`;
export const rollingKey = (row: RollingRow) => `${row.listener_key} ${row.episode_id} ${row.started_at}`;
export const adKey = (row: AdRow) =>
  JSON.stringify([row.listener_key, row.episode_id, row.window_on, row.break_key, row.slot, row.creative_id]);
export const writtenKey = (row: WrittenRow) => `${sessionKey(row)} ${row.serving_id}`;

const placeOf = (first: StoredRequest): Place => ({
  listener_key: first.listenerKey,
  episode_id: first.episodeId,
  started_at: new Date(first.startedAtMs).toISOString(),
  workspace_id: first.workspaceId,
  podcast_id: first.podcastId,
});
const addressOf = ({ addressKey, addressSafe }: StoredRequest): Address => ({
  address_key: addressKey,
  address_safe: addressSafe,
});
/** In a browser the web player is the app, when the list of referrers knows the page. */
const dimensionsOf = ({ country, region, webPlayer }: StoredRequest, agent: UserAgentDescription): Dimensions => ({
  country,
  region,
  app: (agent.isBrowser ? webPlayer : undefined) ?? agent.app,
  device: agent.device,
  platform: agent.platform,
  operating_system: agent.operatingSystem,
});

/** The rows of a session, as if rule 16 held nothing. */
export function sessionRows(
  { first, windowOn, download, served }: Session<StoredRequest>,
  agent: UserAgentDescription,
): Pick<Counts, 'ads' | 'written'> & { readonly session: SessionRow } {
  const place = { ...placeOf(first), window_on: windowOn };
  const dimensions = dimensionsOf(first, agent);
  const session = {
    ...place,
    ...addressOf(first),
    ...dimensions,
    qualified: download !== undefined,
    held: null,
    counted: download !== undefined,
    arrangement_id: download?.arrangementId ?? null,
    credited_ms: download?.creditedMs ?? 0,
    content_ms: download?.contentMs ?? 0,
    duplicate_arrangements: download?.duplicateArrangements.length ?? 0,
    user_agent_digest: first.userAgentDigest,
    methodology_version: methodologyVersion,
  };
  const rowOf = (ad: DeliveredAd): WrittenRow => ({
    ...place,
    ...dimensions,
    break_key: ad.breakKey,
    slot: ad.slot,
    creative_id: ad.creativeId,
    campaign_id: ad.campaignId,
    line_item_id: ad.lineItemId,
    serving_id: ad.servingId,
  });
  const ads = (download?.ads ?? []).map((ad) => ({ ...rowOf(ad), billable: ad.billable, counted: true }));
  const delivered = new Set(ads.map((row) => row.serving_id));
  const written = served.filter((ad) => !delivered.has(ad.servingId)).map(rowOf);
  return { session, ads, written };
}

/** The row of a rolling download, as if rule 16 held nothing. A download of last_touch_24h is also one of first_touch_24h. */
export function rollingRow(
  { first, lastTouch }: RollingDownload<StoredRequest>,
  agent: UserAgentDescription,
): RollingRow {
  return {
    ...placeOf(first),
    ...addressOf(first),
    ...dimensionsOf(first, agent),
    last_touch: lastTouch,
    counted: true,
  };
}

/** Why rule 16 holds a listener's downloads of a UTC day; undefined when it does not. */
export type HoldReasonOf = (
  one: Pick<SessionRow, 'listener_key' | 'address_key' | 'address_safe'> & { readonly day: string },
) => HeldReason | undefined;

/** The same rows; held ones are not counted. */
export function withHolds({ sessions, rolling, ads, written }: Counts, holdReasonOf: HoldReasonOf): Counts {
  const rows = sessions.map((row) => {
    const held = row.qualified ? (holdReasonOf({ ...row, day: row.window_on }) ?? null) : null;
    return { ...row, held, counted: row.qualified && held === null };
  });
  const counted = new Map(rows.map((row) => [sessionKey(row), row.counted]));
  return {
    sessions: rows,
    rolling: rolling.map((row) => ({
      ...row,
      counted: holdReasonOf({ ...row, day: dateOf(Date.parse(row.started_at)) }) === undefined,
    })),
    ads: ads.map((row) => ({ ...row, counted: counted.get(sessionKey(row)) === true })),
    written,
  };
}

/** Rows of `after` to save, because they are new or a column differs, and rows of `before` to delete. */
export function diffRows<R extends object>(before: readonly R[], after: readonly R[], key: (row: R) => string) {
  const columns = (row: R) => JSON.stringify(Object.entries(row).sort(([a], [b]) => (a < b ? -1 : 1)));
  const old = new Map(before.map((row) => [key(row), row]));
  const kept = new Set(after.map(key));
  const saved = after.filter((row) => {
    const known = old.get(key(row));
    return known === undefined || columns(known) !== columns(row);
  });
  return { saved, gone: before.filter((row) => !kept.has(key(row))) };
}

/** The difference of the sums of `after` and `before` by place; places without a difference are absent. */
export function ledgerDelta<R, P extends object, N extends string>(
  before: readonly R[],
  after: readonly R[],
  entryOf: (row: R) => readonly [place: P, numbers: Readonly<Record<N, number>>],
): (P & Record<N, number>)[] {
  const deltas = new Map<string, { readonly place: P; readonly numbers: Record<N, number> }>();
  const add = (rows: readonly R[], sign: 1 | -1) => {
    for (const row of rows) {
      const [place, numbers] = entryOf(row);
      const name = JSON.stringify(place);
      const known = deltas.get(name);
      if (known === undefined) {
        const signed = Object.fromEntries(Object.entries<number>(numbers).map(([of, number]) => [of, sign * number]));
        deltas.set(name, { place, numbers: signed as Record<N, number> });
      } else for (const of of Object.keys(numbers) as N[]) known.numbers[of] += sign * numbers[of];
    }
  };
  add(before, -1);
  add(after, 1);
  return [...deltas.values()]
    .filter(({ numbers }) => Object.values<number>(numbers).some((number) => number !== 0))
    .map(({ place, numbers }) => ({ ...place, ...numbers }));
}
