import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { ifNoneMatchNames } from '@longwave/http-kit';
import type { RequestHandler } from 'express';

/**
 * Serves one text that never changes while the process runs: compressed and tagged at the first request, 304 to a client that has
 * it (RFC 9110 §13.1.2). `read` answers the text, or its bytes; `headers` may say how long caches keep it.
 */
export function serveText(
  read: () => string | Buffer,
  contentType: string,
  headers: Readonly<Record<string, string>> = {},
): RequestHandler {
  let prepared: { readonly plain: Buffer; readonly packed: Buffer; readonly digest: string } | undefined;
  const prepare = () => {
    const plain = Buffer.from(read());
    const digest = createHash('sha256').update(plain).digest('hex').slice(0, 32);
    return { plain, packed: gzipSync(plain, { level: 9 }), digest };
  };
  return (request, response) => {
    prepared ??= prepare();
    const { plain, packed, digest } = prepared;
    const isPacked = Boolean(request.acceptsEncodings('gzip'));
    // Each form has bytes of its own, so each has a tag of its own (RFC 9110 §8.8.3.3).
    const etag = isPacked ? `"${digest}-gzip"` : `"${digest}"`;
    response.set({ 'Cache-Control': 'no-cache', ...headers, Vary: 'Accept-Encoding', ETag: etag });
    if (ifNoneMatchNames(request.get('if-none-match'), etag)) return void response.status(304).end();
    const body = isPacked ? packed : plain;
    response.set({ 'Content-Type': contentType, 'Content-Length': String(body.length) });
    if (isPacked) response.set('Content-Encoding', 'gzip');
    response.end(request.method === 'HEAD' ? undefined : body);
  };
}
