import type { Catalog, CommandDefinition, ResourceDefinition } from '@longwave/command-catalog';
import { newId } from '@longwave/ids';
import { transaction, type Pool } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import { acceptCommand, IdempotencyKeyTaken, type Attributes, type CommandContext } from './accept-command.ts';
import { parseRequest, permissionProblem } from './check-request.ts';
import { clientIdOf, type CommandOutcome, type ExecuteCommand } from './command-request.ts';
import type { OperationView } from '../store/operation.ts';
import type { Rule, Rules } from './command-rule.ts';
import { measureCommands } from './measure-commands.ts';
import { prepareRule, ruleOf } from './prepare-rule.ts';
import type { SignReceipt } from '../store/receipt.ts';
import { resourceView } from '../store/resource-row.ts';
import { findIdempotencyRecord } from '../store/idempotency-table.ts';
import { findResource } from '../read/find-resources.ts';

export interface ExecutorOptions<K extends Catalog> {
  readonly pool: Pool;
  readonly catalog: K;
  readonly rules: Rules<K>;
  readonly signReceipt: SignReceipt;
  readonly clock: () => Date;
  /** Told after each commit of a new command; wakes the relay and workers. */
  readonly onCommitted?: (definition: CommandDefinition) => void;
}

/** The command pipeline over one schema (design: craft.md "One command, end to end"). */
export function createCommandExecutor<K extends Catalog>(options: ExecutorOptions<K>): ExecuteCommand {
  const { pool, clock, signReceipt } = options;
  const reviewTasks: ResourceDefinition | undefined = options.catalog.resources['review_tasks'];

  /** Answers a used key: the original answer, or a conflict. */
  async function replay(step: Omit<CommandContext, 'rule'>): Promise<CommandOutcome | undefined> {
    const record = await findIdempotencyRecord(pool, step.scope);
    if (!record) return undefined;
    const operation = JSON.parse(record.answer) as OperationView;
    if (record.digest !== step.parsed.payloadDigest)
      throw new Problem('idempotency_conflict', 'This idempotency key was already used with other content.', {
        operationId: operation.id,
      });
    const row = await findResource(pool, step.request.workspaceId, step.resource.type, operation.subject.id);
    return {
      operationJson: record.answer,
      resource: resourceView(step.resource, row!),
      status: record.status,
      replayed: true,
    };
  }

  return measureCommands(options.catalog, async (request, actor, subject) => {
    const definition = Object.hasOwn(options.catalog.commands, request.commandType)
      ? options.catalog.commands[request.commandType]
      : undefined;
    if (!definition) throw new Problem('unknown_command', `There is no command ${request.commandType.slice(0, 64)}.`);
    const resource = options.catalog.resources[definition.subject]!;
    if (definition.from === null && request.subject.id !== null && actor.kind === 'principal')
      throw new Problem('validation_failed', 'The id of a new resource is chosen by the service.', {
        errors: [{ path: '/subject/id', code: 'not_null', detail: 'Send the id as null; the service chooses it.' }],
      });
    const parsed = parseRequest(definition, request);
    const scope = {
      clientId: clientIdOf(actor),
      workspaceId: request.workspaceId,
      commandType: definition.type,
      key: request.idempotencyKey,
    };
    const step = {
      definition,
      resource,
      resources: options.catalog.resources,
      request,
      parsed,
      actor,
      scope,
      subjectId: request.subject.id ?? newId(resource.prefix),
    };
    const rule = ruleOf(options.rules, definition.type);
    const denial = permissionProblem(definition, actor, request.workspaceId);
    // A key that was used is answered as it was, before anything else counts. Unless something is asked outside first, claiming the
    // key in the transaction finds that out.
    if (denial || typeof rule === 'object') {
      const original = await replay(step);
      if (original) return original;
    }
    if (denial) throw denial;
    let prepared: Rule<Attributes, Attributes>;
    try {
      prepared = await prepareRule(pool, step, rule, subject);
    } catch (error) {
      // The first request with this key may have been accepted meanwhile: then its answer counts, not what it left behind.
      const original = await replay(step);
      if (original) return original;
      throw error;
    }
    const ready = { ...step, rule: prepared };
    if (request.deadline && request.deadline <= clock())
      throw new Problem('timeout', undefined, { retryAfterSeconds: 1 });
    try {
      const outcome = await transaction(pool, (tx) =>
        acceptCommand(tx, ready, { now: clock(), signReceipt, reviewTasks }),
      );
      options.onCommitted?.(definition);
      return outcome;
    } catch (error) {
      if (error instanceof IdempotencyKeyTaken) {
        const original = await replay(step);
        if (original) return original;
      }
      throw isLockFailure(error) || error instanceof IdempotencyKeyTaken
        ? new Problem(
            'idempotency_in_progress',
            'Another command on this resource or idempotency key is still running. Try again.',
            {
              retryAfterSeconds: 1,
              cause: error,
            },
          )
        : error;
    }
  });
}

/** PostgreSQL's `lock_not_available` (the wait for a row or key was longer than `lock_timeout`) and `deadlock_detected`. */
const lockFailures: readonly unknown[] = ['55P03', '40P01'];

const isLockFailure = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && 'code' in error && lockFailures.includes(error.code);
