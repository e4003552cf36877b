import {
  answerErrors,
  createHttpApp,
  problemOf,
  protectedResourcePath,
  requestIdOf,
  serveProtectedResource,
  type OperatorPages,
} from '@longwave/http-kit';
import { Problem } from '@longwave/problems';
import type { Logger } from '@longwave/service-kit';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, type AuthInfo, type McpServer } from '@modelcontextprotocol/server';
import type { Express, Request, Response } from 'express';
import { createAdmit, type AdmissionDeps } from './http/admit.ts';
import { iconPng, iconSvg } from './http/icon.ts';
import { maxBodyBytes, type Message } from './http/message.ts';
import { protectedMcp } from './http/metadata.ts';
import { rpcCodes, sendRpcError } from './http/refuse.ts';
import type { Session } from './run-tool.ts';

/** Streams of change notices that clients may hold open; there is nothing that changes without a call. */
const maxSubscriptions = 100;

export interface ServerOptions {
  readonly admission: AdmissionDeps;
  readonly createMcpServer: (session: Session) => McpServer;
  readonly readIssuerMetadata: () => Promise<string>;
  readonly pages: OperatorPages;
  readonly logger: Logger;
}

/** Requests and notifications of the Model Context Protocol, of every version. */
const protocolMethods: ReadonlySet<string> = new Set([
  ...['initialize', 'ping', 'server/discover', 'subscriptions/listen', 'logging/setLevel', 'completion/complete'],
  ...['tools/list', 'prompts/list', 'prompts/get', 'resources/list', 'resources/read', 'resources/templates/list'],
  ...['resources/subscribe', 'resources/unsubscribe', 'notifications/initialized', 'notifications/cancelled'],
  ...['notifications/progress', 'notifications/roots/list_changed'],
]);

const isPublic = { 'Cache-Control': 'public, max-age=300', 'Access-Control-Allow-Origin': '*' };

/** `{mcp_url}` over express: the metadata of the resource, and `/mcp` behind its checks. */
export function createServer({ admission, createMcpServer, readIssuerMetadata, pages, logger }: ServerOptions) {
  const { baseUrl, mcpUrl } = admission;
  const toolNames = new Set(admission.tools.map(({ name }) => name));
  /** What logs and metrics call a message: never a text of the client's own. */
  const operationOf = ({ method = 'none', params }: Message): string => {
    if (method === 'tools/call') return `tools/call ${toolNames.has(params?.name ?? '') ? params?.name : 'other'}`;
    return method === 'none' || protocolMethods.has(method) ? method : 'other';
  };
  const sessions = new WeakMap<AuthInfo, Session>();
  const handler = createMcpHandler(
    ({ authInfo }) => {
      const session = authInfo && sessions.get(authInfo);
      if (!session) throw new Error('a request reached the handler without its session');
      return createMcpServer(session);
    },
    {
      maxSubscriptions,
      maxRequestBodySize: maxBodyBytes,
      onerror: (error) => logger.debug({ err: error }, 'mcp.rejected'),
    },
  );
  const answer = toNodeHandler(handler, { onerror: (error) => logger.error({ err: error }, 'mcp.failed') });
  const admit = createAdmit(admission);

  const app: Express = createHttpApp(logger, ({ operation = 'none', credentialId, token }) => ({
    operation,
    credential_id: credentialId,
    token,
  }));
  const api = protectedMcp(mcpUrl, baseUrl);
  for (const path of [protectedResourcePath(api.resource), '/.well-known/oauth-protected-resource'])
    app.get(path, serveProtectedResource(api, pages));
  app.get('/.well-known/oauth-authorization-server', async (_request, response) => {
    const text = await readIssuerMetadata();
    response.set(isPublic).type('application/json').send(text);
  });
  app.get('/icon.svg', (_request, response) => void response.set(isPublic).type('image/svg+xml').send(iconSvg));
  app.get('/icon.png', (_request, response) => void response.set(isPublic).type('image/png').send(iconPng));

  app.all('/mcp', async (request: Request, response: Response) => {
    response.set({ 'Cache-Control': 'no-store', 'X-Accel-Buffering': 'no' });
    const admitted = await admit(request, response);
    if (!admitted) return;
    const { holder, json, message } = admitted;
    const { caller, fingerprint, scopes } = holder;
    Object.assign(response.locals, {
      operation: operationOf(message),
      credentialId: caller.credentialId,
      token: fingerprint,
    });
    // The handler and what it calls never see the token.
    delete request.headers.authorization;
    const auth: AuthInfo = { token: fingerprint, clientId: caller.clientId, scopes: [...scopes] };
    sessions.set(auth, { holder, requestId: requestIdOf(response), logger });
    await answer(Object.assign(request, { auth }), response, json);
  });
  app.use(() => {
    throw new Problem('not_found', 'There is no such page.');
  });
  app.use(
    answerErrors({
      logger,
      toFailure: (error) => problemOf(error, () => undefined),
      render: (problem, response) => {
        if (problem.context.retryAfterSeconds) response.set('Retry-After', String(problem.context.retryAfterSeconds));
        sendRpcError(response, problem.status, { code: rpcCodes.refused, message: problem.message });
      },
    }),
  );
  return { app, close: () => handler.close() };
}
