import { operations, type Catalog, type CommandDefinition, type ResourceDefinition } from '@longwave/command-catalog';
import { findReplay, inProgressProblem } from '@longwave/idempotency';
import { newId } from '@longwave/ids';
import { isLockFailure, transaction, type Pool, type Transaction } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import { acceptCommand, IdempotencyKeyTaken } from './accept-command.ts';
import type { AcceptDeps, CheckRequester, CheckWorkspace, CommandContext } from './command-context.ts';
import type { DecideReview } from './decide-review.ts';
import { acceptCancellation, isAboutOperation, prepareCancellation } from './cancel-operation.ts';
import { parseRequest, permissionProblem } from './check-request.ts';
import {
  clientIdOf,
  type Actor,
  type CommandOutcome,
  type CommandRequest,
  type ExecuteCommand,
} from './command-request.ts';
import { findOperation, operationRow } from '../store/cancel-table.ts';
import type { OperationView } from '../store/operation.ts';
import type { Rules } from './command-rule.ts';
import { measureCommands } from './measure-commands.ts';
import { prepareRule, ruleOf } from './prepare-rule.ts';
import { withFreshPreparation } from './stale-preparation.ts';
import type { SignReceipt } from '../store/receipt.ts';
import { resourceView } from '../store/resource-row.ts';
import { findIdempotencyRecords, type IdempotencyRecord } from '../store/idempotency-table.ts';
import { findResource } from '../read/find-resources.ts';

export interface ExecutorOptions<K extends Catalog> {
  readonly pool: Pool;
  readonly catalog: K;
  readonly rules: Rules<K>;
  readonly signReceipt: SignReceipt;
  readonly clock: () => Date;
  /** Decides about reviews; a catalog whose commands declare any needs it. */
  readonly decideReview?: DecideReview;
  /** Refuses approved commands whose requester may no longer send them. */
  readonly checkRequester?: CheckRequester;
  /** Refuses commands that a workspace in its present state does not take. */
  readonly checkWorkspace?: CheckWorkspace;
  /** Called after each commit of a new command; wakes the relay and workers. */
  readonly onCommitted?: (definition: CommandDefinition, subjectId: string) => void;
}

/** Makes the pipeline that executes the commands of one catalog over one schema (docs/ARCHITECTURE.md, "The life of one command"). */
export function createCommandExecutor<K extends Catalog>(options: ExecutorOptions<K>): ExecuteCommand {
  const { pool, catalog, clock } = options;
  return measureCommands(catalog, async (request, actor, subject) => {
    const context = parseCommand(catalog, request, actor);
    const { definition } = context;
    const rule = ruleOf(options.rules, definition.type);
    const denial = request.refusal ?? permissionProblem(definition, actor, request.workspaceId);
    // A used key gets its first answer, whatever has changed since. A rule without `prepare` needs no look-up: claiming the key in the
    // transaction finds the record.
    if (denial || typeof rule === 'object') {
      const original = await replay(pool, context);
      if (original) return original;
    }
    if (denial) throw denial;
    const outcome = await withFreshPreparation(async (repeat) => {
      let accept: Accept;
      try {
        accept = isAboutOperation(definition)
          ? cancellation(context, await prepareCancellation(options, context))
          : acceptance({ ...context, rule: await prepareRule(pool, context, rule, repeat > 0 ? undefined : subject) });
      } catch (error) {
        // Another request with this key may have been accepted meanwhile: then its answer counts, not the state that it left.
        const original = await replay(pool, context);
        if (original) return original;
        throw error;
      }
      if (request.deadline && request.deadline <= clock())
        throw new Problem('timeout', undefined, { retryAfterSeconds: 1 });
      return commit(options, context, accept);
    });
    if (!outcome.replayed) options.onCommitted?.(definition, context.subjectId);
    return outcome;
  });
}

/** Accepts a prepared command inside its transaction. */
type Accept = (tx: Transaction, deps: AcceptDeps) => Promise<CommandOutcome>;

const acceptance =
  (context: CommandContext): Accept =>
  (tx, deps) =>
    acceptCommand(tx, context, deps);

const cancellation =
  (context: Omit<CommandContext, 'rule'>, ending: CommandContext | undefined): Accept =>
  (tx, deps) =>
    acceptCancellation(tx, context, ending, deps);

/** Checks everything about a request that needs no store. Throws `unknown_command`, or what `parseRequest` throws. */
function parseCommand(
  { commands, resources }: Catalog,
  request: CommandRequest,
  actor: Actor,
): Omit<CommandContext, 'rule'> {
  const { commandType, workspaceId, subject } = request;
  const definition = Object.hasOwn(commands, commandType) ? commands[commandType] : undefined;
  if (!definition) throw new Problem('unknown_command', `There is no command ${commandType.slice(0, 64)}.`);
  const resource: ResourceDefinition = isAboutOperation(definition) ? operations : resources[definition.subject]!;
  if (definition.from === null && subject.id !== null && actor.kind === 'principal')
    throw new Problem('validation_failed', 'The id of a new resource is chosen by the service.', {
      errors: [{ path: '/subject/id', code: 'not_null', detail: 'Send the id as null; the service chooses it.' }],
    });
  return {
    definition,
    resource,
    resources,
    request,
    parsed: parseRequest(definition, request),
    actor,
    scope: {
      clientId: clientIdOf(actor),
      workspaceId,
      commandType: definition.type,
      key: request.idempotencyKey,
    },
    subjectId: subject.id ?? newId(resource.prefix),
  };
}

/** The problem for a used key whose content was other; it names the original operation and its receipt. */
function conflict({ parsed }: Pick<CommandContext, 'parsed'>, record: IdempotencyRecord): Problem {
  const { receipt_id: receiptId } = JSON.parse(record.answer) as OperationView;
  const original = { operationId: record.operation_id, receiptId };
  return record.unversioned_digest === parsed.unversionedDigest
    ? new Problem('idempotency_key_spent', 'This key named another version of the subject. Send a new key.', original)
    : new Problem('idempotency_conflict', 'This idempotency key was already used with other content.', original);
}

/**
 * The first answer to a used key; undefined when the key is free. Throws `idempotency_conflict` or `idempotency_key_spent` for
 * other content.
 */
async function replay(pool: Pool, context: Omit<CommandContext, 'rule'>): Promise<CommandOutcome | undefined> {
  const { scope, parsed, request, resource } = context;
  const records = await findIdempotencyRecords(pool, scope);
  const record = findReplay(records, parsed.payloadDigest, (used) => conflict(context, used));
  if (!record) return undefined;
  const { subject } = JSON.parse(record.answer) as OperationView;
  const row = isAboutOperation(context.definition)
    ? operationRow((await findOperation(pool, request.workspaceId, subject.id))!)
    : await findResource(pool, request.workspaceId, resource.type, subject.id);
  return {
    operationJson: record.answer,
    resource: row && resourceView(resource, row),
    status: record.status,
    replayed: true,
  };
}

/** Accepts the command in one transaction, or replays the answer to another request that took its key first. */
async function commit(
  { pool, clock, signReceipt, catalog, decideReview, checkWorkspace }: Omit<ExecutorOptions<Catalog>, 'rules'>,
  context: Omit<CommandContext, 'rule'>,
  accept: Accept,
): Promise<CommandOutcome> {
  try {
    return await transaction(pool, (tx) =>
      accept(tx, {
        ...{ now: clock(), signReceipt, reviewTasks: catalog.resources['review_tasks'], decideReview, checkWorkspace },
      }),
    );
  } catch (error) {
    const isTaken = error instanceof IdempotencyKeyTaken;
    const original = isTaken ? await replay(pool, context) : undefined;
    if (original) return original;
    if (!isTaken && !isLockFailure(error)) throw error;
    throw inProgressProblem('Another command on this resource or idempotency key is still running. Try again.', error);
  }
}
