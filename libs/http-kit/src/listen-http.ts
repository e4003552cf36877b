import { createServer, STATUS_CODES, type RequestListener, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { newId } from '@longwave/ids';
import { Problem } from '@longwave/problems';
import { parseListenAddress } from '@longwave/service-kit';
import { expectProxyHeaders, type Proxies } from './expect-proxy-headers.ts';
import { problemDocument } from './render-problem.ts';

export interface HttpListener {
  readonly port: number;
  /** Refuses new connections, lets running responses finish (at most `drainMs`), then closes the rest. */
  close(drainMs?: number): Promise<void>;
}

/** The body of a refusal that never reaches the handler, as text. */
type RefusalBody = (problem: Problem) => { readonly contentType: string; readonly text: string };

const refusals: Readonly<Record<number, Problem>> = {
  400: new Problem('malformed_request', 'The request is not valid HTTP.'),
  408: new Problem('request_timeout', 'The request took too long.'),
  413: new Problem('payload_too_large', 'The body is too large.'),
  417: new Problem('expectation_failed', 'This expectation is not supported.'),
  431: new Problem('headers_too_large', 'The headers are too large.'),
};
const refusedAs: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};
/** A proxy sends its header at once; lost packets are sent again within 3 s (§2 of the PROXY protocol). */
const proxyHeaderTimeoutMs = 5_000;

/** By the shape of a service's errors: REST v1's own, or RFC 9457. */
const refusalBodies = {
  rest: ({ status: code, message }) => ({
    contentType: 'application/json',
    text: JSON.stringify({ code, message }),
  }),
  problem: (problem) => ({
    contentType: 'application/problem+json',
    text: problemDocument(problem, newId('req')),
  }),
} as const satisfies Readonly<Record<string, RefusalBody>>;

/**
 * Serves HTTP on `listen` ("host:port", port 0 for any). Rejects with a sentence when the port is taken.
 * @param options.requestTimeoutMs how long a client may take to send its request, head and body; an answer may take any time
 * @param options.refusals the shape of refusals that are made before the handler is asked: that of its own errors
 * @param options.proxyProtocol proxies, which speak the PROXY protocol and alone may connect; the sockets of requests have the address of the client
 */
export async function listenHttp(
  listen: string,
  handler: RequestListener,
  {
    requestTimeoutMs = 30_000,
    refusals: shape = 'problem',
    proxyProtocol = false,
  }: {
    readonly requestTimeoutMs?: number;
    readonly refusals?: keyof typeof refusalBodies;
    readonly proxyProtocol?: Proxies | false;
  } = {},
): Promise<HttpListener> {
  const refusal = (status: number) => {
    const { contentType, text } = refusalBodies[shape](refusals[status]!);
    return {
      text,
      headers: { 'content-type': `${contentType}; charset=utf-8`, 'content-length': Buffer.byteLength(text) },
    };
  };
  const server: Server = createServer(
    {
      keepAliveTimeout: 65_000,
      requestTimeout: requestTimeoutMs,
      headersTimeout: requestTimeoutMs,
      connectionsCheckingInterval: requestTimeoutMs / 10,
    },
    handler,
  );
  if (proxyProtocol) expectProxyHeaders(server, proxyProtocol, Math.min(requestTimeoutMs, proxyHeaderTimeoutMs));
  server.on('checkExpectation', (_request, response) => {
    const { text, headers } = refusal(417);
    response.writeHead(417, headers).end(text);
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    // Not into an answer that has begun.
    const begun = (socket as Socket & { _httpMessage?: { headersSent: boolean } })._httpMessage?.headersSent;
    if (!socket.writable || begun || error.code === 'ECONNRESET') return void socket.destroy();
    const status = refusedAs[error.code ?? ''] ?? 400;
    const { text, headers } = refusal(status);
    const lines = Object.entries({ ...headers, connection: 'close' }).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${text}`);
  });
  // Node closes only connections that rest between two requests; these two kinds would hold the server open.
  const unused = new Set<Socket>();
  let closing = false;
  server.on('connection', (socket) => {
    unused.add(socket);
    socket.once('close', () => unused.delete(socket));
  });
  server.on('request', (request, response) => {
    const { socket } = request;
    unused.delete(socket);
    // What a handler leaves of a body is discarded, so that the connection serves the next request.
    response.once('finish', () => request.resume());
    response.once('close', () => closing && socket.destroySoon());
  });
  const { host, port } = parseListenAddress(listen);
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        error.code === 'EADDRINUSE' ? new Error(`${listen} is taken by another program`, { cause: error }) : error,
      ),
    );
    server.listen(port, host, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    close: (drainMs = 10_000) =>
      new Promise((resolve) => {
        closing = true;
        const force = setTimeout(() => server.closeAllConnections(), drainMs);
        server.close(() => {
          clearTimeout(force);
          resolve();
        });
        server.closeIdleConnections();
        for (const socket of unused) socket.destroy();
      }),
  };
}
