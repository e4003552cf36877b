import { createHash } from 'node:crypto';
import { Problem } from '@longwave/problems';
import { siteStyle } from '@longwave/site';
import { publicCacheControl } from '../http/cache-control.ts';
import { episodeIdShape, parameter, subdomainShape } from '../http/parameter.ts';
import type { Exchange, Route } from '../http/route.ts';
import { sendText } from '../http/send-text.ts';
import type { FindSitePage, SitePageName } from './find-site-page.ts';
import { comeAgain } from './shared-work.ts';

const pageShape = /^[1-9]\d{0,5}$/;

const styleDigest = createHash('sha256').update(siteStyle).digest('base64');

export interface SiteRoutesOptions {
  readonly findPage: FindSitePage;
  /** The console, which shows a page in a frame. */
  readonly baseUrl: string;
}

function pageOf({ query }: Exchange): number {
  const { page = '1' } = query;
  if (typeof page !== 'string' || !pageShape.test(page)) throw new Problem('not_found');
  return Number(page);
}

/** Aborts when the response is over, also because the client went away. */
function leavingOf({ response }: Exchange): AbortSignal {
  const leaving = new AbortController();
  response.once('close', () => leaving.abort(comeAgain()));
  return leaving.signal;
}

/**
 * Pages of published podcasts and of the episodes that their feeds show: 404 for what is not public, 301 for a podcast that has moved. Nothing in
 * them runs, sends or loads anything of another host, and only the console frames them.
 */
export function siteRoutes({ findPage, baseUrl }: SiteRoutesOptions): readonly Route[] {
  const policy = [
    `default-src 'none'; base-uri 'none'; form-action 'none'; style-src 'sha256-${styleDigest}'`,
    `img-src 'self' data:; media-src 'self'; frame-ancestors ${new URL(baseUrl).origin}`,
  ].join('; ');
  const pageHeaders = {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': policy,
    'referrer-policy': 'no-referrer',
  };
  const mapHeaders = { 'content-type': 'application/xml; charset=utf-8' };

  async function send(exchange: Exchange, name: SitePageName): Promise<void> {
    const found = await findPage(parameter(exchange, 'subdomain', subdomainShape), name, leavingOf(exchange));
    if (found.kind === 'moved') {
      const headers = { location: found.url, 'cache-control': 'public, max-age=3600', 'content-length': '0' };
      return void exchange.response.writeHead(301, headers).end();
    }
    await sendText(exchange, found.text, {
      ...(name.kind === 'sitemap' ? mapHeaders : pageHeaders),
      'cache-control': publicCacheControl,
      'x-content-type-options': 'nosniff',
    });
  }

  return [
    {
      name: 'site.read',
      path: '/site/:subdomain',
      get: (exchange) => send(exchange, { kind: 'show', page: pageOf(exchange) }),
    },
    {
      name: 'sitemap.read',
      path: '/site/:subdomain/sitemap.xml',
      get: (exchange) => send(exchange, { kind: 'sitemap' }),
    },
    {
      name: 'site_episode.read',
      path: '/site/:subdomain/:episode',
      get: (exchange) => send(exchange, { kind: 'episode', episodeId: parameter(exchange, 'episode', episodeIdShape) }),
    },
  ];
}
