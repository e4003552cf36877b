/** Codings that feeds are sent in. */
export type ContentCoding = 'br' | 'gzip' | 'identity';

/**
 * The coding that Accept-Encoding prefers; of equals the one that is shorter on the wire (RFC 9110 §12.5.3). `negotiator`, which express
 * brings, takes the first of equals instead, or sends a feed as it is when `*` is worth more than br and gzip.
 */
export function chooseCoding(header: string | undefined): ContentCoding {
  const weights = new Map<string, number>();
  for (const item of (header ?? '').split(',')) {
    const [coding = '', ...parameters] = item.split(';').map((text) => text.trim().toLowerCase());
    const quality = parameters.find((text) => text.startsWith('q='))?.slice(2);
    weights.set(coding, quality === undefined ? 1 : Number(quality));
  }
  const any = weights.get('*') ?? 0;
  // identity is always allowed, so any coding that the header names goes before it.
  const plain = weights.get('identity') ?? Number.MIN_VALUE;
  const [best, weight] = (['br', 'gzip'] as const)
    .map((coding) => [coding, weights.get(coding) ?? any] as const)
    .reduce((a, b) => (b[1] > a[1] ? b : a));
  return weight > 0 && weight >= plain ? best : 'identity';
}
