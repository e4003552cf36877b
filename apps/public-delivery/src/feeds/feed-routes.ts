import { pipeline } from 'node:stream/promises';
import { ifNoneMatchNames, notModifiedSince } from '@longwave/http-kit';
import { Problem } from '@longwave/problems';
import { publicCacheControl } from '../http/cache-control.ts';
import { chooseCoding, type ContentCoding } from '../http/choose-coding.ts';
import type { FindFeed } from './find-feed.ts';
import { feedPath } from './to-feed.ts';
import { parameter } from '../http/parameter.ts';
import type { Exchange, Route } from '../http/route.ts';

const fileShape = /^[a-z0-9][a-z0-9-]{0,62}\.xml$/;
const pageShape = /^[1-9]\d{0,5}$/;

export interface FeedRoutesOptions {
  readonly findFeed: FindFeed;
  /** Without a slash at the end. */
  readonly mediaUrl: string;
  readonly hubUrl: string | undefined;
  readonly now: () => Date;
}

function pageOf({ query }: Exchange): number | undefined {
  const { page } = query;
  if (page === undefined) return undefined;
  if (typeof page !== 'string' || !pageShape.test(page)) throw new Problem('not_found');
  return Number(page);
}

/**
 * RSS of published podcasts: the whole feed at its plain address, as apps and directories read it, and the same in pages of 100
 * items at `?page=1…` (RFC 5005). Conditional requests are answered before anything is rendered, with a strong tag per coding;
 * a podcast that moved away answers 301, an archived one 410.
 */
export function feedRoutes({ findFeed, mediaUrl, hubUrl, now }: FeedRoutesOptions): readonly Route[] {
  async function get(exchange: Exchange): Promise<void> {
    const { request, response } = exchange;
    const subdomain = parameter(exchange, 'file', fileShape).slice(0, -'.xml'.length);
    const page = pageOf(exchange);
    const feed = await findFeed(subdomain, page);
    if (feed.kind === 'missing') throw new Problem('not_found');
    if (feed.kind === 'ended') throw new Problem('resource_gone');
    if (feed.kind === 'moved') {
      const location = new URL(feed.url).href;
      response.writeHead(301, { location, 'cache-control': 'public, max-age=3600', 'content-length': '0' });
      return void response.end();
    }

    const coding = chooseCoding(request.headers['accept-encoding']);
    const tagOf = (digest: string) => `"${digest}${coding === 'identity' ? '' : `-${coding}`}"`;
    const self = `${mediaUrl}${feedPath(subdomain)}${page === undefined ? '' : `?page=${page}`}`;
    const headersOf = ({ digest, changedAt }: { readonly digest: string; readonly changedAt: Date }) => ({
      etag: tagOf(digest),
      // Never in the future (RFC 9110 §8.8.2.1): a change that is timed a moment ahead is told as of now.
      'last-modified': new Date(Math.min(changedAt.getTime(), now().getTime())).toUTCString(),
      'cache-control': publicCacheControl,
      vary: 'Accept-Encoding',
      ...(hubUrl !== undefined && { link: `<${hubUrl}>; rel="hub", <${self}>; rel="self"` }),
    });
    const { 'if-none-match': noneMatch, 'if-modified-since': since } = request.headers;
    const { version } = feed;
    // If-Modified-Since counts only without If-None-Match (RFC 9110 §13.1.3).
    if (
      noneMatch !== undefined
        ? ifNoneMatchNames(noneMatch, tagOf(version.digest))
        : notModifiedSince(since, version.changedAt)
    )
      return void response.writeHead(304, headersOf(version)).end();

    const found = await openDocument(feed, coding, request.method === 'HEAD');
    response.writeHead(200, {
      ...headersOf(found.document),
      'content-type': 'application/rss+xml; charset=utf-8',
      'content-length': String(found.document.sizes[coding]),
      ...(coding !== 'identity' && { 'content-encoding': coding }),
    });
    if (!found.body) return void response.end();
    await pipeline(found.body, response).catch(() => response.destroy());
  }

  async function openDocument(
    feed: Extract<Awaited<ReturnType<FindFeed>>, { kind: 'shown' }>,
    coding: ContentCoding,
    headOnly: boolean,
  ) {
    // A document that was pushed out of the cache is rendered once more.
    for (const again of [false, true]) {
      const document = await feed.document(again);
      if (!document) throw new Problem('not_found');
      if (headOnly) return { document, body: undefined };
      const body = await feed.open(document, coding);
      if (body) return { document, body };
    }
    throw new Problem('temporarily_unavailable', undefined, { retryAfterSeconds: 1 });
  }

  return [{ name: 'feed.read', path: '/feeds/:file', get }];
}
