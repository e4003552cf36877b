import { clientIdOf, notFoundProblem, type OperationView } from '@longwave/command-pipeline';
import { isProblem } from '@longwave/problems';
import { decodeJwt } from 'jose';
import { sleep } from '@longwave/worker-kit';
import { z } from 'zod';
import type { StreamWork } from '../event-streams.ts';
import { json, type ManagementRoute, type RouteCall, type RouteDeps } from '../management-route.ts';
import { operationSchema } from '../operation-schema.ts';

export const receiptSchema = z.strictObject({
  id: z.string(),
  workspace_id: z.string(),
  operation_id: z.string(),
  statement: z.record(z.string(), z.unknown()).describe('What the receipt states, decoded for reading.'),
  jws: z
    .string()
    .optional()
    .describe(
      'The same statement, signed: a compact JWS (Ed25519) by a key of `/keys`. Absent for readers who do not see the whole workspace.',
    ),
});

/** A receipt as the API answers it. */
export const receiptView = (
  workspaceId: string,
  { id, operationId, jws }: Awaited<ReturnType<RouteDeps['reader']['getReceipt']>>,
): z.input<typeof receiptSchema> => ({
  id,
  workspace_id: workspaceId,
  operation_id: operationId,
  statement: decodeJwt(jws),
  jws,
});

/** What every reader of a receipt is shown of its statement. */
const commonStatement = z.object({
  ...{ id: z.string(), workspace_id: z.string(), kind: z.string(), operation_id: z.string(), command_type: z.string() },
  subject: z.unknown(),
  consequences: z.array(z.looseObject({ type: z.string(), id: z.string() })).optional(),
  ...{ accepted_at: z.string(), proves: z.string() },
});

/** The consequences that the actor sees; no field when it sees none. */
async function visibleOf<C extends { readonly type: string; readonly id: string }>(
  { actor, workspaceId }: RouteCall,
  access: RouteDeps['access'],
  consequences: readonly C[] = [],
): Promise<{ readonly consequences?: C[] }> {
  const visible: C[] = [];
  for (const one of consequences) if (await access.sees(actor, workspaceId, one.type, one.id)) visible.push(one);
  return visible.length > 0 ? { consequences: visible } : {};
}

/**
 * A receipt for a reader who sees only some podcasts of the workspace: without the clients and people, policies and terms behind the command,
 * without resources that the reader does not see, and so without the signature over all of them.
 */
async function partialReceipt(
  call: RouteCall,
  { access }: RouteDeps,
  { jws: _whole, statement, ...receipt }: z.input<typeof receiptSchema>,
): Promise<z.input<typeof receiptSchema>> {
  const { consequences, ...common } = commonStatement.parse(statement);
  return { ...receipt, statement: { ...common, ...(await visibleOf(call, access, consequences)) } };
}

const isOver = ({ state }: OperationView) => state === 'succeeded' || state === 'failed' || state === 'cancelled';

/**
 * An operation whose subject the actor sees, with the consequences that it sees. Throws the `not_found` of an unknown id of this noun for any
 * other.
 */
async function visibleOperation(
  call: RouteCall,
  { access, reader }: RouteDeps,
  id: string,
  asked: { readonly noun: string; readonly id: string },
): Promise<OperationView> {
  const { actor, workspaceId } = call;
  try {
    const operation = await reader.getOperation(workspaceId, id);
    await access.checkOperationSubject(actor, workspaceId, operation.subject);
    if (!operation.consequences || access.seesWorkspace(actor, workspaceId)) return operation;
    const { consequences, ...rest } = operation;
    return { ...rest, ...(await visibleOf(call, access, consequences)) };
  } catch (error) {
    throw isProblem(error, 'not_found') ? notFoundProblem(asked, asked.id) : error;
  }
}

const operationAnswers = {
  200: {
    description: 'The operation.',
    body: { name: 'Operation', schema: operationSchema },
    headers: { 'Retry-After': 'Seconds until asking again is worthwhile; absent when the operation is over.' },
  },
} as const;

/** The answer that shows an operation, and says when to ask again. */
const shown = (operation: OperationView) =>
  json(operation, {
    ...(operation.retry_after_s !== undefined && { headers: { 'Retry-After': String(operation.retry_after_s) } }),
  });

const readOperation: ManagementRoute = {
  operation: 'operation.read',
  method: 'GET',
  path: '/workspaces/{workspace_id}/operations/{operation_id}',
  summary: 'The state of a command’s work.',
  forParties: true,
  scope: 'management:read',
  answers: operationAnswers,
  refusals: ['not_found'],
  answer: async (call, deps) => {
    const id = call.parameter('operation_id');
    return shown(await visibleOperation(call, deps, id, { noun: 'operation', id }));
  },
};

const findQuery = z.strictObject({
  idempotency_key: z.string().min(1).max(256).describe('The key of the command.'),
  command_type: z.string().min(1).max(64).describe('The type of the command: `campaign.activate`.'),
});

const findOperation: ManagementRoute = {
  operation: 'operation.find',
  method: 'GET',
  path: '/workspaces/{workspace_id}/operations',
  summary: 'The operation of a command by its idempotency key.',
  note: 'For a client that lost an answer and has only its key. It finds what the same authenticated client sent.',
  scope: 'management:read',
  query: findQuery,
  answers: operationAnswers,
  refusals: ['not_found'],
  answer: async (call, deps) => {
    const { idempotency_key: key, command_type: commandType } = call.query as z.output<typeof findQuery>;
    const { actor, workspaceId } = call;
    const id = await deps.reader.findOperationId({ clientId: clientIdOf(actor), workspaceId, commandType, key });
    const asked = { noun: 'operation with key', id: key };
    if (id === undefined) throw notFoundProblem(asked, key);
    return shown(await visibleOperation(call, deps, id, asked));
  },
};

/** Time between two looks at the progress of an encoding. */
const progressEveryMs = 1_000;
/** Longest time between two looks of a stream at its operation, which nobody announces when a worker begins. */
const maxQuietMs = 5_000;
/** Shortest time between two looks, however much changes in the workspace. */
const minQuietMs = 500;

/** Sends the operation whenever it has changed, with the progress of an encoding, until it is over. */
function follow(call: RouteCall, deps: RouteDeps, id: string): StreamWork {
  let { actor } = call;
  return {
    check: async () => {
      actor = await call.recheck();
    },
    write: async ({ signal, send, read }) => {
      using watch = deps.changeSignals.watch(call.workspaceId, signal);
      let shown = '';
      let progress: number | undefined;
      for (let quietMs = progressEveryMs; !signal.aborted; quietMs = Math.min(quietMs + progressEveryMs, maxQuietMs)) {
        const readAt = performance.now();
        const asked = { noun: 'operation', id };
        const operation = await read(() =>
          visibleOperation({ ...call, actor }, { ...deps, access: deps.readAccess }, id, asked),
        );
        const text = JSON.stringify(operation);
        if (text !== shown) await send({ event: 'operation', data: operation });
        shown = text;
        if (isOver(operation)) return;
        const { type, id: subjectId } = operation.subject;
        do {
          const tick = type === 'productions' ? await deps.findProgress(subjectId) : undefined;
          if (tick && tick.progress !== progress) await send({ event: 'progress', data: tick });
          progress = tick?.progress;
        } while (!(await watch.next(progressEveryMs)) && performance.now() < readAt + quietMs);
        await sleep(Math.max(0, readAt + minQuietMs - performance.now()), signal);
      }
    },
  };
}

const followOperation: ManagementRoute = {
  operation: 'operation.events',
  method: 'GET',
  path: '/workspaces/{workspace_id}/operations/{operation_id}/events',
  summary: 'The operation as server-sent events, until it is over.',
  note: 'Event `operation` has the operation, at first and after every change; `progress` has `{progress, stage}` of an encoding, from 0 to 1. The stream ends when the operation is over, or with `closed` when the token has ended.',
  scope: 'management:read',
  answers: { 200: { description: 'A stream of events.', mediaType: 'text/event-stream' } },
  refusals: ['not_found', 'rate_limited', 'temporarily_unavailable'],
  answer: async (call, deps) => {
    const id = call.parameter('operation_id');
    await visibleOperation(call, deps, id, { noun: 'operation', id });
    const { workspaceId } = call;
    return deps.eventStreams.open({ clientId: clientIdOf(call.actor), workspaceId }, follow(call, deps, id));
  },
};

/** A receipt that auth-server has, for those who manage members. Throws the `not_found` of an unknown id for any other. */
async function authorityReceipt(
  { actor, workspaceId }: RouteCall,
  { access, getAuthorityReceipt }: RouteDeps,
  id: string,
) {
  if (!access.managesMembers(actor, workspaceId)) throw notFoundProblem({ noun: 'receipt' }, id);
  return json(receiptView(workspaceId, await getAuthorityReceipt(workspaceId, id)));
}

const readReceipt: ManagementRoute = {
  operation: 'receipt.read',
  method: 'GET',
  path: '/workspaces/{workspace_id}/receipts/{receipt_id}',
  summary: 'The proof that a command was accepted; it does not prove that anything was delivered.',
  note: 'Those who manage members read receipts of the chain `authority` too. Who sees only some podcasts of the workspace gets the statement without clients, people, policies, terms and what they do not see, and without the signature.',
  scope: 'management:read',
  answers: { 200: { description: 'The receipt.', body: { name: 'Receipt', schema: receiptSchema } } },
  refusals: ['not_found'],
  answer: async (call, deps) => {
    const id = call.parameter('receipt_id');
    const receipt = await deps.reader.getReceipt(call.workspaceId, id).catch((error: unknown) => {
      if (isProblem(error, 'not_found')) return undefined;
      throw error;
    });
    if (!receipt) return authorityReceipt(call, deps, id);
    await visibleOperation(call, deps, receipt.operationId, { noun: 'receipt', id });
    const whole = receiptView(call.workspaceId, receipt);
    return json(
      deps.access.seesWorkspace(call.actor, call.workspaceId) ? whole : await partialReceipt(call, deps, whole),
    );
  },
};

/** Operations and receipts. */
export const operationRoutes: readonly ManagementRoute[] = [findOperation, readOperation, followOperation, readReceipt];
