/** `longwave mcp`: a bridge for agents that speak MCP over standard input and output only. */
import type { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { isInitializeRequest, type JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { typed } from '../command.ts';
import { openMcp } from './open-mcp.ts';
import { fail, ignoredData, readOptions } from './read-options.ts';
import { openSessionFile } from './session-file.ts';

const usage = `${typed} mcp [--data FOLDER]

Connects an agent that starts its MCP servers as programs: it passes messages between standard input and output and the MCP server of the
installation that “${typed} login” signed in to.

${ignoredData}`;

const internalError = -32_603;

/** The protocol version that an answer to \`initialize\` agrees on. */
function agreedVersion(message: JSONRPCMessage): string | undefined {
  const version = 'result' in message ? message.result['protocolVersion'] : undefined;
  return typeof version === 'string' ? version : undefined;
}

/** The answer to a request that could not be passed on; nothing for a notification. */
const refusalOf = (message: JSONRPCMessage, error: Error): JSONRPCMessage[] =>
  'method' in message && 'id' in message
    ? [{ jsonrpc: '2.0', id: message.id, error: { code: internalError, message: error.message } }]
    : [];

async function connect(agent: StdioServerTransport, server: StreamableHTTPClientTransport): Promise<void> {
  const initializing = new Set<unknown>();
  agent.onmessage = (message) => {
    if (isInitializeRequest(message) && 'id' in message) initializing.add(message.id);
    server.send(message).catch(async (error: Error) => {
      for (const refusal of refusalOf(message, error)) await agent.send(refusal);
    });
  };
  server.onmessage = (message) => {
    const version = 'id' in message && initializing.delete(message.id) ? agreedVersion(message) : undefined;
    if (version !== undefined) server.setProtocolVersion(version);
    void agent.send(message);
  };
  server.onerror = (error) => console.error(error.message);
  agent.onclose = () => void server.close();
  process.stdin.once('end', () => void agent.close());
  await server.start();
  await agent.start();
}

async function bridge(): Promise<void> {
  if (readOptions(usage, {}).help) return console.log(usage);
  await connect(new StdioServerTransport(), openMcp(openSessionFile()));
}

await bridge().catch(fail);
