import { Agent, request as send, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { pipeline } from 'node:stream';
import { serveFrontPage, type FrontPage } from '@longwave/api-docs';
import { clientAddress, createAddressSet, type AddressSet } from '@longwave/audience';
import { renderProblem } from '@longwave/http-kit';
import { newId } from '@longwave/ids';
import { Problem } from '@longwave/problems';
import { namesOf, type Manifest } from '@longwave/services';
import express from 'express';
import type { Upstream } from './upstreams.ts';

/** Everything under a path is served by one service. */
export interface EdgeRoute {
  /** Without a slash at the end. */
  readonly prefix: string;
  /** Its processes, which take turns. */
  readonly upstreams: readonly Upstream[];
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

/** Whether a request may be sent again after its connection broke (RFC 9110 §9.2.2): it is a read, and nothing of it is used up. */
const isRepeatable = (request: IncomingMessage) =>
  isRead(request) && !('content-length' in request.headers) && !('transfer-encoding' in request.headers);

/** Answers the upstreams in the order to try them: each time another one first, and those that take no requests last. */
function takeTurns(upstreams: readonly Upstream[]): () => readonly Upstream[] {
  let turn = 0;
  return () => {
    turn = (turn + 1) % upstreams.length;
    const inTurn = [...upstreams.slice(turn), ...upstreams.slice(0, turn)];
    return [...inTurn.filter((each) => each.takesRequests()), ...inTurn.filter((each) => !each.takesRequests())];
  };
}

/**
 * A proxy by path: bodies stream through in both directions, status and headers stay as they are. When one side closes, the other is
 * closed. An unreachable service is `bad_gateway`, a path of no service `not_found`. Forwarding headers of the client are dropped;
 * `X-Forwarded-For` names its address. The first route that fits decides; '' fits every path.
 *
 * Of several processes each takes its turn. A request that could not connect goes to the next one; so does, once, a read that was not
 * answered because its connection broke.
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
  const table = routes.map(({ prefix, upstreams }) => ({ prefix, inTurn: takeTurns(upstreams) }));

  /** @param isRepeated whether a process had the request already and broke the connection: one that ends processes is not given to all of them */
  function forward(
    request: IncomingMessage,
    response: ServerResponse,
    [upstream, ...others]: readonly Upstream[],
    isRepeated = false,
  ) {
    if (!upstream) return refuse(response, new Problem('bad_gateway', undefined, { retryAfterSeconds: 1 }));
    const onward = send({
      host: '127.0.0.1',
      port: upstream.port,
      method: request.method,
      path: request.url,
      headers: requestHeaders(request, trustedProxies),
      setHost: false,
      // A request that may be sent only once takes no connection that a process may be closing, where another process can have it.
      agent: others.length === 0 || isRepeatable(request) ? agent : false,
    });
    let isAnswered = false;
    let isConnected = false;
    const begin = () => {
      isConnected = true;
      request.pipe(onward);
      // After an early answer the client may still send: the rest is discarded, so that it can read the answer.
      onward.once('close', () => request.resume());
    };
    onward.once('socket', (socket) => {
      if (socket.connecting) socket.once('connect', begin);
      else begin();
    });
    onward.once('response', (answer) => {
      isAnswered = true;
      response.writeHead(answer.statusCode ?? 502, answer.statusMessage, passedOn(answer));
      pipeline(answer, response, () => undefined);
    });
    onward.once('error', (cause) => {
      if (isAnswered) return;
      const mayAskAgain = !isConnected || (isRepeatable(request) && !isRepeated);
      if (others.length > 0 && !response.destroyed && mayAskAgain)
        forward(request, response, others, isRepeated || isConnected);
      else refuse(response, new Problem('bad_gateway', undefined, { cause, retryAfterSeconds: 1 }));
    });
    request.once('error', () => onward.destroy());
    response.once('close', () => onward.destroy());
  }

  return (request, response) => {
    if (listedIn(request.headers).some(isFraming))
      return refuse(response, new Problem('malformed_request', 'The header Connection lists a header of the message.'));
    const path = (request.url ?? '/').split('?')[0]!;
    const route = table.find(({ prefix }) => path === prefix || path.startsWith(`${prefix}/`));
    if (!route && front && path === '/' && isRead(request)) return front(request, response);
    if (!route) return refuse(response, new Problem('not_found', 'There is no such API.'));
    forward(request, response, route.inTurn());
  };
}
