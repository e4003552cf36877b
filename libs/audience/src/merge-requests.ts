import { hash } from 'node:crypto';
import { parseTimeMs } from './classify-fact.ts';
import { unionIntervals, type Interval } from './intervals.ts';
import type { ServedBytes } from './served-bytes.ts';

const minuteMs = 60_000;

const digests = new WeakMap<ServedBytes['parts'], string>();

/** SHA-256 (hex) of the parts; facts of one arrangement often share them in memory. */
function partsDigest(parts: ServedBytes['parts']): string {
  const known = digests.get(parts);
  if (known !== undefined) return known;
  const digest = hash('sha256', JSON.stringify(parts));
  digests.set(parts, digest);
  return digest;
}

/**
 * Names the request that a fact belongs to, within one listener and episode: its arrangement, the UTC minute in which it began, and its
 * parts, so that bytes are never credited to the ads of another decision. Of HLS also the track, and the play whose token it used.
 */
function requestName(fact: ServedBytes): string {
  const minute = Math.floor(parseTimeMs(fact.started_at) / minuteMs);
  const begin = `${fact.arrangement_id} ${minute} ${fact.total_bytes}`;
  if (fact.track === undefined) return `${begin} ${partsDigest(fact.parts)}`;
  const asset = fact.parts[0]?.ad === undefined ? 'content' : partsDigest(fact.parts);
  return `${begin} ${asset} ${fact.track} ${fact.play_id}${fact.play_address_key === undefined ? ' late' : ''}`;
}

const compare = <T extends string | number | boolean>(a: T, b: T) => (a < b ? -1 : a > b ? 1 : 0);

/** Order of the facts of one request. */
function byBegin(a: ServedBytes, b: ServedBytes): number {
  return (
    compare(parseTimeMs(a.started_at), parseTimeMs(b.started_at)) ||
    compare(a.address_safe === true, b.address_safe === true) ||
    compare(a.country, b.country) ||
    compare(a.region, b.region) ||
    compare(a.web_player ?? '', b.web_player ?? '')
  );
}

/** The facts of one request as one. */
export interface MergedRequest {
  readonly requestId: string;
  /**
   * The fact that began first: by start, then an address that is not safe, then country, region and web player. The request takes its
   * address, country, region and player.
   */
  readonly first: ServedBytes;
  readonly written: readonly Interval[];
}

/**
 * Merges eligible facts of one listener key and episode into requests (docs/counting.md#definitions, Request). Facts that begin within
 * one UTC minute in one arrangement are one request, from the earliest start on, however finely a player cuts its ranges: a listener has
 * at most as many requests a day as the day has minutes (ADR 18).
 */
export function mergeRequests(facts: readonly ServedBytes[]): MergedRequest[] {
  return [...Map.groupBy(facts, requestName)].map(([requestId, own]) => ({
    requestId,
    first: own.reduce((first, one) => (byBegin(one, first) < 0 ? one : first)),
    written: unionIntervals(own.flatMap((one) => one.written)),
  }));
}
