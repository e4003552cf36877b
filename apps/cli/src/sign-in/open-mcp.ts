import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { liveSession } from './live-session.ts';
import type { SessionFile } from './session-file.ts';

/** A connection to the MCP server of the sign-in. Every request has an access token that is still good. */
export async function openMcp(file: SessionFile): Promise<StreamableHTTPClientTransport> {
  const { resource } = await liveSession(file, 'mcp');
  return new StreamableHTTPClientTransport(new URL(resource), {
    fetch: async (address, init) => {
      const { access_token: token } = await liveSession(file, 'mcp');
      const headers = new Headers(init?.headers);
      headers.set('Authorization', `Bearer ${token}`);
      return fetch(address, { ...init, headers });
    },
  });
}
