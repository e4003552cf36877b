import { Problem } from '@longwave/problems';
import type { ExecuteRequest, ExecuteResponse } from '@longwave/rpc/command';
import type { Actor, CommandOutcome, CommandRequest, ExecuteCommand } from './command-request.ts';

/** Parses the JSON in a field of an envelope; an empty text means that the field is absent. Throws `malformed_json`. */
function parseJson(text: string): unknown {
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new Problem('malformed_json', 'changes_json and reason_json must be JSON.', { cause });
  }
}

/** The command in an envelope (`CommandService.Execute`). Throws `malformed_json`. */
export const parseEnvelope = (request: ExecuteRequest, deadline?: Date): CommandRequest => ({
  workspaceId: request.workspaceId,
  commandType: request.commandType,
  idempotencyKey: request.idempotencyKey,
  ifMatch: request.ifMatch || undefined,
  subject: { type: request.subjectType, id: request.subjectId || null, version: request.subjectVersion },
  changes: parseJson(request.changesJson),
  reason: parseJson(request.reasonJson),
  ...(deadline && { deadline }),
});

/** A command's outcome as the answer's envelope. */
export const answerEnvelope = (outcome: CommandOutcome): ExecuteResponse => ({
  operationJson: outcome.operationJson,
  resourceJson: outcome.resource ? JSON.stringify(outcome.resource) : '',
  status: outcome.status,
  replayed: outcome.replayed,
  ...(outcome.disclosed && { disclosedJson: JSON.stringify(outcome.disclosed) }),
});

/** Executes the command in an envelope and puts its outcome into the answer's. */
export const executeEnvelope = async (
  execute: ExecuteCommand,
  request: ExecuteRequest,
  actor: Actor,
  deadline?: Date,
): Promise<ExecuteResponse> => answerEnvelope(await execute(parseEnvelope(request, deadline), actor));
