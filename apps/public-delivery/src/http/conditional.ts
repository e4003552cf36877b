/** The opaque part of every entity-tag of a list header, weak marks dropped (RFC 9110 §8.8.3.2, weak comparison). */
function tagsOf(header: string): string[] {
  return [...header.matchAll(/(?:W\/)?("[^"]*")/g)].map(([, tag]) => tag!);
}

/** True when If-None-Match names this tag, or any (RFC 9110 §13.1.2). */
export function noneMatchHolds(header: string | undefined, etag: string): boolean {
  return header !== undefined && (header.trim() === '*' || tagsOf(header).includes(etag));
}

/**
 * True when a Range may be honoured: there is no If-Range, or it is exactly this strong tag (RFC 9110 §13.1.5). A date never is:
 * what we send with ranges has no Last-Modified.
 */
export function ifRangeHolds(header: string | undefined, etag: string): boolean {
  return header === undefined || header.trim() === etag;
}

/** True when a cache's copy is as new as `changedAt` to the second (RFC 9110 §13.1.3). */
export function notModifiedSince(header: string | undefined, changedAt: Date): boolean {
  const since = header === undefined ? NaN : Date.parse(header);
  return !Number.isNaN(since) && Math.floor(changedAt.getTime() / 1000) * 1000 <= since;
}

/** Codings that feeds are sent in. */
export type ContentCoding = 'br' | 'gzip' | 'identity';

/** The coding that Accept-Encoding prefers; of equals the one that is shorter on the wire (RFC 9110 §12.5.3). */
export function chooseCoding(header: string | undefined): ContentCoding {
  const weights = new Map<string, number>();
  for (const item of (header ?? '').split(',')) {
    const [coding = '', ...parameters] = item.split(';').map((text) => text.trim().toLowerCase());
    const quality = parameters.find((text) => text.startsWith('q='))?.slice(2);
    weights.set(coding, quality === undefined ? 1 : Number(quality));
  }
  const any = weights.get('*') ?? 0;
  // What is sent as it is needs no permission, so it loses against any coding that has one.
  const plain = weights.get('identity') ?? Number.MIN_VALUE;
  const [best, weight] = (['br', 'gzip'] as const)
    .map((coding) => [coding, weights.get(coding) ?? any] as const)
    .reduce((a, b) => (b[1] > a[1] ? b : a));
  return weight > 0 && weight >= plain ? best : 'identity';
}
