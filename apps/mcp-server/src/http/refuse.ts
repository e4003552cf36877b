import { requestIdOf } from '@longwave/http-kit';
import type { Response } from 'express';
import { challengeOf, refusalText, type AuthorizationFailure } from './challenge.ts';
import type { Message } from './message.ts';

/** Codes of JSON-RPC (JSON-RPC 2.0 §5.1), and the one that MCP leaves to implementations. */
export const rpcCodes = { parseError: -32_700, invalidRequest: -32_600, refused: -32_000 } as const;

/** Answers with a JSON-RPC error. */
export function sendRpcError(
  response: Response,
  status: number,
  { code, message }: { readonly code: number; readonly message: string },
  id: Message['id'] = null,
): void {
  response
    .status(status)
    .set('Cache-Control', 'no-store')
    .json({ jsonrpc: '2.0', error: { code, message }, id: id ?? null });
}

/**
 * Refuses a request for want of authorization: 401 or 403 with a challenge. A tool call gets the failure also as the result of the tool,
 * whose `_meta` carries the challenge: agents that see only results learn there how to sign in.
 */
export function sendUnauthorized(
  response: Response,
  failure: AuthorizationFailure,
  mcpUrl: string,
  { id, method }: Message = {},
): void {
  const challenge = challengeOf(failure, mcpUrl);
  const message = refusalText(failure);
  response.set('WWW-Authenticate', challenge);
  const status = failure.reason === 'scope' ? 403 : 401;
  if (method !== 'tools/call' || id === undefined || id === null)
    return sendRpcError(response, status, { code: rpcCodes.refused, message }, id);
  const code = { missing: 'token_missing', invalid: 'token_invalid', scope: 'insufficient_scope' }[failure.reason];
  response
    .status(status)
    .set('Cache-Control', 'no-store')
    .json({
      jsonrpc: '2.0',
      id,
      result: {
        resultType: 'complete',
        isError: true,
        content: [{ type: 'text', text: message }],
        structuredContent: { code, message, trace_id: requestIdOf(response) },
        _meta: { 'mcp/www_authenticate': [challenge] },
      },
    });
}
