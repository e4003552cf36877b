import {
  dateOf,
  isAddressInfeasible,
  classifyFact,
  classifyUserAgent,
  keyDay,
  recount,
  requestedIntervals,
  servedBytesOf,
  velocityLimits,
  wholeTracks,
  type AddressedRequest,
  type HeldReason,
  type UserAgentRules,
} from '@longwave/audience';
import type { ByteRangeServed, MediaRangeServed, TrackDescribed, UserAgentSeen } from '@longwave/events';
import type { Bills } from './count-bills.ts';
import type { VelocityDayEntry } from './fact-file.ts';
import { addAds, addTo, downloadCounter, lineItemKey, type CountRange, type Tally } from './tally.ts';

const isWithin = ({ fromMs, toMs }: CountRange, atMs: number) =>
  atMs >= (fromMs ?? -Infinity) && atMs < (toMs ?? Infinity);

/** A fact about written bytes. */
export type ServedFact = ByteRangeServed | MediaRangeServed;

/** The facts of some listeners, their user agents and their tracks. */
export interface ListenerGroup {
  readonly facts: readonly ServedFact[];
  readonly seen: readonly UserAgentSeen[];
  readonly described: readonly TrackDescribed[];
}

/** Days (by `keyDay`) whose holds the facts of a group do not show. */
export interface KnownDays {
  /** A person has released them. */
  readonly released: ReadonlySet<string>;
  /** The service holds them for downloads that the files do not have. */
  readonly held: ReadonlySet<string>;
}

/** The days of the files. A day that one file has as released is released. */
export function knownDays(entries: readonly VelocityDayEntry[]): KnownDays {
  const names = (held: boolean) =>
    new Set(entries.filter((one) => one.held === held).map((one) => keyDay(one.of, one.key, one.day)));
  const released = names(false);
  return { released, held: names(true).difference(released) };
}

/** An address has listeners in many groups, so `recount` of one group cannot apply its limit. */
const limits = { ...velocityLimits, addressDownloads: Infinity };

const recountGroup = (
  { facts, seen, described }: ListenerGroup,
  rules: UserAgentRules,
  released: ReadonlySet<string>,
) => recount([...seen, ...described, ...facts], rules, { limits, released });

const listenerDay = (first: AddressedRequest) => keyDay('listener', first.listenerKey, dateOf(first.startedAtMs));
const addressDay = (first: AddressedRequest) => keyDay('address', first.addressKey, dateOf(first.startedAtMs));

/**
 * Adds up the downloads of addresses and days.
 * @param isCounted whether a download of this key and day (`keyDay`) is added
 */
export function addAddressDays(
  group: ListenerGroup,
  rules: UserAgentRules,
  isCounted: (addressDay: string) => boolean,
  downloads: Map<string, number>,
): void {
  for (const { session } of recountGroup(group, rules, new Set()).sessions) {
    const day = addressDay(session.first);
    if (session.download !== undefined && !session.first.addressSafe && isCounted(day)) addTo(downloads, day, 1);
  }
}

/** The days of addresses that rule 16 holds. */
export function infeasibleDays(downloads: ReadonlyMap<string, number>): ReadonlySet<string> {
  return new Set([...downloads].filter(([, count]) => isAddressInfeasible(count, velocityLimits)).map(([day]) => day));
}

/**
 * Counts a group of listeners in a range. Billable deliveries go to `bills`, also those outside the range.
 * @param days with the infeasible days of addresses among the held ones
 */
export function countGroup(
  group: ListenerGroup,
  rules: UserAgentRules,
  range: CountRange,
  days: KnownDays,
  tally: Tally,
  bills: Bills,
): void {
  const verdicts = new Map(group.seen.map((one) => [one.user_agent_digest, classifyUserAgent(rules, one.user_agent)]));
  const tracks = wholeTracks(group.described);
  const served = group.facts.map(servedBytesOf);
  const requestedOf = requestedIntervals(served);
  for (const fact of served)
    if (isWithin(range, Date.parse(fact.started_at))) {
      const verdict = verdicts.get(fact.user_agent_digest ?? '');
      const judgement = classifyFact(fact, verdict, requestedOf(fact), tracks.has(fact.track ?? ''));
      addTo(tally.facts, judgement ?? 'waiting', 1);
    }
  const addDownload = downloadCounter(tally);
  const holdReasonOf = (held: HeldReason | undefined, first: AddressedRequest): HeldReason | undefined => {
    if (held !== undefined || days.held.has(listenerDay(first))) return held ?? 'velocity_listener';
    return !first.addressSafe && days.held.has(addressDay(first)) ? 'velocity_address' : undefined;
  };
  const { sessions, rollingDownloads } = recountGroup(group, rules, days.released);
  for (const { session, held, ...place } of sessions) {
    const { first, windowOn, download } = session;
    if (download === undefined) continue;
    const reason = holdReasonOf(held, first);
    const isInRange = isWithin(range, first.startedAtMs);
    if (reason !== undefined) {
      if (isInRange) addTo(tally.held, reason, 1);
      continue;
    }
    if (isInRange) addDownload('calendar_utc', { ...place, day: windowOn }, first.listenerKey);
    for (const ad of download.ads) {
      const lineItem = lineItemKey(place.workspaceId, ad.lineItemId);
      if (isInRange) addAds(tally, lineItem, { delivered: 1, billable: 0 });
      if (ad.billable) bills.add(ad.servingId, first.startedAtMs, lineItem);
    }
  }
  for (const { rollingDownload, held, ...place } of rollingDownloads) {
    const { first, firstTouch, lastTouch } = rollingDownload;
    if (!isWithin(range, first.startedAtMs) || holdReasonOf(held, first) !== undefined) continue;
    const at = { ...place, day: dateOf(first.startedAtMs) };
    if (firstTouch) addDownload('first_touch_24h', at, first.listenerKey);
    if (lastTouch) addDownload('last_touch_24h', at, first.listenerKey);
  }
}
