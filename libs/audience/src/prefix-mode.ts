import type { RejectionReason } from './classify-fact.ts';
import type { UserAgentVerdict } from './classify-user-agent.ts';
import type { AddressVerdict } from './network-lists.ts';

/** One request as a prefix service saw it (measurement.md D13): what was asked, never what was written. */
export interface PrefixRequest {
  readonly method: string;
  /** What the prefix service answered, mostly a redirect; undefined where its log does not say. */
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

/** `first_two`: the probe of two bytes, which is kept in prefix mode, because the request for the rest may bypass the prefix. */
export type PrefixJudgement = 'eligible' | 'first_two' | RejectionReason;

/**
 * The answers of a prefix service that send the client on, and those of one that serves the file itself. Akamai logs 000 when the client
 * leaves before the answer is complete: such a record counts when it passes every other rule (PTMG 2.3, HTTP status codes).
 */
const goodStatuses = new Set([0, 200, 206, 301, 302, 303, 307, 308]);

/**
 * How much a Range header asks for, without the length of what it asks of. Anything that is no list of byte ranges is ignored, as
 * servers do (RFC 9110 §14.2).
 */
function askedFor(range: string | undefined): 'more' | 'first_two' | 'probe' {
  const list = /^\s*bytes\s*=\s*(.+?)\s*$/i.exec(range ?? '')?.[1];
  if (list === undefined) return 'more';
  const asked = list.split(',').map((one) => /^\s*(\d*)\s*-\s*(\d*)\s*$/.exec(one));
  if (asked.some((one) => one === null || (one[1] === '' && one[2] === ''))) return 'more';
  const positions = new Set<number>();
  for (const one of asked) {
    const [first, last] = [one![1]!, one![2]!];
    if (last === '') return 'more';
    // A suffix counts from the end: at most so many bytes, somewhere else than the first two.
    const [from, to] = first === '' ? [-Number(last), -1] : [Number(first), Number(last)];
    if (to - from > 1) return 'more';
    for (let at = from; at <= to; at += 1) positions.add(at);
  }
  if (positions.size > 2) return 'more';
  return positions.size === 2 && positions.has(0) && positions.has(1) ? 'first_two' : 'probe';
}

/**
 * Classifies a request by D4 as far as a prefix service can know, first matching rule. Not known there: written bytes (rule 5), who is
 * internal (14), when the episode was published (15) and what was downloaded (16).
 */
export function classifyPrefixRequest(request: PrefixRequest, agent: UserAgentVerdict): PrefixJudgement {
  if (request.method !== 'GET') return 'method';
  if (request.status === 304) return 'not_modified';
  if (request.status !== undefined && !goodStatuses.has(request.status)) return 'status';
  const asked = askedFor(request.range);
  if (asked === 'probe') return 'probe';
  if (request.userAgent === '') return 'no_ua';
  if (agent === 'watch' || agent === 'scout') return agent;
  if (request.prefetch) return 'prefetch';
  if (agent !== 'ok') return agent;
  if (request.addressVerdict !== 'ok') return request.addressVerdict;
  if (request.preload) return 'preload_ref';
  return asked === 'first_two' ? 'first_two' : 'eligible';
}

/** What one listener asked of one episode in one window (UTC date): one of the `prefix_requests`. */
export interface PrefixMark {
  readonly startedAtMs: number;
  /** Nothing but the first two bytes was asked for. */
  readonly firstTwo: boolean;
}

/** Two marks of one listener, episode and window as one: the earlier start; a larger request supersedes the first two bytes. */
export function mergePrefixMarks(a: PrefixMark, b: PrefixMark): PrefixMark {
  return { startedAtMs: Math.min(a.startedAtMs, b.startedAtMs), firstTwo: a.firstTwo && b.firstTwo };
}
