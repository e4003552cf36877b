import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { defaultBodyLimits, limitBody, type BodyLimits } from './body-limits.ts';
import { sendDocument, sendEmpty } from './exchange.ts';
import { assertPermitted, type Action, type S3Key } from './permissions.ts';
import { parseRequestTarget } from './request-target.ts';
import { findRoute } from './routes.ts';
import { S3Error } from './s3-error.ts';
import { verifySignature } from './sigv4.ts';
import { createStorage } from './storage.ts';
import { createUploads } from './uploads.ts';
import { element } from './xml.ts';

export interface S3ServerOptions {
  /** Made when it does not exist. Belongs to one server: a second one would remove its unfinished files. */
  readonly folder: string;
  /** A function is asked at each request. */
  readonly keys: readonly S3Key[] | (() => readonly S3Key[]);
  readonly region: string;
  /** Unix time in milliseconds; default: the system's clock. */
  readonly now?: () => number;
  /** Called for every failure that a client sees as 500. */
  readonly onError?: (error: unknown) => void;
  /** Default: at least 1 KiB/s; 10 s for the rest of a body after the answer. */
  readonly bodyLimits?: BodyLimits;
}

const maxIdleMs = 5 * 60_000;
/** Longer than clients keep an idle connection, so that none is closed under a request. */
const keepAliveMs = 65_000;

/**
 * A small S3 server over one folder: path-style buckets and objects, ranges, multipart uploads, listings, presigned
 * URLs, CORS for every origin. Each request must be signed (Signature Version 4). Other operations are answered with 501.
 * The folder is prepared when the server begins to listen.
 */
export function createS3Server(options: S3ServerOptions): Server {
  const { keys, region, now = Date.now, onError = () => {}, bodyLimits = defaultBodyLimits } = options;
  const storage = createStorage({ folder: options.folder, now });
  const uploads = createUploads(storage);
  let prepared: Promise<void> | undefined;
  const prepare = () => {
    prepared ??= storage.prepare();
    prepared.catch(onError);
    return prepared;
  };

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const target = parseRequestTarget(request.url ?? '');
    const { key, payloadSha256 } = verifySignature(request, target, {
      keys: typeof keys === 'function' ? keys() : keys,
      region,
      nowMs: now(),
    });
    const route = findRoute(request.method ?? '', target);
    const assertMay = (action: Action, name: string) => assertPermitted(key, action, name);
    if (route.action)
      assertMay(route.action, route.level === 'object' ? target.key : (target.query.get('prefix') ?? ''));
    await prepare();
    await route.handle({ request, response, target, payloadSha256, assertMay, storage, uploads, region });
  }

  const server = createServer((request, response) => {
    response.setHeader('x-amz-request-id', randomUUID());
    setCorsHeaders(request, response);
    limitBody(request, response, bodyLimits);
    if (request.method === 'OPTIONS') return sendEmpty(response, 204);
    handle(request, response).catch((error: unknown) => {
      if (response.headersSent || request.socket.destroyed) return void response.destroy();
      if (!(error instanceof S3Error)) onError(error);
      const refusal = error instanceof S3Error ? error : new S3Error(500, 'InternalError', 'The server failed');
      sendError(request, response, refusal);
    });
  });
  server.once('listening', () => void prepare().catch(() => {}));
  // A large body over a slow line takes long; `limitBody` bounds it.
  server.requestTimeout = 0;
  server.timeout = maxIdleMs;
  server.keepAliveTimeout = keepAliveMs;
  return server;
}

/** A presigned URL is the whole credential and no cookie is involved, so every origin may use it. */
function setCorsHeaders(request: IncomingMessage, response: ServerResponse): void {
  response.setHeader('access-control-allow-origin', '*');
  response.setHeader('access-control-expose-headers', 'ETag, Content-Range, Accept-Ranges, x-amz-request-id');
  if (request.method !== 'OPTIONS') return;
  response.setHeader('access-control-allow-methods', 'GET, HEAD, PUT, POST, DELETE');
  response.setHeader('access-control-allow-headers', request.headers['access-control-request-headers'] ?? '*');
  response.setHeader('access-control-max-age', '3600');
}

function sendError(request: IncomingMessage, response: ServerResponse, error: S3Error): void {
  for (const [name, value] of Object.entries(error.headers)) response.setHeader(name, value);
  if (request.method === 'HEAD') return sendEmpty(response, error.status);
  const content = [
    element('Code', error.code),
    element('Message', error.message),
    element('RequestId', String(response.getHeader('x-amz-request-id'))),
  ];
  sendDocument(response, 'Error', content, error.status);
}
