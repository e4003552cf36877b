import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { isJSONRPCErrorResponse, isJSONRPCResultResponse } from '@modelcontextprotocol/sdk/types.js';
import { liveSession, storedSession } from './live-session.ts';
import type { SessionFile } from './session-file.ts';
import { accessEnded } from './sign-in.ts';

/**
 * A refusal that answers the request in its body is an answer like any other: there an agent reads what it lacks. The transport would hide it
 * behind an error of its own.
 */
async function answerOf(response: Response): Promise<Response> {
  if (response.ok) return response;
  const body: unknown = await response
    .clone()
    .json()
    .catch(() => undefined);
  const isAnswer = isJSONRPCResultResponse(body) || (isJSONRPCErrorResponse(body) && body.id !== undefined);
  return isAnswer ? new Response(response.body, { headers: response.headers }) : response;
}

/**
 * A connection to the MCP server of the sign-in. Every request has an access token that is still good; a token that the server refuses
 * belongs to an access that was ended.
 */
export function openMcp(file: SessionFile): StreamableHTTPClientTransport {
  const { resource } = storedSession(file, 'mcp');
  return new StreamableHTTPClientTransport(new URL(resource), {
    fetch: async (address, init) => {
      const { access_token: token } = await liveSession(file, 'mcp');
      const headers = new Headers(init?.headers);
      headers.set('Authorization', `Bearer ${token}`);
      const response = await fetch(address, { ...init, headers });
      if (response.status === 401) throw accessEnded('mcp');
      return answerOf(response);
    },
  });
}
