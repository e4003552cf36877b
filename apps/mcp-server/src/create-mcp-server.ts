import { jsonSchema } from '@longwave/http-kit';
import { McpServer, type Icon, type McpServerOptions, type StandardSchemaWithJSON } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { instructions } from './instructions.ts';
import { prompts } from './prompts.ts';
import { registerResources } from './resources.ts';
import { runTool, toolFailure, type Session } from './run-tool.ts';
import type { Tool, ToolDeps } from './tool.ts';

/** Version of this interface. */
const version = '1.0.0';

/**
 * A schema as the SDK lists it. Its JSON form is made once, and nothing is checked by it: `runTool` checks arguments, so that a wrong one
 * becomes a failure like any other.
 */
function listed(schema: z.ZodType, io: 'input' | 'output'): StandardSchemaWithJSON {
  const json = { type: 'object', ...jsonSchema(schema, io) };
  return {
    '~standard': {
      version: 1,
      vendor: 'longwave',
      validate: (value) => ({ value }),
      jsonSchema: { input: () => json, output: () => json },
    },
  };
}

/** The icon of every tool. */
const iconsAt = (mcpUrl: string): Icon[] => [
  { src: `${mcpUrl}/icon.png`, mimeType: 'image/png', sizes: ['64x64'] },
  { src: `${mcpUrl}/icon.svg`, mimeType: 'image/svg+xml', sizes: ['any'] },
];

/** What a test adds to the server of every request. */
export interface Addition {
  readonly options: Pick<McpServerOptions, 'requestState'>;
  readonly register: (server: McpServer) => void;
}

/**
 * Makes the server of one request from the same table for every protocol revision.
 * @param options.mcpUrl public root of this service
 */
export function mcpServerFactory(options: {
  readonly tools: readonly Tool[];
  readonly deps: ToolDeps;
  readonly mcpUrl: string;
  readonly addition: Addition | undefined;
}): (session: Session) => McpServer {
  const { tools, deps, mcpUrl, addition } = options;
  const icons = iconsAt(mcpUrl);
  const declared = tools.map((tool) => ({
    tool,
    inputSchema: listed(tool.input, 'input'),
    outputSchema: listed(z.union([tool.output, toolFailure]), 'output'),
  }));
  return (session) => {
    const server = new McpServer(
      { name: 'longwave', title: 'Longwave', version },
      {
        instructions,
        capabilities: {
          tools: { listChanged: false },
          resources: { listChanged: false },
          prompts: { listChanged: false },
        },
        ...addition?.options,
      },
    );
    for (const { tool, inputSchema, outputSchema } of declared) {
      const { name, title, description, hints: annotations } = tool;
      server.registerTool(
        name,
        { title, description, annotations: { title, ...annotations }, icons, inputSchema, outputSchema },
        (args) => runTool(tool, args, session, deps),
      );
    }
    registerResources(server, session, deps);
    for (const { name, title, description, args, text } of prompts)
      server.registerPrompt(name, { title, description, argsSchema: args, icons }, (given) => ({
        messages: [{ role: 'user', content: { type: 'text', text: text(given as never) } }],
      }));
    addition?.register(server);
    return server;
  };
}
