import { Problem } from '@longwave/problems';
import type { FindFeed } from '../feed/find-feed.ts';
import { acceptsGzip, noneMatchHolds, notModifiedSince } from './conditional.ts';
import type { Route } from './route.ts';

const filePattern = /^([a-z0-9][a-z0-9-]{0,62})\.xml$/;

/** RSS of published podcasts, with conditional requests and a strong tag per encoding. */
export function feedRoutes(findFeed: FindFeed): readonly Route[] {
  return [
    {
      name: 'feed.read',
      path: '/feeds/:file',
      serve: async ({ request, response }) => {
        const subdomain = filePattern.exec(String(request.params['file']))?.[1];
        const feed = subdomain === undefined ? undefined : await findFeed(subdomain);
        if (!feed) throw new Problem('not_found');
        const zipped = acceptsGzip(request.headers['accept-encoding']);
        const etag = `"${feed.digest}${zipped ? '-gzip' : ''}"`;
        const headers = {
          etag,
          'last-modified': feed.changedAt.toUTCString(),
          'cache-control': 'public, max-age=60, stale-while-revalidate=300',
          vary: 'Accept-Encoding',
        };
        const { 'if-none-match': noneMatch, 'if-modified-since': since } = request.headers;
        // If-Modified-Since counts only without If-None-Match (RFC 9110 §13.1.3).
        if (noneMatch !== undefined ? noneMatchHolds(noneMatch, etag) : notModifiedSince(since, feed.changedAt))
          return void response.writeHead(304, headers).end();
        const body = zipped ? feed.gzipped : feed.body;
        response.writeHead(200, {
          ...headers,
          'content-type': 'application/rss+xml; charset=utf-8',
          'content-length': String(body.length),
          ...(zipped && { 'content-encoding': 'gzip' }),
        });
        response.end(request.method === 'HEAD' ? undefined : body);
      },
    },
  ];
}
