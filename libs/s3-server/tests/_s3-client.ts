import { createHmac } from 'node:crypto';
import { sha256 } from '@longwave/test-kit';

export const access = { accessKey: 'test', secretKey: 'a-secret-for-these-tests', region: 'eu-test-1' } as const;

const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest();

export interface SignedRequest {
  readonly method?: string;
  readonly body?: string | Buffer;
  /** Sent instead of a body, without a length. */
  readonly stream?: ReadableStream;
  /** Signed with the rest. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent, but not signed. */
  readonly unsignedHeaders?: Readonly<Record<string, string>>;
  /** The hash of the body that the signature covers; default: its SHA-256. */
  readonly payload?: string;
  readonly signedAtMs?: number;
  readonly region?: string;
  readonly accessKey?: string;
  readonly secretKey?: string;
}

/** The headers of a request signed in the Authorization header, by an implementation that is not the server's. */
export function signHeaders(endpoint: string, target: string, request: SignedRequest): Record<string, string> {
  const {
    method = 'GET',
    body,
    region = access.region,
    accessKey = access.accessKey,
    secretKey = access.secretKey,
  } = request;
  const date = new Date(request.signedAtMs ?? Date.now()).toISOString().replace(/[-:]|\.\d+/g, '');
  const day = date.slice(0, 8);
  const payload = request.payload ?? sha256(body ?? '');
  const headers: Record<string, string> = {
    host: new URL(endpoint).host,
    ...request.headers,
    'x-amz-content-sha256': payload,
    'x-amz-date': date,
  };
  const names = Object.keys(headers).sort();
  const [path = '', query = ''] = target.split('?');
  const pairs = query
    .split('&')
    .filter((pair) => pair !== '')
    .map((pair) => (pair.includes('=') ? pair : `${pair}=`))
    .sort((a, b) => ((a.split('=')[0] ?? '') < (b.split('=')[0] ?? '') ? -1 : 1));
  const canonical = [
    method,
    path.replaceAll('%2F', '/'),
    pairs.join('&'),
    ...names.map((n) => `${n}:${headers[n]}`),
    '',
    names.join(';'),
    payload,
  ];
  const scope = `${day}/${region}/s3/aws4_request`;
  const key = hmac(hmac(hmac(hmac(`AWS4${secretKey}`, day), region), 's3'), 'aws4_request');
  const signature = hmac(key, ['AWS4-HMAC-SHA256', date, scope, sha256(canonical.join('\n'))].join('\n')).toString(
    'hex',
  );
  const authorization = `AWS4-HMAC-SHA256 Credential=${accessKey}/${scope}, SignedHeaders=${names.join(';')}, Signature=${signature}`;
  return { ...headers, ...request.unsignedHeaders, authorization };
}

/** Sends a signed request. `target`: encoded path and query. */
export async function signedFetch(endpoint: string, target: string, request: SignedRequest = {}): Promise<Response> {
  const { method = 'GET', body } = request;
  return fetch(endpoint + target, {
    method,
    headers: signHeaders(endpoint, target, request),
    ...(body !== undefined && { body }),
    ...(request.stream && { body: request.stream, duplex: 'half' }),
  });
}

/** The text of the first element of this name. */
export const xmlText = (document: string, name: string) =>
  new RegExp(`<${name}>(.*?)</${name}>`, 's').exec(document)?.[1];
export const xmlTexts = (document: string, name: string) =>
  [...document.matchAll(new RegExp(`<${name}>(.*?)</${name}>`, 'gs'))].map((match) => match[1]);
