import {
  dateOf,
  isAddressInfeasible,
  judgeFact,
  judgeUserAgent,
  keyDay,
  recount,
  velocityLimits,
  type AddressedRequest,
  type HeldReason,
  type UserAgentRules,
} from '@longwave/audience';
import type { ByteRangeServed, UserAgentSeen } from '@longwave/events';
import { addAds, addTo, downloadCounter, lineItemKey, type Tally } from './tally.ts';

/** Half-open; undefined: no bound. */
export interface CountRange {
  readonly fromMs: number | undefined;
  readonly toMs: number | undefined;
}

const isWithin = ({ fromMs, toMs }: CountRange, atMs: number) =>
  atMs >= (fromMs ?? -Infinity) && atMs < (toMs ?? Infinity);

/** All that some listeners did, and the user agents that they named. */
export interface ListenerGroup {
  readonly facts: readonly ByteRangeServed[];
  readonly seen: readonly UserAgentSeen[];
}

/** An address has listeners in many groups, so its limit is not for `recount` of one group to judge. */
const limits = { ...velocityLimits, addressDownloads: Infinity };

const recountGroup = ({ facts, seen }: ListenerGroup, rules: UserAgentRules) =>
  recount([...seen, ...facts], rules, { limits, released: new Set() });

const addressDay = (first: AddressedRequest) => keyDay('address', first.addressKey, dateOf(first.startedAtMs));

/**
 * Adds up the downloads of addresses and days, as far as they are asked for.
 * @param isAsked whether a download of this key and day (`keyDay`) is added
 */
export function addAddressDays(
  group: ListenerGroup,
  rules: UserAgentRules,
  isAsked: (addressDay: string) => boolean,
  downloads: Map<string, number>,
): void {
  for (const { session } of recountGroup(group, rules).sessions) {
    const day = addressDay(session.first);
    if (session.download !== undefined && !session.first.addressSafe && isAsked(day)) addTo(downloads, day, 1);
  }
}

/** The days of addresses that rule 16 holds. */
export function infeasibleDays(downloads: ReadonlyMap<string, number>): ReadonlySet<string> {
  return new Set([...downloads].filter(([, count]) => isAddressInfeasible(count, velocityLimits)).map(([day]) => day));
}

/**
 * Adds everything that a group of listeners did in a range.
 * @param heldDays of addresses, by `keyDay`
 */
export function countGroup(
  group: ListenerGroup,
  rules: UserAgentRules,
  range: CountRange,
  heldDays: ReadonlySet<string>,
  tally: Tally,
): void {
  const verdicts = new Map(group.seen.map((one) => [one.user_agent_digest, judgeUserAgent(rules, one.user_agent)]));
  for (const fact of group.facts)
    if (isWithin(range, Date.parse(fact.started_at)))
      addTo(tally.facts, judgeFact(fact, verdicts.get(fact.user_agent_digest ?? '')) ?? 'waiting', 1);
  const addDownload = downloadCounter(tally);
  const heldBy = (held: HeldReason | undefined, first: AddressedRequest): HeldReason | undefined =>
    held ?? (!first.addressSafe && heldDays.has(addressDay(first)) ? 'velocity_address' : undefined);
  const { sessions, touches } = recountGroup(group, rules);
  for (const { session, held, ...place } of sessions) {
    const { first, windowOn, download } = session;
    if (download === undefined || !isWithin(range, first.startedAtMs)) continue;
    const reason = heldBy(held, first);
    if (reason !== undefined) {
      addTo(tally.held, reason, 1);
      continue;
    }
    addDownload('calendar_utc', { ...place, day: windowOn }, first.listenerKey);
    for (const ad of download.ads)
      addAds(tally, lineItemKey(place.workspaceId, ad.lineItemId), { delivered: 1, billable: ad.billable ? 1 : 0 });
  }
  for (const { touch, held, ...place } of touches) {
    const { first, firstTouch, lastTouch } = touch;
    if (!isWithin(range, first.startedAtMs) || heldBy(held, first) !== undefined) continue;
    const at = { ...place, day: dateOf(first.startedAtMs) };
    if (firstTouch) addDownload('first_touch_24h', at, first.listenerKey);
    if (lastTouch) addDownload('last_touch_24h', at, first.listenerKey);
  }
}
