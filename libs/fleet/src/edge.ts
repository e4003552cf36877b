import { Agent, request as send, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { pipeline } from 'node:stream';
import { serveFrontPage, type FrontPage } from '@longwave/api-docs';
import { clientAddress, createAddressSet, type AddressSet } from '@longwave/audience';
import { renderProblem } from '@longwave/http-kit';
import { newId } from '@longwave/ids';
import { Problem } from '@longwave/problems';
import { namesOf, type Manifest } from '@longwave/services';
import express from 'express';

/** Everything under a path is served by one port of this machine. */
export interface EdgeRoute {
  /** Without a slash at the end. */
  readonly prefix: string;
  readonly port: number;
}

/** The page at the root of `{api_url}`. */
export function apiFrontPage(baseUrl: string, manifest: Manifest): FrontPage {
  const apis = namesOf(manifest).flatMap((service) => manifest[service]?.apis ?? []);
  const sentence = new Intl.ListFormat('en').format(apis.map(({ name, purpose }) => `the ${name} ${purpose}`));
  return {
    about: `Podcast hosting with an audio ad server. This is the host of the ad server APIs: ${sentence}.`,
    links: [
      ...apis.flatMap(({ path, name }) => [
        {
          href: `${path}/docs`,
          name: `Documentation of the ${name}`,
          about: 'Every operation with its fields and errors, and a form to try it.',
        },
        { href: `${path}/openapi.json`, name: 'OpenAPI document', about: 'The same for programs, as JSON.' },
      ]),
      {
        href: `${baseUrl}/api-docs`,
        name: 'REST API v1',
        about: 'Podcasts, episodes, uploads, encoding and numbers of downloads are at another address.',
      },
    ],
  };
}

/** Headers of one connection (RFC 9110 §7.6.1), and `Expect`, which this end has answered already. */
const ownToConnection = ['connection', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'upgrade', 'expect'];

/** Headers that say where a message ends and for whom it is; no connection may claim them as its own (RFC 9112 §11.2). */
const isFraming = (name: string) => ['content-length', 'transfer-encoding', 'host'].includes(name);

/** The names that `Connection` lists: headers of this connection alone. */
const listedIn = ({ connection = '' }: IncomingMessage['headers']) =>
  connection.split(',').map((name) => name.trim().toLowerCase());

/** Names and values of headers in turn, unchanged, without those of the connection. */
function passedOn({ rawHeaders, headers }: IncomingMessage): string[] {
  const dropped = new Set([...ownToConnection, ...listedIn(headers)]);
  return rawHeaders.flatMap((name, index) =>
    index % 2 === 1 || dropped.has(name.toLowerCase()) ? [] : [name, rawHeaders[index + 1]!],
  );
}

/** Headers in which proxies say for whom they ask (RFC 7239 and its forerunners): anybody can write them. */
const isForwarding = (name: string) => /^(x-forwarded-.*|forwarded|x-real-ip)$/i.test(name);

/** The headers of a request for a service, which hears who the client is from this edge alone. */
function requestHeaders(request: IncomingMessage, trustedProxies: AddressSet): string[] {
  const headers = passedOn(request);
  const kept = headers.filter((_, index) => !isForwarding(headers[index - (index % 2)]!));
  const peer = request.socket.remoteAddress;
  if (!peer) return kept;
  return [...kept, 'X-Forwarded-For', clientAddress(peer, request.headers['x-forwarded-for'], trustedProxies)];
}

const isRead = ({ method }: IncomingMessage) => method === 'GET' || method === 'HEAD';

function refuse(response: ServerResponse, problem: Problem): void {
  if (response.headersSent) return void response.destroy();
  renderProblem(response, problem, newId('req'));
}

/**
 * A proxy by path: bodies stream through in both directions, status and headers stay as they are. When one side closes, the other is
 * closed. An unreachable service is `bad_gateway`, a path of no service `not_found`. Forwarding headers of the client are dropped;
 * `X-Forwarded-For` names its address. The first route that fits decides; '' fits every path.
 * @param options.frontPage the root, when no route has it
 * @param options.trustedProxies proxies in front of this one, whose X-Forwarded-For is believed
 */
export function createEdge(
  routes: readonly EdgeRoute[],
  {
    frontPage,
    trustedProxies = createAddressSet([]),
  }: { readonly frontPage?: FrontPage | undefined; readonly trustedProxies?: AddressSet } = {},
): RequestListener {
  const front = frontPage && express().disable('x-powered-by').get('/', serveFrontPage(frontPage));
  const agent = new Agent({ keepAlive: true });
  return (request, response) => {
    if (listedIn(request.headers).some(isFraming))
      return refuse(response, new Problem('malformed_request', 'The header Connection lists a header of the message.'));
    const path = (request.url ?? '/').split('?')[0]!;
    const route = routes.find(({ prefix }) => path === prefix || path.startsWith(`${prefix}/`));
    if (!route && front && path === '/' && isRead(request)) return front(request, response);
    if (!route) return refuse(response, new Problem('not_found', 'There is no such API.'));
    const onward = send({
      host: '127.0.0.1',
      port: route.port,
      method: request.method,
      path: request.url,
      headers: requestHeaders(request, trustedProxies),
      setHost: false,
      agent,
    });
    let isAnswered = false;
    onward.once('response', (answer) => {
      isAnswered = true;
      response.writeHead(answer.statusCode ?? 502, answer.statusMessage, passedOn(answer));
      pipeline(answer, response, () => undefined);
    });
    onward.once('error', (cause) => {
      if (!isAnswered) refuse(response, new Problem('bad_gateway', undefined, { cause, retryAfterSeconds: 1 }));
    });
    request.once('error', () => onward.destroy());
    response.once('close', () => onward.destroy());
    request.pipe(onward);
    // After an early answer the client may still send: the rest is discarded, so that it can read the answer.
    onward.once('close', () => request.resume());
  };
}
