/*
 * Conditional requests (RFC 9110 §13). `fresh`, which express brings, is not used: it sends everything again to a request with
 * `Cache-Control: no-cache`, which every fetch() adds to an If-None-Match, and cuts a tag at a comma inside its quotes.
 */
import type { IncomingHttpHeaders } from 'node:http';

/** The opaque part of every entity-tag of a list header, weak marks dropped (RFC 9110 §8.8.3.2, weak comparison). */
function tagsOf(header: string): string[] {
  return [...header.matchAll(/(?:W\/)?("[^"]*")/g)].map(([, tag]) => tag!);
}

/** True when If-None-Match names this tag, or any (RFC 9110 §13.1.2). */
export function ifNoneMatchNames(header: string | undefined, etag: string): boolean {
  return header !== undefined && (header.trim() === '*' || tagsOf(header).includes(etag));
}

/** Entity-tag and date of a file (RFC 9110 §8.8). */
export interface Validators {
  /** Strong, with quotes. */
  readonly etag: string;
  /** Sent as Last-Modified; undefined where one address may have other bytes without a later date. */
  readonly modifiedAt: Date | undefined;
}

const toSeconds = (date: Date) => Math.floor(date.getTime() / 1000) * 1000;

/**
 * True when a Range may be honoured: there is no If-Range, or it is exactly this strong tag or this date (RFC 9110 §13.1.5). A file
 * with a date never changes under its address here, so the date is a strong validator.
 */
export function ifRangeHolds(header: string | undefined, { etag, modifiedAt }: Validators): boolean {
  if (header === undefined || header.trim() === etag) return true;
  return modifiedAt !== undefined && Date.parse(header) === toSeconds(modifiedAt);
}

/** True when a cache's copy is as new as `changedAt` to the second (RFC 9110 §13.1.3). */
export function notModifiedSince(header: string | undefined, changedAt: Date): boolean {
  const since = header === undefined ? NaN : Date.parse(header);
  return !Number.isNaN(since) && toSeconds(changedAt) <= since;
}

/** The strong tags of If-Match; weak ones never match (RFC 9110 §13.1.1). */
export const strongTagsOf = (header: string): string[] =>
  [...header.matchAll(/(W\/)?("[^"]*")/g)].flatMap(([, weak, tag]) => (weak ? [] : [tag!]));

/** The result of the conditions of a GET or HEAD: the file, nothing because it is known, or nothing because it is another one. */
export type Condition = 'holds' | 'not_modified' | 'failed';

/** Evaluates all conditions but If-Range, in the order of RFC 9110 §13.2.2. An invalid date is ignored. */
export function evaluateConditions(headers: IncomingHttpHeaders, { etag, modifiedAt }: Validators): Condition {
  const { 'if-match': match, 'if-unmodified-since': unmodifiedSince, 'if-none-match': noneMatch } = headers;
  if (match !== undefined) {
    if (match.trim() !== '*' && !strongTagsOf(match).includes(etag)) return 'failed';
  } else if (
    modifiedAt &&
    !Number.isNaN(Date.parse(unmodifiedSince ?? '')) &&
    !notModifiedSince(unmodifiedSince, modifiedAt)
  )
    return 'failed';
  if (noneMatch !== undefined) return ifNoneMatchNames(noneMatch, etag) ? 'not_modified' : 'holds';
  return modifiedAt && notModifiedSince(headers['if-modified-since'], modifiedAt) ? 'not_modified' : 'holds';
}
