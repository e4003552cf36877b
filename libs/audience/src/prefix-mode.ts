import type { RejectionReason } from './classify-fact.ts';
import type { UserAgentVerdict } from './classify-user-agent.ts';
import type { AddressVerdict } from './network-lists.ts';

/** A request as a prefix service logs it: the log knows the requested bytes, never the written ones (docs/counting.md#importing-other-logs). */
export interface PrefixRequest {
  readonly method: string;
  /** The status of the answer, mostly a redirect; undefined when the log has no status. */
  readonly status: number | undefined;
  /** The Range header as sent; undefined for none. */
  readonly range: string | undefined;
  /** From `normaliseUserAgent`; '' for none. */
  readonly userAgent: string;
  /** A purpose header announced a prefetch or preview. */
  readonly prefetch: boolean;
  /** The referrer, or its absence, is on the preload list. */
  readonly preload: boolean;
  readonly addressVerdict: AddressVerdict;
}

/** `first_two`: a request for the first two bytes; it counts here, because the request for the rest may bypass the prefix. */
export type PrefixJudgement = 'eligible' | 'first_two' | RejectionReason;

/**
 * The answers of a prefix service that send the client on, and those of one that serves the file itself. Akamai logs 000 when the client
 * leaves before the answer is complete: such a record counts when it passes every other rule (PTMG 2.3, HTTP status codes).
 */
const goodStatuses = new Set([0, 200, 206, 301, 302, 303, 307, 308]);

/** How much a Range header requests of a file of unknown length. A header that is not a list of byte ranges is ignored (RFC 9110 §14.2). */
function requestedBytes(range: string | undefined): 'more' | 'first_two' | 'probe' {
  const list = /^\s*bytes\s*=\s*(.+?)\s*$/i.exec(range ?? '')?.[1];
  if (list === undefined) return 'more';
  const ranges = list.split(',').map((one) => /^\s*(\d*)\s*-\s*(\d*)\s*$/.exec(one));
  if (ranges.some((one) => one === null || (one[1] === '' && one[2] === ''))) return 'more';
  const positions = new Set<number>();
  for (const one of ranges) {
    const [first, last] = [one![1]!, one![2]!];
    if (last === '') return 'more';
    // A suffix range counts from the end, so it never names the first two bytes.
    const [from, to] = first === '' ? [-Number(last), -1] : [Number(first), Number(last)];
    if (to - from > 1) return 'more';
    for (let at = from; at <= to; at += 1) positions.add(at);
  }
  if (positions.size > 2) return 'more';
  return positions.size === 2 && positions.has(0) && positions.has(1) ? 'first_two' : 'probe';
}

/**
 * Classifies a request by the rules whose data a log of a prefix service has: the first that matches decides. It lacks the written bytes
 * (rule 5), our own addresses (14), the publication time (15) and the downloads of a day (16).
 */
export function classifyPrefixRequest(request: PrefixRequest, agent: UserAgentVerdict): PrefixJudgement {
  if (request.method !== 'GET') return 'method';
  if (request.status === 304) return 'not_modified';
  if (request.status !== undefined && !goodStatuses.has(request.status)) return 'status';
  const requested = requestedBytes(request.range);
  if (requested === 'probe') return 'probe';
  if (request.userAgent === '') return 'no_ua';
  if (agent === 'watch' || agent === 'scout') return agent;
  if (request.prefetch) return 'prefetch';
  if (agent !== 'ok') return agent;
  if (request.addressVerdict !== 'ok') return request.addressVerdict;
  if (request.preload) return 'preload_ref';
  return requested === 'first_two' ? 'first_two' : 'eligible';
}

/** The requests of one listener for one episode on one UTC date: one of the `prefix_requests`. */
export interface PrefixMark {
  readonly startedAtMs: number;
  /** They asked for the first two bytes alone. */
  readonly firstTwo: boolean;
}

/** Merges two marks of one listener, episode and date: the earlier start; a larger request supersedes the first two bytes. */
export function mergePrefixMarks(a: PrefixMark, b: PrefixMark): PrefixMark {
  return { startedAtMs: Math.min(a.startedAtMs, b.startedAtMs), firstTwo: a.firstTwo && b.firstTwo };
}
