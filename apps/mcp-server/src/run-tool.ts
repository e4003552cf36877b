import { namedDetail, parseOrProblem, Problem, problemView } from '@longwave/problems';
import type { Logger } from '@longwave/service-kit';
import type { CallToolResult } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { requireScopes } from './http/scopes.ts';
import type { TokenHolder } from './http/verify-token.ts';
import type { Tool, ToolDeps } from './tool.ts';

/** The result of a tool that could not do what it was asked for. */
export const toolFailure = z.strictObject({
  code: z.string(),
  message: z.string().describe('What is wrong and what to do.'),
  field: z.string().optional().describe('JSON Pointer of the argument that is wrong.'),
  retry: z.strictObject({ class: z.string(), after_seconds: z.int().optional() }).optional(),
  trace_id: z.string(),
});

/** One request of a person: who asks, and under which ID it is in the log. */
export interface Session {
  readonly holder: TokenHolder;
  readonly requestId: string;
  readonly logger: Logger;
}

/** The problem of anything thrown; an error of unknown kind is logged and says nothing. */
function problemOf(error: unknown, tool: Tool, { requestId, logger }: Session): Problem {
  // The token was accepted before: a statement that expired meanwhile, or clocks that differ.
  if (error instanceof Problem && error.code === 'token_invalid') return new Problem('temporarily_unavailable');
  if (error instanceof Problem && error.status !== 500) return error;
  logger.error({ err: error, request_id: requestId, tool: tool.name }, 'tool.failed');
  return new Problem('internal_error', 'Something went wrong. Please try again later.');
}

/** The message of a problem, with its remedy where the plan of the account is the cause. */
function messageOf({ code, message }: Problem, { plan }: TokenHolder['caller']): string {
  if (code !== 'analytics_unavailable' || plan.includesAnalytics) return message;
  return `${message} The plan ${plan.name} of this account has no analytics: its owner can change to a plan that has them.`;
}

function failureOf(problem: Problem, { requestId, holder }: Session): z.output<typeof toolFailure> {
  const { errors = [] } = problem.context;
  const { retry } = problemView(problem);
  const named = problem.code === 'validation_failed' && errors.length > 0;
  return {
    code: problem.code,
    message: named ? errors.map(namedDetail).join(' ') : messageOf(problem, holder.caller),
    ...(errors[0] && { field: errors[0].path }),
    retry,
    trace_id: requestId,
  };
}

/** Checks the arguments, runs the tool, and makes a result of whatever comes of it. Never rejects. */
export async function runTool(tool: Tool, given: unknown, session: Session, deps: ToolDeps): Promise<CallToolResult> {
  const { caller, scopes, grant } = session.holder;
  try {
    const args = parseOrProblem(tool.input, given ?? {});
    requireScopes(scopes, tool.scopesFor(args));
    const asker = { ...caller, deadline: new Date(Date.now() + tool.deadlineMs) };
    const { output, links = [] } = await tool.run({ asker, scopes, grant, args: args as never }, deps);
    return {
      content: [
        { type: 'text', text: JSON.stringify(output) },
        ...links.map(({ uri, name }) => ({ type: 'resource_link' as const, uri, name, mimeType: 'application/json' })),
      ],
      structuredContent: { ...output },
    };
  } catch (error) {
    const failure = failureOf(problemOf(error, tool, session), session);
    return { isError: true, content: [{ type: 'text', text: failure.message }], structuredContent: failure };
  }
}
