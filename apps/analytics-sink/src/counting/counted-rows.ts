import {
  dateOf,
  methodologyVersion,
  type HeldReason,
  type Session,
  type RollingDownload,
  type UserAgentDescription,
} from '@longwave/audience';
import type { JsonRows } from '@longwave/audience-store';
import type { StoredRequest } from './request-table.ts';

/** Where and with what something was downloaded. */
export type Dimensions = Pick<RollingRow, 'country' | 'region' | 'app' | 'device' | 'platform' | 'operating_system'>;

type Place = Pick<RollingRow, 'listener_key' | 'episode_id' | 'started_at' | 'workspace_id' | 'podcast_id'>;
type Address = Pick<RollingRow, 'address_key' | 'address_safe'>;

/** A session as stored; column names, so that rows go in and out unchanged. Times are RFC 3339. Counted: qualified and not held. */
export type SessionRow = Readonly<JsonRows['session']> & { readonly held: HeldReason | null };

/** A download of the rolling windows as stored. */
export type RollingRow = Readonly<JsonRows['rolling_download']>;

/** An ad delivered within a qualified session as stored. */
export type AdRow = Readonly<JsonRows['ad_delivered']>;

/** What a set of chains counts, in stored form. */
export interface Counts {
  readonly sessions: readonly SessionRow[];
  readonly rolling: readonly RollingRow[];
  readonly ads: readonly AdRow[];
}

export const sessionKey = (row: Pick<SessionRow, 'listener_key' | 'episode_id' | 'window_on'>) =>
  `${row.listener_key} ${row.episode_id} ${row.window_on}`;
export const rollingKey = (row: RollingRow) => `${row.listener_key} ${row.episode_id} ${row.started_at}`;
export const adKey = (row: AdRow) =>
  JSON.stringify([row.listener_key, row.episode_id, row.window_on, row.break_key, row.slot, row.creative_id]);

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
/** In a browser the page names the app, where the list of referrers knows it. */
const dimensionsOf = ({ country, region, webPlayer }: StoredRequest, agent: UserAgentDescription): Dimensions => ({
  country,
  region,
  app: (agent.isBrowser ? webPlayer : undefined) ?? agent.app,
  device: agent.device,
  platform: agent.platform,
  operating_system: agent.operatingSystem,
});

/** The rows of a session, as if nothing were held. */
export function sessionRows(
  { first, windowOn, download }: Session<StoredRequest>,
  agent: UserAgentDescription,
): { readonly session: SessionRow; readonly ads: readonly AdRow[] } {
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
  const ads = (download?.ads ?? []).map((ad) => ({
    ...place,
    ...dimensions,
    break_key: ad.breakKey,
    slot: ad.slot,
    creative_id: ad.creativeId,
    campaign_id: ad.campaignId,
    line_item_id: ad.lineItemId,
    serving_id: ad.servingId,
    billable: ad.billable,
    counted: true,
  }));
  return { session, ads };
}

/** The row of a rolling download, as if nothing were held: what last_touch_24h counts, first_touch_24h does too. */
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

/** Why velocity holds what a listener downloaded on a UTC day, if it does. */
export type HoldReasonOf = (
  one: Pick<SessionRow, 'listener_key' | 'address_key' | 'address_safe'> & { readonly day: string },
) => HeldReason | undefined;

/** The same rows with what is held not counted. */
export function withHolds({ sessions, rolling, ads }: Counts, holdReasonOf: HoldReasonOf): Counts {
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
  };
}

/** Rows of `after` that are new or differ, and rows of `before` that must go. Rows are alike when all their columns are. */
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

/** What turns the numbers of `before` into those of `after`: for each place, what it gains; places that gain nothing are absent. */
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
