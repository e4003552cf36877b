import { serveApiDocs, serveText } from '@longwave/api-docs';
import type { SenderOf } from '@longwave/audience';
import { isLegalText } from '@longwave/command-catalog';
import { checkTexts, notFoundProblem, type ReceiptKeys } from '@longwave/command-pipeline';
import {
  createHttpApp,
  endRoutes,
  methodNotAllowed,
  mountRoutes,
  protectedResourcePath,
  serveOnlyGet,
  serveProtectedResource,
  type CountRequest,
  type OperatorPages,
} from '@longwave/http-kit';
import { databaseProblem } from '@longwave/postgres';
import { apiScopes } from '@longwave/principal';
import { parseOrProblem, Problem } from '@longwave/problems';
import type { Logger } from '@longwave/service-kit';
import type { Express, Request, RequestHandler, Response } from 'express';
import { z } from 'zod';
import { requireScope, type Authenticate, type TokenHolder } from './authenticate.ts';
import { isAtBase } from './carried-by.ts';
import { completeProblem } from './complete-problem.ts';
import type { ManagementRoute, RouteAnswer, RouteCall, RouteDeps } from './management-route.ts';
import { managementOpenApi } from './openapi.ts';
import {
  apiName,
  basePath,
  catalogDocument,
  keysDocument,
  managementContract,
  publicDocuments,
} from './public-documents.ts';
import { managementRoutes } from './routes.ts';

/** Of documents that everybody may read. */
const shared = { 'Cache-Control': 'public, max-age=300', 'Access-Control-Allow-Origin': '*' };

/** Requests of one address in a minute, with or without a token; programs of many people may share one. */
const requestsPerAddress = 6_000;

const jsonType = 'application/json; charset=utf-8';

/** Serves a short text that changes rarely while the process runs; nobody keeps it until it is complete. */
function serveLatest(read: () => string, isComplete: () => boolean): RequestHandler {
  let served: { readonly text: string; readonly complete: boolean; readonly serve: RequestHandler } | undefined;
  return (request, response, next) => {
    const text = read();
    const complete = isComplete();
    if (served?.text !== text || served.complete !== complete) {
      const headers = complete ? shared : { ...shared, 'Cache-Control': 'no-store' };
      served = { text, complete, serve: serveText(() => text, jsonType, headers) };
    }
    return served.serve(request, response, next);
  };
}

/** Of a route without a query. */
const noParameters = z.strictObject({});

function checkAccept({ answers }: ManagementRoute, request: Request): void {
  const types = Object.values(answers).flatMap(({ mediaType = 'application/json', alsoAs = [] }) => [
    mediaType,
    ...alsoAs,
  ]);
  if (!request.accepts([...new Set([...types, 'application/problem+json'])]))
    throw new Problem('not_acceptable', `This is answered as ${[...new Set(types)].join(' or ')}.`);
}

/** A person who has shown nothing: the actor of routes that need no token. They read nothing about anybody. */
const nobody: Pick<TokenHolder, 'principal' | 'clientId' | 'grantId' | 'purposes'> = {
  principal: {
    account_id: '',
    workspace_id: '',
    roles: [],
    grants: [],
    credential_id: '',
    credential_kind: 'management_access_token',
    read_only: true,
  },
  clientId: '',
  grantId: '',
  purposes: [],
};

async function send(response: Response, answer: RouteAnswer): Promise<void> {
  response.status(answer.status).set({ 'Cache-Control': 'no-store', ...answer.headers });
  if ('stream' in answer) {
    response.type(answer.contentType).flushHeaders();
    return answer.stream(response);
  }
  if (answer.body === undefined) return void response.end();
  response.type('application/json').send(answer.body);
}

export interface ManagementServerOptions {
  readonly authenticate: Authenticate;
  readonly countRequest: CountRequest;
  readonly senderOf: SenderOf;
  readonly deps: Omit<RouteDeps, 'root'>;
  /** Public keys of receipts, as they are known now. */
  readonly receiptKeys: Pick<ReceiptKeys, 'list' | 'isComplete'>;
  /** `{base_url}`. */
  readonly issuer: string;
  /** `{api_url}`. */
  readonly apiUrl: string;
  readonly pages: OperatorPages;
  readonly logger: Logger;
}

/**
 * The Management API (docs/management-api.md). A request is checked in this order, and the first failure answers: route, method and
 * headers, rate of the address, token, rate of the client, scope, whether the workspace is visible, whether a type of the path exists, the query; then the route's own
 * checks.
 */
export function createManagementServer(options: ManagementServerOptions): Express {
  const { authenticate, countRequest, senderOf, issuer, apiUrl, pages, logger } = options;
  const root = `${apiUrl}${basePath}`;
  const deps: RouteDeps = { ...options.deps, root };
  /** For pages of the web application, which reach this API at their own host. */
  const depsAtBase: RouteDeps = { ...deps, root: `${issuer}${basePath}` };
  const depsOf = (request: Request) => (isAtBase(request.headers, issuer) ? depsAtBase : deps);
  const api = { resource: root, name: apiName, issuer, scopes: apiScopes.management, documentation: `${root}/docs` };
  const app = createHttpApp(logger, ({ operation = 'none', credentialId }) => ({
    operation,
    credential_id: credentialId,
  }));
  app.get(protectedResourcePath(api.resource), serveProtectedResource(api, pages));
  const texts: Readonly<Record<(typeof publicDocuments)[number]['operation'], () => unknown>> = {
    'contract.read': () => managementContract(managementRoutes),
    'catalog.read': catalogDocument,
    'keys.read': () => keysDocument(options.receiptKeys.list()),
  };
  for (const { operation, path } of publicDocuments) {
    const read = () => JSON.stringify(texts[operation]!());
    const serve =
      operation === 'keys.read' ? serveLatest(read, options.receiptKeys.isComplete) : serveText(read, jsonType, shared);
    app.all(basePath + path, (request, response, next) => {
      response.locals['operation'] = operation;
      if (!['GET', 'HEAD'].includes(request.method)) throw methodNotAllowed(request, response, ['GET']);
      if (!request.accepts('application/json'))
        throw new Problem('not_acceptable', 'This is answered as application/json.');
      serve(request, response, next);
    });
  }

  const documentPath = `${basePath}/openapi.json`;
  app.get(
    documentPath,
    serveText(() => JSON.stringify(managementOpenApi(managementRoutes)), jsonType, shared),
  );
  app.use(serveApiDocs({ title: `Longwave ${apiName}`, path: `${basePath}/docs`, documentPath }));
  serveOnlyGet(app, [documentPath, `${basePath}/docs`]);

  /** Counts a request. Throws `rate_limited` when it is one too many of its minute. */
  async function count(response: Response, key: string, limit: number): Promise<void> {
    const { throttled, headers } = await countRequest(key, limit);
    // Clients are told of their own limit, and of another one when they meet it.
    if (throttled || key.startsWith('management:')) response.set(headers);
    if (throttled)
      throw new Problem('rate_limited', 'Too many requests. Wait as long as Retry-After says.', {
        retryAfterSeconds: Number(headers['Retry-After']),
      });
  }

  /** The holder of the token or session, when its client may send another request now. */
  async function admit(request: Request, response: Response, address: string): Promise<TokenHolder> {
    const holder = await authenticate(request.headers, address);
    response.locals['credentialId'] = holder.principal.credential_id;
    if (holder.requestsPerMinute !== undefined)
      await count(response, `management:${holder.clientId}`, holder.requestsPerMinute);
    return holder;
  }

  async function callOf(route: ManagementRoute, request: Request, response: Response): Promise<RouteCall> {
    const address = senderOf(request);
    await count(response, `management_address:${address}`, requestsPerAddress);
    const holder = route.scope === null ? undefined : await admit(request, response, address);
    if (holder && route.scope !== null) requireScope(holder, route.scope);
    if (route.sessionOnly && holder?.principal.credential_kind !== 'browser_session')
      throw new Problem(
        'permission_denied',
        'This is for the session of a browser, at the address of the web application.',
      );
    const token = holder ?? nobody;
    const actor = { kind: 'principal', principal: token.principal } as const;
    const parameter = (key: string): string => {
      const value = request.params[key];
      if (typeof value !== 'string') throw new Error(`${route.operation}: the path has no ${key}`);
      return value;
    };
    const workspaceId = route.path.includes('{workspace_id}') ? parameter('workspace_id') : '';
    if (workspaceId !== '' && !(route.forParties && (await deps.access.isPartyIn(actor, workspaceId))))
      deps.access.checkAnywhereIn(actor, workspaceId);
    route.checkPath?.(parameter);
    for (const [key, value] of Object.entries(request.params))
      if (!isLegalText(String(value))) throw notFoundProblem({ noun: key.replace(/_id$/, '') }, String(value));
    checkTexts({ query: request.query });
    const query = parseOrProblem(route.query ?? noParameters, { ...request.query }, '/query');
    const recheck = async () => {
      if (route.scope === null) return actor;
      const now = await authenticate(request.headers, address);
      requireScope(now, route.scope);
      const present = { kind: 'principal', principal: now.principal } as const;
      if (workspaceId !== '') deps.access.checkAnywhereIn(present, workspaceId);
      return present;
    };
    return { request, actor, token, workspaceId, parameter, recheck, query };
  }

  mountRoutes(app, basePath, managementRoutes, {
    answer: async (route, request, response) => {
      Object.assign(response.locals, {
        operation: route.operation,
        scope: route.scope ?? undefined,
        workspaceId: request.params['workspace_id'],
      });
      checkAccept(route, request);
      route.checkHeaders?.(request);
      const call = await callOf(route, request, response);
      await send(response, await route.answer(call, depsOf(request)));
    },
  });
  endRoutes(app, {
    resource: api.resource,
    logger,
    toProblem: databaseProblem,
    complete: (problem, response) => {
      const { workspaceId = '' } = response.locals as { readonly workspaceId?: string };
      if (problem.context.etag) response.set('ETag', problem.context.etag);
      return completeProblem(problem, root, workspaceId);
    },
  });
  return app;
}
