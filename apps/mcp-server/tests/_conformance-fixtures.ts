import { randomBytes } from 'node:crypto';
import {
  acceptedContent,
  CLIENT_CAPABILITIES_META_KEY,
  completable,
  createRequestStateCodec,
  inputRequired,
  inputResponse,
  ResourceTemplate,
  type CallToolResult,
  type ClientCapabilities,
  type GetPromptResult,
  type InputRequiredResult,
  type McpServer,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { Addition } from '../src/create-mcp-server.ts';
import { iconPng } from '../src/http/icon.ts';

type Content = CallToolResult['content'][number];
type ToolAnswer = CallToolResult | InputRequiredResult;

const described = { description: 'For the conformance package.' };

const text = (value: string): Content => ({ type: 'text', text: value });
const done = (...content: Content[]): CallToolResult => ({ content });

const image = { type: 'image', data: iconPng.toString('base64'), mimeType: 'image/png' } as const;
/** A WAV file of 8 kHz without a sample. */
const silence = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=';

/** Seals what a server wants back from a client, as the specification asks of servers that ask for input. */
const states = createRequestStateCodec<string>({ key: randomBytes(32) });

const ask = (message: string, field: string) =>
  inputRequired.elicit({ message, requestedSchema: z.object({ [field]: z.string() }) });
const askModel = (question: string) =>
  inputRequired.createMessage({
    messages: [{ role: 'user', content: { type: 'text', text: question } }],
    maxTokens: 50,
  });

const hasInput = ({ mcpReq }: ServerContext, key: string) =>
  inputResponse(mcpReq.inputResponses, key).kind !== 'missing';

/** Tools that answer at once, or after notices on the stream of the answer. */
const plainTools: Readonly<Record<string, (context: ServerContext) => ToolAnswer | Promise<ToolAnswer>>> = {
  test_simple_text: () => done(text('A simple text.')),
  test_image_content: () => done(image),
  test_audio_content: () => done({ type: 'audio', data: silence, mimeType: 'audio/wav' }),
  test_embedded_resource: () =>
    done({
      type: 'resource',
      resource: { uri: 'test://embedded-resource', mimeType: 'text/plain', text: 'Embedded.' },
    }),
  test_multiple_content_types: () =>
    done(text('Several contents:'), image, {
      type: 'resource',
      resource: { uri: 'test://mixed-content-resource', mimeType: 'application/json', text: '{"test":"data"}' },
    }),
  test_error_handling: () => {
    throw new Error('This tool fails on purpose.');
  },
  test_tool_with_logging: async ({ mcpReq }) => {
    for (const step of ['started', 'working', 'finished']) await mcpReq.log('info', `The tool has ${step}.`);
    return done(text('Logged.'));
  },
  test_logging_tool: async ({ mcpReq }) => {
    await mcpReq.log('info', 'Only clients that ask for logs get this.');
    return done(text('Logged.'));
  },
  test_tool_with_progress: async ({ mcpReq }) => {
    const { progressToken } = mcpReq._meta ?? {};
    if (progressToken !== undefined)
      for (const progress of [0, 50, 100])
        await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total: 100 } });
    return done(text('Finished.'));
  },
  // The four that need a session: without one the server has nobody to ask, and the scenarios fail (see the baseline).
  test_sampling: async ({ mcpReq }) => {
    const params = { messages: [{ role: 'user' as const, content: { type: 'text' as const, text: 'Hello' } }] };
    const { content } = await mcpReq.requestSampling({ ...params, maxTokens: 100 }, { timeout: 500 });
    return done(text(JSON.stringify(content)));
  },
  ...Object.fromEntries(
    ['test_elicitation', 'test_elicitation_sep1034_defaults', 'test_elicitation_sep1330_enums'].map((name) => [
      name,
      async ({ mcpReq }: ServerContext) => {
        const requestedSchema = { type: 'object' as const, properties: { answer: { type: 'string' as const } } };
        return done(text(JSON.stringify(await mcpReq.elicitInput({ message: 'Answer.', requestedSchema }))));
      },
    ]),
  ),
};

/** Tools that ask the client for input: they answer with questions, and finish when the call comes again with the answers. */
const askingTools: Readonly<Record<string, (context: ServerContext) => ToolAnswer | Promise<ToolAnswer>>> = {
  test_input_required_result_elicitation: ({ mcpReq }) => {
    const given = acceptedContent(mcpReq.inputResponses, 'user_name', z.object({ name: z.string() }));
    return given
      ? done(text(`Hello, ${given.name}!`))
      : inputRequired({ inputRequests: { user_name: ask('What is your name?', 'name') } });
  },
  test_input_required_result_sampling: (context) =>
    hasInput(context, 'capital_question')
      ? done(text('Thank you.'))
      : inputRequired({ inputRequests: { capital_question: askModel('What is the capital of France?') } }),
  test_input_required_result_list_roots: (context) =>
    hasInput(context, 'client_roots')
      ? done(text('Thank you.'))
      : inputRequired({ inputRequests: { client_roots: inputRequired.listRoots() } }),
  test_input_required_result_multiple_inputs: async (context) => {
    const inputRequests = {
      user_name: ask('What is your name?', 'name'),
      greeting: askModel('Write a greeting.'),
      client_roots: inputRequired.listRoots(),
    };
    return Object.keys(inputRequests).every((key) => hasInput(context, key))
      ? done(text('Thank you.'))
      : inputRequired({ inputRequests, requestState: await states.mint('several') });
  },
  test_input_required_result_multi_round: async (context) => {
    const round = context.mcpReq.requestState<string>();
    if (round === 'second' && hasInput(context, 'step2')) return done(text('Thank you.'));
    return round === 'first' && hasInput(context, 'step1')
      ? inputRequired({
          inputRequests: { step2: ask('What is your favourite colour?', 'color') },
          requestState: await states.mint('second'),
        })
      : inputRequired({
          inputRequests: { step1: ask('What is your name?', 'name') },
          requestState: await states.mint('first'),
        });
  },
  ...Object.fromEntries(
    ['test_input_required_result_request_state', 'test_input_required_result_tampered_state'].map((name) => [
      name,
      async (context: ServerContext) =>
        context.mcpReq.requestState<string>() === name && hasInput(context, 'confirm')
          ? done(text('state-ok'))
          : inputRequired({
              inputRequests: {
                confirm: inputRequired.elicit({ message: 'Go on?', requestedSchema: z.object({ ok: z.boolean() }) }),
              },
              requestState: await states.mint(name),
            }),
    ]),
  ),
  test_input_required_result_capabilities: ({ mcpReq }) => {
    const envelope: Readonly<Record<string, unknown>> = { ...mcpReq.envelope };
    const declared: ClientCapabilities = envelope[CLIENT_CAPABILITIES_META_KEY] ?? {};
    return inputRequired({
      inputRequests: {
        ...(declared.sampling && { question: askModel('What is the capital of France?') }),
        ...(declared.elicitation && { user_name: ask('What is your name?', 'name') }),
      },
    });
  },
  test_missing_capability: () => inputRequired({ inputRequests: { question: askModel('Hello?') } }),
  test_streaming_elicitation: () => inputRequired({ inputRequests: { user_name: ask('What is your name?', 'name') } }),
};

function registerResources(server: McpServer): void {
  const page = { mimeType: 'text/plain' };
  for (const uri of ['test://static-text', 'test://watched-resource'])
    server.registerResource(uri, uri, page, () => ({ contents: [{ uri, ...page, text: 'A text.' }] }));
  const binary = 'test://static-binary';
  server.registerResource(binary, binary, { mimeType: image.mimeType }, () => ({
    contents: [{ uri: binary, mimeType: image.mimeType, blob: image.data }],
  }));
  server.registerResource(
    'test-template',
    new ResourceTemplate('test://template/{id}/data', { list: undefined }),
    { mimeType: 'application/json' },
    ({ href }, { id }) => ({ contents: [{ uri: href, mimeType: 'application/json', text: JSON.stringify({ id }) }] }),
  );
  server.server.setRequestHandler('resources/subscribe', () => ({}));
  server.server.setRequestHandler('resources/unsubscribe', () => ({}));
}

function registerPrompts(server: McpServer): void {
  const said = (...contents: GetPromptResult['messages'][number]['content'][]): GetPromptResult => ({
    messages: contents.map((content) => ({ role: 'user', content })),
  });
  server.registerPrompt('test_simple_prompt', described, () => said({ type: 'text', text: 'A simple prompt.' }));
  server.registerPrompt('test_prompt_with_image', described, () => said(image));
  const word = completable(z.string(), () => []);
  server.registerPrompt(
    'test_prompt_with_arguments',
    { ...described, argsSchema: z.object({ arg1: word, arg2: z.string() }) },
    ({ arg1, arg2 }) => said({ type: 'text', text: `arg1='${arg1}', arg2='${arg2}'` }),
  );
  server.registerPrompt(
    'test_prompt_with_embedded_resource',
    { ...described, argsSchema: z.object({ resourceUri: z.string() }) },
    ({ resourceUri: uri }) => said({ type: 'resource', resource: { uri, mimeType: 'text/plain', text: 'Embedded.' } }),
  );
  server.registerPrompt('test_input_required_result_prompt', described, (context) =>
    hasInput(context, 'user_context')
      ? said({ type: 'text', text: 'A prompt with context.' })
      : inputRequired({ inputRequests: { user_context: ask('Which context?', 'context') } }),
  );
}

/** The tools, resources and prompts that the scenarios of the MCP conformance package call by name. */
export const conformanceFixtures: Addition = {
  options: { requestState: { verify: states.verify } },
  register(server) {
    server.server.registerCapabilities({ logging: {} });
    for (const [name, answer] of Object.entries({ ...plainTools, ...askingTools }))
      server.registerTool(name, described, answer);
    registerResources(server);
    registerPrompts(server);
  },
};
