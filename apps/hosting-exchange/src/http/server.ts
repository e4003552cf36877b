import { serveApiDocs, serveText } from '@longwave/api-docs';
import type { SenderOf } from '@longwave/audience';
import { isLegalText } from '@longwave/command-catalog';
import {
  createHttpApp,
  endRoutes,
  mountRoutes,
  protectedResourcePath,
  serveOnlyGet,
  serveProtectedResource,
  type CountRequest,
  type OperatorPages,
} from '@longwave/http-kit';
import { inProgressProblem, requireIdempotencyKey } from '@longwave/idempotency';
import { databaseProblem, isLockFailure } from '@longwave/postgres';
import { apiScopes } from '@longwave/principal';
import { Problem } from '@longwave/problems';
import { createGates, type Logger } from '@longwave/service-kit';
import { describeApi } from '@longwave/services';
import type { Express, Request, Response } from 'express';
import type { Authority } from '../authorities/authority-table.ts';
import { requireScope, type Authenticate, type Client } from './authenticate.ts';
import { notFound, type Answer, type ExchangeRoute, type RouteCall, type RouteDeps } from './exchange-route.ts';
import { exchangeOpenApi } from './openapi.ts';
import { checkBodyHeaders, maxQuestionBytes, maxSubmissionBytes, parseBody, readBody } from './read-message-body.ts';
import { exchangeRoutes } from './routes.ts';
import { listKeys } from './routes/proofs.ts';
import { countRefusal } from '../streams/refusal-table.ts';
import type { VerifySignedRequest } from './verify-signed-request.ts';

/** The base path on `{api_url}`. */
export const basePath = '/hosting-exchange/v1';

/** Requests of one address in a minute, with or without a token. */
const requestsPerAddress = 12_000;

/** Requests of one client that are carried out at the same time; others wait, and are refused after a time. */
const requestsAtOnce = 4;
const gateWaitMs = 10_000;

/** A submission of messages has no schema of its own. */
const maxBytesOf = ({ body }: ExchangeRoute): number => (body ? maxQuestionBytes : maxSubmissionBytes);

const isTimeout = (error: unknown): boolean => error instanceof DOMException && error.name === 'TimeoutError';
const tooManyAtOnce = () =>
  new Problem('rate_limited', `Too many requests at the same time; ${requestsAtOnce} of a client are carried out.`, {
    retryAfterSeconds: 1,
  });

const contract = describeApi({
  name: 'Hosting Exchange API',
  version: '1.0.0',
  base_path: basePath,
  openapi: `${basePath}/openapi.json`,
  documentation: `${basePath}/docs`,
  operations: exchangeRoutes,
});

const shared = { 'Cache-Control': 'public, max-age=300', 'Access-Control-Allow-Origin': '*' };

/** The problems of errors that are not bugs. */
const toProblem = (error: unknown) =>
  isLockFailure(error)
    ? inProgressProblem('Another request of this authority is being carried out.', error)
    : databaseProblem(error);

export interface ExchangeServerOptions {
  readonly authenticate: Authenticate;
  readonly countRequest: CountRequest;
  readonly senderOf: SenderOf;
  readonly verifySigned: VerifySignedRequest;
  /** The authority of a client, if its workspace has it. */
  readonly findAuthority: (client: Client) => Promise<Authority | undefined>;
  readonly deps: RouteDeps;
  readonly requestsPerMinute: number;
  /** `{base_url}`. */
  readonly issuer: string;
  /** `{api_url}`. */
  readonly apiUrl: string;
  readonly pages: OperatorPages;
  readonly logger: Logger;
}

/**
 * The Hosting Exchange API (docs/hosting-exchange.md). A request is checked in this order: route and method, rate of the address, size and
 * type of the body, token, rate of the client, scope, workspace, authority, idempotency key, signature of the request; then the route's own checks.
 */
export function createExchangeServer(options: ExchangeServerOptions): Express {
  const { authenticate, countRequest, senderOf, verifySigned, findAuthority, deps, issuer, apiUrl, pages, logger } =
    options;
  const root = `${apiUrl}${basePath}`;
  const api = {
    resource: root,
    name: contract.name,
    issuer,
    scopes: apiScopes.exchange,
    documentation: `${root}/docs`,
  };
  const app = createHttpApp(logger, ({ operation = 'none', tokenId }) => ({ operation, token_id: tokenId }));
  const serveJson = (read: () => unknown) =>
    serveText(() => JSON.stringify(read()), 'application/json; charset=utf-8', shared);

  app.get(
    `${basePath}/contract`,
    serveJson(() => contract),
  );
  app.get(`${basePath}/openapi.json`, serveJson(exchangeOpenApi));
  app.get(`${basePath}/keys`, async (request, response) => {
    response.locals['operation'] = 'keys.read';
    await count(response, `exchange_address:${senderOf(request)}`, requestsPerAddress);
    const keys = JSON.stringify(await listKeys(deps));
    response.set(shared).type('application/json').send(keys);
  });
  app.use(serveApiDocs({ title: contract.name, path: `${basePath}/docs`, documentPath: `${basePath}/openapi.json` }));
  app.get(protectedResourcePath(api.resource), serveProtectedResource(api, pages));
  serveOnlyGet(
    app,
    ['/contract', '/openapi.json', '/docs', '/keys'].map((path) => basePath + path),
  );

  const gateOf = createGates(requestsAtOnce);

  /** Counts a request. Throws `rate_limited` when it is one too many of its minute. */
  async function count(response: Response, key: string, limit: number): Promise<void> {
    const { throttled, headers } = await countRequest(key, limit);
    if (throttled || key.startsWith('exchange:')) response.set(headers);
    if (throttled)
      throw new Problem('rate_limited', 'Too many requests. Wait as long as Retry-After says.', {
        retryAfterSeconds: Number(headers['Retry-After']),
      });
  }

  /** Throws unless the client speaks for the workspace in the path, and its authority holds. */
  async function checkWorkspace(client: Client, workspaceId: string): Promise<void> {
    if (client.workspaceId !== workspaceId)
      throw new Problem('cross_workspace_identity', 'The token is for another workspace.');
    const authority = await findAuthority(client);
    if (!authority?.isActive || authority.clientId !== client.clientId)
      throw new Problem(
        'permission_denied',
        'The authority grant of this client is not active, or names another client.',
      );
  }

  async function bodyOf(route: ExchangeRoute, request: Request, client: Client) {
    if (route.method === 'GET') return { idempotencyKey: '', body: undefined };
    const key = requireIdempotencyKey(request.get('idempotency-key'), 'Send an Idempotency-Key that names this write.');
    const bytes = await readBody(request, maxBytesOf(route));
    await verifySigned(request, bytes, client);
    return { idempotencyKey: key, body: parseBody(bytes) };
  }

  /** The client of a request that may go on. */
  async function admit(route: ExchangeRoute, request: Request, response: Response): Promise<Client> {
    const address = senderOf(request);
    await count(response, `exchange_address:${address}`, requestsPerAddress);
    if (route.method === 'POST') checkBodyHeaders(request, maxBytesOf(route));
    const client = await authenticate(request.get('authorization'), address);
    Object.assign(response.locals, { tokenId: client.tokenId, authorityId: client.authorityId });
    await count(response, `exchange:${client.clientId}`, options.requestsPerMinute);
    requireScope(client, route.scope);
    await checkWorkspace(client, String(request.params['workspace_id']));
    return client;
  }

  async function callOf(route: ExchangeRoute, request: Request, client: Client): Promise<RouteCall> {
    const parameter = (name: string): string => {
      const value = request.params[name];
      if (typeof value !== 'string') throw new Error(`${route.operation}: the path has no ${name}`);
      if (!isLegalText(value)) throw notFound('resource');
      return value;
    };
    return { client, parameter, query: { ...request.query }, ...(await bodyOf(route, request, client)) };
  }

  /** The answer of a route. A refusal is counted for the authority of a client that has shown who it is. */
  async function answerOf(route: ExchangeRoute, request: Request, response: Response): Promise<Answer> {
    try {
      const client = await admit(route, request, response);
      // Bodies are read and messages verified for few requests of a client at a time: others of all clients wait less.
      return await gateOf(client.clientId)(
        async () => route.answer(await callOf(route, request, client), deps),
        AbortSignal.timeout(gateWaitMs),
      );
    } catch (error) {
      const problem = isTimeout(error) ? tooManyAtOnce() : error;
      const { authorityId } = response.locals as { readonly authorityId?: string };
      if (authorityId !== undefined && problem instanceof Problem && problem.status < 500)
        await countRefusal(deps.pool, authorityId, problem.code, deps.clock());
      throw problem;
    }
  }

  mountRoutes(app, basePath, exchangeRoutes, {
    answer: async (route, request, response) => {
      Object.assign(response.locals, { operation: route.operation, scope: route.scope });
      const { status, body } = await answerOf(route, request, response);
      response.status(status).set('Cache-Control', 'no-store').type('application/json').send(body);
    },
  });
  endRoutes(app, { resource: api.resource, logger, toProblem });
  return app;
}
