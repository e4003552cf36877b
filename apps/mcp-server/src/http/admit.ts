import type { SenderOf } from '@longwave/audience';
import type { CountRequest } from '@longwave/http-kit';
import { bearerOf } from '@longwave/principal';
import { localhostAllowedHostnames, validateHostHeader, validateOriginHeader } from '@modelcontextprotocol/server';
import type { Request, Response } from 'express';
import type { Tool } from '../tool.ts';
import { maxBodyBytes, parseBody, readBody, type Message } from './message.ts';
import { rpcCodes, sendRpcError, sendUnauthorized } from './refuse.ts';
import { containsScopes, type McpScope } from './scopes.ts';
import type { TokenHolder, VerifyToken } from './verify-token.ts';

/** Of the body of somebody unknown so much is read, for the ID to answer; a longer one is answered without. */
const maxUnknownBytes = 64 * 1024;
/** Requests of one address in a minute; agents of many people may share one. */
const requestsPerAddress = 1_200;

const exposedHeaders = ['WWW-Authenticate', 'X-Request-Id', 'Retry-After', 'RateLimit-Limit', 'RateLimit-Remaining'];
const allowedHeaders = [
  ...['Authorization', 'Content-Type', 'MCP-Protocol-Version', 'Mcp-Method', 'Mcp-Name', 'Last-Event-ID'],
];

/** A request that may go to the handler. */
interface Admitted {
  readonly holder: TokenHolder;
  /** The body, and the message that was read from it. */
  readonly json: unknown;
  readonly message: Message;
}

export interface AdmissionDeps {
  readonly tools: readonly Tool[];
  readonly verifyToken: VerifyToken;
  readonly countRequest: CountRequest;
  readonly senderOf: SenderOf;
  readonly baseUrl: string;
  readonly mcpUrl: string;
}

const isLoopback = (hostname: string) => localhostAllowedHostnames().includes(hostname);

/** The scopes that a request needs beyond a valid token. */
function scopesFor({ method, params = {} }: Message, tools: ReadonlyMap<string, Tool>): readonly McpScope[] {
  if (method === 'tools/call') {
    const args = typeof params.arguments === 'object' && params.arguments !== null ? params.arguments : {};
    return tools.get(params.name ?? '')?.scopesFor({ ...args }) ?? [];
  }
  const isOpen = method === 'resources/read' && params.uri?.startsWith('docs:');
  return method === 'completion/complete' || (method === 'resources/read' && !isOpen) ? ['mcp:read'] : [];
}

/**
 * The checks before the handler, each of which may answer by itself: method → length of the body → Host and Origin → rate of the address
 * → token → rate of the client → JSON → message → scopes. Only `Authorization` carries a token; the header `Token` is never read.
 */
export function createAdmit(deps: AdmissionDeps) {
  const { verifyToken, countRequest, senderOf, baseUrl, mcpUrl } = deps;
  const tools = new Map(deps.tools.map((tool) => [tool.name, tool]));
  const own = [mcpUrl, baseUrl].map((url) => new URL(url).hostname);
  const hosts = [own[0]!, ...(isLoopback(own[0]!) ? localhostAllowedHostnames() : [])];
  const origins = [...own, ...(isLoopback(own[0]!) ? localhostAllowedHostnames() : [])];
  const refused = (message: string) => ({ code: rpcCodes.refused, message });

  /** Answers preflights, and lets pages of allowed origins read the answer. */
  function allowBrowsers(request: Request, response: Response): void {
    const origin = request.get('origin');
    if (origin === undefined) return;
    response.set({
      'Access-Control-Allow-Origin': origin,
      'Access-Control-Expose-Headers': exposedHeaders.join(', '),
      Vary: 'Origin',
    });
    if (request.method !== 'OPTIONS') return;
    response
      .set({
        'Access-Control-Allow-Methods': 'POST',
        'Access-Control-Allow-Headers': allowedHeaders.join(', '),
        'Access-Control-Max-Age': '86400',
      })
      .status(204)
      .end();
  }

  async function isThrottled(response: Response, key: string, limit: number): Promise<boolean> {
    const { throttled, headers } = await countRequest(key, limit);
    response.set(headers);
    if (throttled) sendRpcError(response, 429, refused('Too many requests. Wait as long as Retry-After says.'));
    return throttled;
  }

  /** Undefined when the answer is already sent. */
  return async (request: Request, response: Response): Promise<Admitted | undefined> => {
    const isPreflight = request.method === 'OPTIONS' && request.get('origin') !== undefined;
    if (request.method !== 'POST' && !isPreflight) {
      response.set('Allow', 'POST');
      return void sendRpcError(response, 405, refused(`${request.method} is not possible here.`));
    }
    if (Number(request.get('content-length') ?? 0) > maxBodyBytes)
      return void sendRpcError(response, 413, refused('The body is larger than 2 MiB.'));
    const host = validateHostHeader(request.get('host'), hosts);
    const origin = validateOriginHeader(request.get('origin'), origins);
    if (!host.ok || !origin.ok)
      return void sendRpcError(response, 403, refused('This host or origin is not allowed here.'));
    allowBrowsers(request, response);
    if (response.writableEnded) return undefined;
    if (await isThrottled(response, `mcp_address:${senderOf(request)}`, requestsPerAddress)) return undefined;

    const bytes = await readBody(request);
    const token = bearerOf(request.get('authorization'));
    const holder = token === undefined ? undefined : await verifyToken(token);
    if (!holder) {
      const reason = request.get('authorization') === undefined ? 'missing' : 'invalid';
      return void sendUnauthorized(response, { reason }, mcpUrl, parseBody(bytes.subarray(0, maxUnknownBytes)).message);
    }
    const { caller, scopes } = holder;
    const client = `mcp:${caller.clientId || caller.credentialId}`;
    if (await isThrottled(response, client, caller.plan.requestsPerMinute)) return undefined;

    const { json, message } = parseBody(bytes);
    const wrong = (code: number, text: string) => void sendRpcError(response, 400, { code, message: text });
    if (json === undefined) return wrong(rpcCodes.parseError, 'The body is not valid JSON.');
    if (Array.isArray(json)) return wrong(rpcCodes.invalidRequest, 'Send one message at a time.');
    if (!message) return wrong(rpcCodes.invalidRequest, 'The body is not one JSON-RPC message.');
    const needed = scopesFor(message, tools);
    if (!containsScopes(scopes, needed))
      return void sendUnauthorized(response, { reason: 'scope', needed }, mcpUrl, message);
    return { holder, json, message };
  };
}
