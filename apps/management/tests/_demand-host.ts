import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createSecureContext, getCACertificates, setDefaultCACertificates } from 'node:tls';
import { developmentCa } from '@longwave/fleet';
import { createGuardedFetch } from '@longwave/guarded-fetch';

interface ServedPage {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  /** The host stays silent. */
  readonly silent?: boolean;
}

/** Ad servers and content networks by https on this machine, and the guarded fetch that finds them. */
export async function startDemandHost(names: readonly string[]) {
  const folder = mkdtempSync(path.join(tmpdir(), 'longwave-demand-'));
  const identities = Object.entries(await developmentCa(folder, names, new Date()));
  setDefaultCACertificates([...getCACertificates('default'), readFileSync(identities[0]![1].ca, 'utf8')]);
  const contexts = new Map(
    identities.map(([name, { key, cert }]) => [
      name,
      createSecureContext({ key: readFileSync(key), cert: readFileSync(cert) }),
    ]),
  );
  rmSync(folder, { recursive: true });

  /** Answers by host name and path. */
  const pages = new Map<string, ServedPage>();
  /** Requests as “host/path?query”. */
  const requests: string[] = [];
  const answer = (page: ServedPage | undefined, response: ServerResponse): void => {
    if (page?.silent) return;
    response.writeHead(page?.status ?? (page ? 200 : 404), page?.headers).end(page?.body);
  };
  const server = createServer(
    { SNICallback: (name, done) => done(null, contexts.get(name)) },
    ({ url = '', headers: { host = '' } }, response) => {
      const [name] = host.split(':');
      requests.push(`${name}${url}`);
      answer(pages.get(`${name}${url.split('?', 1)[0]}`), response);
    },
  );
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  const origin = (name: string) => `https://${name}:${port}`;

  return {
    requests,
    origin,
    fetch: createGuardedFetch({
      allowOrigins: names.map(origin),
      resolve: async (name) => (names.includes(name) ? [{ address: '127.0.0.1', family: 4 }] : []),
    }),
    /** Serves “host/path”. */
    serve: (place: string, page: ServedPage) => void pages.set(place, page),
    /** Text with the port of this host in the addresses of its names. */
    here: (text: string) => names.reduce((all, name) => all.replaceAll(`https://${name}/`, `${origin(name)}/`), text),
    /** Forgets pages and requests. */
    clear: () => {
      pages.clear();
      requests.length = 0;
    },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

interface ServedAd {
  readonly id?: string;
  /** A registered id. */
  readonly universalAdId?: string;
  readonly media?: string;
  readonly type?: string;
  readonly trackers?: string;
  readonly more?: string;
}

/** An ad in line, whose addresses are those of ads.example and cdn.example. */
export const inlineAd = ({ id = 'tea', universalAdId, media, type = 'audio/mpeg', trackers, more }: ServedAd = {}) =>
  `<Ad id="${id}"><InLine><AdSystem>Example</AdSystem><AdTitle>Northwind Tea</AdTitle>` +
  '<Error>https://ads.example/error?code=[ERRORCODE]</Error>' +
  `${trackers ?? '<Impression>https://ads.example/impression?cb=[CACHEBUSTING]</Impression>'}${more ?? ''}` +
  '<Creatives><Creative><Linear><Duration>00:00:20</Duration><MediaFiles>' +
  `<MediaFile delivery="progressive" type="${type}" bitrate="128">${media ?? `https://cdn.example/${id}.mp3`}</MediaFile>` +
  '</MediaFiles><VideoClicks><ClickThrough>https://tea.example/</ClickThrough></VideoClicks></Linear>' +
  (universalAdId ? `<UniversalAdId idRegistry="ad-id.org">${universalAdId}</UniversalAdId>` : '') +
  '</Creative></Creatives></InLine></Ad>';

export const vast = (...ads: readonly string[]) => `<VAST version="4.2">${ads.join('')}</VAST>`;

/** A wrapper that leads to an address, with its own impression and error. */
export const wrapper = (to: string, name: string, rules = 'allowMultipleAds="true"') =>
  vast(
    `<Ad id="${name}"><Wrapper ${rules}><Error>https://ads.example/${name}/error?code=[ERRORCODE]</Error>` +
      `<Impression>https://ads.example/${name}/impression</Impression><VASTAdTagURI>${to}</VASTAdTagURI></Wrapper></Ad>`,
  );
