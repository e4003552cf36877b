import type { Asker, Identity, Management, ViewContext } from '@longwave/hosting-client';
import type { AnalyticsDeps } from '@longwave/podcast-analytics';
import type { Redis } from 'ioredis';
import type { z } from 'zod';
import type { Confirmations } from './confirmations.ts';
import type { McpScope } from './http/scopes.ts';

/** Clients and settings of all tools; built once in `app.ts`. */
export interface ToolDeps extends AnalyticsDeps {
  readonly management: Management;
  readonly identity: Pick<Identity, 'getAccount'>;
  readonly views: ViewContext['deps'];
  readonly confirmations: Confirmations;
  readonly redis: Redis;
}

/** One call of a tool, for a person whose token has the scopes. */
interface ToolCall<I> {
  readonly asker: Asker;
  readonly scopes: readonly string[];
  /** The grant of the token. */
  readonly grant: string;
  /** The arguments, as the tool's schema parsed them. */
  readonly args: I;
}

/** An object that a result is about. */
export interface Link {
  readonly uri: string;
  readonly name: string;
}

/** The result of a tool. */
interface ToolResult<O> {
  readonly output: O;
  readonly links?: readonly Link[];
}

/** The four hints of MCP: what a client may assume of a call. */
export interface Hints {
  readonly readOnlyHint: boolean;
  readonly destructiveHint: boolean;
  readonly idempotentHint: boolean;
  readonly openWorldHint: boolean;
}

/** A tool as every part of the server sees it. */
export interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly hints: Hints;
  /** The scopes that a call with these arguments needs; the arguments are not checked yet. */
  readonly scopesFor: (args: Readonly<Record<string, unknown>>) => readonly McpScope[];
  readonly input: z.ZodObject;
  readonly output: z.ZodType<object>;
  /** How long everything behind a call may take together. */
  readonly deadlineMs: number;
  readonly run: (call: ToolCall<never>, deps: ToolDeps) => Promise<ToolResult<object>>;
}

interface Declared<I extends z.ZodObject, O extends z.ZodType<object>> extends Pick<
  Tool,
  'name' | 'title' | 'description'
> {
  readonly scopes: readonly McpScope[];
  /** Further scopes, for some arguments. */
  readonly moreScopes?: (args: Readonly<Record<string, unknown>>) => readonly McpScope[];
  readonly deadlineMs?: number;
  readonly input: I;
  readonly output: O;
  readonly run: (call: ToolCall<z.output<I>>, deps: ToolDeps) => Promise<ToolResult<z.input<O>>>;
}

const toolWith =
  (hints: Hints) =>
  <I extends z.ZodObject, O extends z.ZodType<object>>({
    scopes,
    moreScopes = () => [],
    deadlineMs = 15_000,
    ...tool
  }: Declared<I, O>): Tool => ({
    hints,
    scopesFor: (args) => [...scopes, ...moreScopes(args)],
    deadlineMs,
    ...tool,
    run: tool.run as Tool['run'],
  });

const calm = { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false };

/** A tool that changes nothing. */
export const readTool = toolWith({ ...calm, readOnlyHint: true });
/** A tool that adds something; under one key it adds it once. */
export const addTool = toolWith(calm);
/** The same, with an effect outside this service. */
export const grantTool = toolWith({ ...calm, openWorldHint: true });
/** A tool that changes or ends something that exists. */
export const changeTool = toolWith({ ...calm, destructiveHint: true });
/** The same, with an effect that listeners and directories see. */
export const publicTool = toolWith({ ...calm, destructiveHint: true, openWorldHint: true });
