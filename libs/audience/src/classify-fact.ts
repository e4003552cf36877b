import type { UserAgentVerdict } from './classify-user-agent.ts';
import { totalBytes, unionIntervals, type Interval } from './intervals.ts';
import type { ServedBytes } from './served-bytes.ts';

/** The codes of rules 1 to 15, in their order (docs/counting.md#rules-and-reason-codes); one rejects a record. */
export const rejectionReasons = [
  'method',
  'not_modified',
  'status',
  'probe',
  'no_bytes',
  'no_ua',
  'watch',
  'scout',
  'prefetch',
  'bot_ua',
  'malformed_ua',
  'dc_ip',
  'vpn_ip',
  'tor_ip',
  'deny_ip',
  'preload_ref',
  'internal',
  'prerelease',
] as const;

export type RejectionReason = (typeof rejectionReasons)[number];
export type Judgement = 'eligible' | RejectionReason;

/** Milliseconds since the epoch of an RFC 3339 time; throws `RangeError` for any other text. */
export function parseTimeMs(text: string): number {
  const ms = Date.parse(text);
  if (Number.isNaN(ms)) throw new RangeError('the time of a fact cannot be read');
  return ms;
}

/** At most two bytes: players ask for so many to see whether ranges work. */
export const isProbe = (requested: readonly Interval[]) => totalBytes(unionIntervals(requested)) <= 2;

/**
 * Classifies one record by rules 1 to 15 (docs/counting.md#rules-and-reason-codes): the first that matches decides. Rule 16 needs the
 * downloads of a whole day: see velocity.ts.
 * @param agent the verdict on its user agent; undefined while its text is unknown
 * @param requested the intervals of the whole request, when the record holds only a part of them
 * @param isTrackKnown whether the track of the record is described, when it is of one
 * @returns undefined when the judgement needs the user agent's text, or the record cannot be counted before its track is described
 */
export function classifyFact(
  fact: ServedBytes,
  agent: UserAgentVerdict | undefined,
  requested: readonly Interval[] = fact.requested,
  isTrackKnown = true,
): Judgement | undefined {
  if (fact.method !== 'GET') return 'method';
  if (fact.status === 304) return 'not_modified';
  if (fact.status !== 200 && fact.status !== 206) return 'status';
  if (isProbe(requested)) return 'probe';
  if (totalBytes(unionIntervals(fact.written)) === 0) return 'no_bytes';
  if (fact.user_agent_digest === null) return 'no_ua';
  if (agent === undefined) return undefined;
  if (agent === 'watch' || agent === 'scout') return agent;
  if (fact.prefetch) return 'prefetch';
  if (agent !== 'ok') return agent;
  if (fact.address_verdict !== 'ok') return fact.address_verdict;
  if (fact.preload) return 'preload_ref';
  if (fact.internal) return 'internal';
  if (parseTimeMs(fact.started_at) < parseTimeMs(fact.published_at)) return 'prerelease';
  return fact.track === undefined || isTrackKnown ? 'eligible' : undefined;
}
