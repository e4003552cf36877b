import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { RequestHandler } from 'express';
import { matchesNone } from '../http/etag.ts';

/** Serves one text that never changes while the process runs: rendered, compressed and tagged once. */
export function serveText(
  text: string,
  contentType: string,
  headers: Readonly<Record<string, string>> = {},
): RequestHandler {
  const plain = Buffer.from(text);
  const packed = gzipSync(plain, { level: 9 });
  const digest = createHash('sha256').update(plain).digest('hex').slice(0, 32);
  return (request, response) => {
    const isPacked = Boolean(request.acceptsEncodings('gzip'));
    // Each form has bytes of its own, so each has a tag of its own (RFC 9110 §8.8.3.3).
    const etag = isPacked ? `"${digest}-gzip"` : `"${digest}"`;
    response.set({ ...headers, 'Cache-Control': 'no-cache', Vary: 'Accept-Encoding', ETag: etag });
    if (matchesNone(request.get('if-none-match'), etag)) return void response.status(304).end();
    const body = isPacked ? packed : plain;
    response.set({ 'Content-Type': contentType, 'Content-Length': String(body.length) });
    if (isPacked) response.set('Content-Encoding', 'gzip');
    response.end(request.method === 'HEAD' ? undefined : body);
  };
}
