import { createHash } from 'node:crypto';
import type { ByteRangeServed } from '@longwave/events';
import { parseTimeMs } from './judge-fact.ts';

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
export function requestName(fact: ByteRangeServed): string {
  const minute = Math.floor(parseTimeMs(fact.started_at) / minuteMs);
  return `${fact.arrangement_id} ${minute} ${fact.total_bytes} ${partsDigest(fact.parts)}`;
}

const compare = <T extends string | number | boolean>(a: T, b: T) => (a < b ? -1 : a > b ? 1 : 0);

/** Order in which facts of one request begin; the first one's address and place are the request's. */
export function byBegin(a: ByteRangeServed, b: ByteRangeServed): number {
  return (
    compare(parseTimeMs(a.started_at), parseTimeMs(b.started_at)) ||
    compare(a.address_safe === true, b.address_safe === true) ||
    compare(a.country, b.country) ||
    compare(a.region, b.region)
  );
}
