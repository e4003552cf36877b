import { productCatalog, type CommandDefinition } from '@longwave/command-catalog';
import type { OperationView } from '@longwave/command-pipeline';
import { checkBodyHeaders, readJson } from '@longwave/http-kit';
import { requireIdempotencyKey } from '@longwave/idempotency';
import { parseOrProblem, Problem } from '@longwave/problems';
import { z } from 'zod';
import { assertSessionMaySend } from '../../workspace/access/by-session.ts';
import type { ManagementRoute } from '../management-route.ts';
import { operationSchema } from '../operation-schema.ts';

/** The body of every command; each command's own schemas are for `changes` and `reason`. */
const commandBody = z.strictObject({
  subject: z.strictObject({
    type: z.string().describe('Its resource type.'),
    id: z.string().min(1).max(128).nullable().describe('null when the command creates it.'),
    version: z
      .int()
      .min(0)
      .max(2 ** 31 - 1)
      .optional()
      .describe('The version that the client saw; 0 or absent when the command creates it.'),
  }),
  changes: z.record(z.string(), z.unknown()).describe('The proposed changes, by the schema of the command.'),
  reason: z
    .unknown()
    .optional()
    .describe('A text, the review of an earlier request that the command corrects, or what the command requires.'),
});

/** What the first answer to a command shows besides its operation. */
const answerSchema = operationSchema.extend({
  disclosed: z
    .record(z.string(), z.string())
    .optional()
    .describe(
      'What only this answer shows, by the `discloses` of the command, such as a new secret. A repetition shows it for an hour.',
    ),
});

const commandsByType: Readonly<Record<string, CommandDefinition>> = productCatalog.commands;

/** Throws `unknown_command`. */
function checkCommandType(type: string): void {
  if (!Object.hasOwn(commandsByType, type))
    throw new Problem('unknown_command', `There is no command ${type.slice(0, 64)}.`);
}

const operationHeaders = { Location: 'Address of the operation.' };

const execute: ManagementRoute = {
  operation: 'command.execute',
  method: 'POST',
  path: '/workspaces/{workspace_id}/commands/{command_type}',
  summary: 'Request one declared state change.',
  forParties: true,
  note: 'A repetition under the same key is answered with the status and the bytes of the first answer.',
  scope: 'management:write',
  headers: {
    'Idempotency-Key': {
      description: 'Names this change, from a stable identity of the work: every retry sends the same.',
      required: true,
    },
    'If-Match': { description: 'The tag of the version that the client saw.' },
  },
  body: { name: 'Command', schema: commandBody },
  answers: {
    200: {
      description: 'It is done.',
      body: { name: 'CommandAnswer', schema: answerSchema },
      headers: operationHeaders,
    },
    202: {
      description: 'It is accepted; the operation says how it goes on.',
      body: { name: 'Operation', schema: operationSchema },
      headers: { ...operationHeaders, 'Retry-After': 'Seconds until asking for the operation is worthwhile.' },
    },
  },
  refusals: [
    'unknown_command',
    'idempotency_key_required',
    'idempotency_key_invalid',
    'malformed_json',
    'validation_failed',
    'payload_too_large',
    'unsupported_media_type',
    'idempotency_conflict',
    'idempotency_key_spent',
    'idempotency_in_progress',
    'permission_denied',
    'not_found',
    'version_conflict',
    'version_guard_required',
    'version_guard_mismatch',
    'state_not_allowed',
    'review_waiting',
    'timeout',
  ],
  checkHeaders: checkBodyHeaders,
  checkPath: (parameter) => checkCommandType(parameter('command_type')),
  answer: async ({ request, actor, workspaceId, parameter }, { access, execute, root }) => {
    const commandType = parameter('command_type');
    assertSessionMaySend(commandType, actor);
    const idempotencyKey = requireIdempotencyKey(
      request.get('idempotency-key'),
      'Send an Idempotency-Key that names this change.',
    );
    const { subject, changes, reason } = parseOrProblem(commandBody, await readJson(request));
    const target = { workspaceId, subjectType: subject.type, subjectId: subject.id, changes };
    const { actor: placed, subject: row, refusal } = await access.actorAt(actor, target);
    const ifMatch = request.get('if-match');
    const outcome = await execute(
      { workspaceId, commandType, idempotencyKey, ifMatch, subject, changes, reason, ...(refusal && { refusal }) },
      placed,
      row,
    );
    const operation = JSON.parse(outcome.operationJson) as OperationView;
    return {
      status: outcome.status,
      headers: {
        Location: `${root}/workspaces/${workspaceId}/operations/${operation.id}`,
        ...(outcome.status === 202 && { 'Retry-After': String(operation.retry_after_s ?? 1) }),
      },
      body: outcome.disclosed ? JSON.stringify({ ...operation, disclosed: outcome.disclosed }) : outcome.operationJson,
    };
  },
};

/** The one way to change something. */
export const commandRoutes: readonly ManagementRoute[] = [execute];
