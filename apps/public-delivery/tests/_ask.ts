import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { XMLParser } from 'fast-xml-parser';

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** The text of a body without its request id, the only difference between equal refusals. */
export const bodyButTrace = ({ headers, body }: Answer): string =>
  body.toString('latin1').replaceAll(String(headers['x-request-id']), '…');

export type Ask = (path: string, headers?: Record<string, string>, method?: string, body?: string) => Promise<Answer>;

/** Plain requests to the app, so that nothing is added, followed or decoded. */
export const askAt =
  (port: () => number): Ask =>
  (path, headers = {}, method = 'GET', body = '') =>
    new Promise((resolve, reject) => {
      const request = httpRequest(
        { host: '127.0.0.1', port: port(), path: path.replace(/^https?:\/\/media\.test/, ''), method, headers },
        (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.once('error', reject);
          response.once('end', () =>
            resolve({ status: response.statusCode!, headers: response.headers, body: Buffer.concat(chunks) }),
          );
        },
      );
      request.once('error', reject);
      request.end(body);
    });

let address = 10;

/** Headers of a new listener. */
export const newListener = (): Record<string, string> => ({
  'user-agent': 'AppleCoreMedia/1.0.0',
  'x-forwarded-for': `198.18.${address >> 8}.${address++ & 255}`,
});

export interface Item {
  readonly title: string;
  readonly enclosure: { readonly '@_url': string; readonly '@_length': string; readonly '@_type': string };
  readonly [key: string]: unknown;
}
export interface Channel {
  readonly item?: Item[];
  readonly [key: string]: unknown;
}

const parser = new XMLParser({
  ignoreAttributes: false,
  parseTagValue: false,
  isArray: (name) => ['item', 'atom:link', 'podcast:transcript', 'podcast:image', 'podcast:trailer'].includes(name),
});

export const channelOf = (body: Buffer): Channel =>
  (parser.parse(body.toString()) as { rss: { channel: Channel } }).rss.channel;
export const itemsOf = (body: Buffer): Item[] => channelOf(body).item ?? [];
