import { createHash } from 'node:crypto';
import type { ByteRangeServed } from '@longwave/events';
import { unionIntervals, type Interval } from './intervals.ts';
import { parseTimeMs } from './classify-fact.ts';

const minuteMs = 60_000;

const digests = new WeakMap<ByteRangeServed['parts'], string>();

/** SHA-256 (hex) of the parts; facts of one arrangement often share them in memory. */
function partsDigest(parts: ByteRangeServed['parts']): string {
  const known = digests.get(parts);
  if (known !== undefined) return known;
  const digest = createHash('sha256').update(JSON.stringify(parts)).digest('hex');
  digests.set(parts, digest);
  return digest;
}

/**
 * Names the request of a listener and an episode that a fact belongs to: its arrangement, the UTC minute in which it began, and what
 * it says of the parts, so that bytes are never credited to the ads of another decision.
 */
function requestName(fact: ByteRangeServed): string {
  const minute = Math.floor(parseTimeMs(fact.started_at) / minuteMs);
  return `${fact.arrangement_id} ${minute} ${fact.total_bytes} ${partsDigest(fact.parts)}`;
}

const compare = <T extends string | number | boolean>(a: T, b: T) => (a < b ? -1 : a > b ? 1 : 0);

/** Order in which facts of one request begin. */
function byBegin(a: ByteRangeServed, b: ByteRangeServed): number {
  return (
    compare(parseTimeMs(a.started_at), parseTimeMs(b.started_at)) ||
    compare(a.address_safe === true, b.address_safe === true) ||
    compare(a.country, b.country) ||
    compare(a.region, b.region) ||
    compare(a.web_player ?? '', b.web_player ?? '')
  );
}

/** All that one listener did of one request. */
export interface MergedRequest {
  readonly requestId: string;
  /** The fact that began first: by start, then an address that is not safe, then country, region and web player. Its address, place and
   * player are the request's. */
  readonly first: ByteRangeServed;
  readonly written: readonly Interval[];
}

/**
 * Puts eligible facts of one listener's key and one episode together to requests. What begins within one UTC minute in one arrangement
 * is one request, from the earliest start on, however finely a player cuts its ranges: no window is cut within a minute, and nobody can
 * have more requests a day than it has minutes (ADR 18).
 */
export function mergeRequests(facts: readonly ByteRangeServed[]): MergedRequest[] {
  return [...Map.groupBy(facts, requestName)].map(([requestId, own]) => ({
    requestId,
    first: own.reduce((first, one) => (byBegin(one, first) < 0 ? one : first)),
    written: unionIntervals(own.flatMap((one) => one.written)),
  }));
}
