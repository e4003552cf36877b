import type { Catalog, CommandDefinition, ResourceDefinition } from '@longwave/command-catalog';
import type { DomainEvent } from '@longwave/events';
import { newId } from '@longwave/ids';
import { transaction, type Pool, type Transaction } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import { checkPermission, checkVersion, parseRequest, type ParsedRequest } from './check-request.ts';
import {
  clientIdOf,
  type Actor,
  type CommandOutcome,
  type CommandRequest,
  type OperationView,
} from './command-request.ts';
import type { CommandRule, Decision, Rule, Rules } from './command-rule.ts';
import type { SignReceipt } from './receipt.ts';
import { resourceView, revisionDigest, type ResourceRow } from './resource-row.ts';
import {
  checkLinks,
  claimKey,
  findIdempotencyRecord,
  findResource,
  lockResource,
  saveOperation,
  saveRevision,
  saveUniqueKeys,
  settleOperation,
  type IdempotencyScope,
} from './versioned-store.ts';

type Attributes = Record<string, unknown>;
type AnyRule = CommandRule<Attributes, Attributes>;

/** Executes one command; everything it changes is committed, or nothing. Throws a `Problem` when it is refused. */
export type ExecuteCommand = (request: CommandRequest, actor: Actor) => Promise<CommandOutcome>;

export interface ExecutorOptions<K extends Catalog> {
  readonly pool: Pool;
  readonly catalog: K;
  readonly rules: Rules<K>;
  readonly signReceipt: SignReceipt;
  readonly clock: () => Date;
  /** Told after each commit of a new command; wakes the relay and workers. */
  readonly onCommitted?: (definition: CommandDefinition) => void;
}

interface Step {
  readonly definition: CommandDefinition;
  readonly resource: ResourceDefinition;
  readonly request: CommandRequest;
  readonly parsed: ParsedRequest;
  readonly actor: Actor;
  readonly scope: IdempotencyScope;
  readonly subjectId: string;
  readonly rule: Rule<Attributes, Attributes>;
}

const unruled: Rule<Attributes, Attributes> = ({ current, changes: { cause: _cause, ...changes } }) => ({
  attributes: { ...current, ...changes },
});

const absent = ({ noun }: ResourceDefinition, id: string) =>
  new Problem('not_found', `There is no ${noun.replaceAll('_', ' ')} ${id.slice(0, 64)}.`);

/** Throws unless the caller saw this version and the command may start from this state. */
function checkSubject({ definition, resource, request, parsed }: Omit<Step, 'rule'>, current: ResourceRow): void {
  const { version } = request.subject;
  checkVersion(definition, { version, ifMatch: parsed.ifMatch }, { ...current, type: resource.type });
  if (definition.from?.includes(current.lifecycle_state)) return;
  const detail = `${definition.type} is not possible while the ${resource.noun.replaceAll('_', ' ')} is ${current.lifecycle_state}.`;
  throw new Problem('state_not_allowed', detail, {
    subject: { type: resource.type, id: current.id, version: current.version },
  });
}

/** The next state: the catalog's, or the rule's choice among the catalog's. */
function nextState(definition: CommandDefinition, decision: Decision<Attributes>, current: string): string {
  const { to } = definition;
  if (to === null) return current;
  if (typeof to === 'string') return to;
  if (decision.state === undefined || !to.includes(decision.state))
    throw new Error(`${definition.type}: undeclared state`);
  return decision.state;
}

/** Keeps why something is in its state: the cause that its command names. A state that was entered without a cause has none. */
function withStateReason(
  { attributes: { shape } }: ResourceDefinition,
  attributes: Attributes,
  cause: unknown,
  isNewState: boolean,
): Attributes {
  if (!('state_reason' in shape) || (cause === undefined && !isNewState)) return attributes;
  const { state_reason: _before, ...kept } = attributes;
  return cause === undefined ? kept : { ...kept, state_reason: cause };
}

/** The command pipeline over one schema (design: craft.md "One command, end to end"). */
export function createCommandExecutor<K extends Catalog>(options: ExecutorOptions<K>): ExecuteCommand {
  const { pool, clock, signReceipt } = options;
  const rules = options.rules as unknown as Readonly<Record<string, AnyRule | undefined>>;

  /** Answers a used key: the original answer, or a conflict. */
  async function replay(step: Omit<Step, 'rule'>): Promise<CommandOutcome | undefined> {
    const record = await findIdempotencyRecord(pool, step.scope);
    if (!record) return undefined;
    const operation = JSON.parse(record.answer) as OperationView;
    if (record.digest !== step.parsed.payloadDigest)
      throw new Problem('idempotency_conflict', 'This key already names another payload.', {
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

  async function prepare(step: Omit<Step, 'rule'>, rule: AnyRule | undefined): Promise<Rule<Attributes, Attributes>> {
    if (rule === undefined) return unruled;
    if (typeof rule === 'function') return rule;
    const { workspaceId } = step.request;
    const row =
      step.definition.from === null
        ? undefined
        : await findResource(pool, workspaceId, step.resource.type, step.subjectId);
    if (step.definition.from !== null) {
      if (!row) throw absent(step.resource, step.subjectId);
      // The fixed order of checks: a stale version or a wrong state is refused before anyone outside is asked.
      checkSubject(step, row);
    }
    return rule.prepare({
      workspaceId,
      subjectId: step.subjectId,
      current: row?.attributes,
      state: row?.lifecycle_state,
      actor: step.actor,
      changes: step.parsed.changes,
      deadline: step.request.deadline,
    });
  }

  async function lockSubject(tx: Transaction, step: Step): Promise<ResourceRow | undefined> {
    const { definition, resource, request, subjectId } = step;
    if (definition.from === null && request.subject.id === null) return undefined;
    const current = await lockResource(tx, request.workspaceId, resource.type, subjectId);
    if (definition.from === null) {
      if (current)
        throw new Problem('value_taken', `The ${resource.noun.replaceAll('_', ' ')} ${subjectId} exists already.`);
      return undefined;
    }
    if (!current) throw absent(resource, subjectId);
    checkSubject(step, current);
    return current;
  }

  async function accept(tx: Transaction, step: Step): Promise<CommandOutcome> {
    const { definition, resource, request, parsed, actor, scope, subjectId } = step;
    const now = clock();
    const operationId = newId('op');
    if (!(await claimKey(tx, scope, parsed.payloadDigest, operationId, now))) throw new KeyTaken();
    checkPermission(definition, actor);
    const current = await lockSubject(tx, step);
    const decision = await step.rule({
      tx,
      workspaceId: request.workspaceId,
      subjectId,
      current: current?.attributes ?? {},
      state: current?.lifecycle_state ?? '',
      actor,
      changes: parsed.changes,
      reason: parsed.reason,
      now,
    });
    const state = nextState(definition, decision, current?.lifecycle_state ?? '');
    const isNewState = state !== current?.lifecycle_state;
    const attributes = withStateReason(resource, decision.attributes, parsed.changes['cause'], isNewState);
    const draft = {
      id: subjectId,
      workspace_id: request.workspaceId,
      resource_type: resource.type,
      version: (current?.version ?? 0) + 1,
      lifecycle_state: state,
      attributes: resource.attributes.parse(attributes) as Attributes,
      operation_id: operationId,
      created_at: current?.created_at ?? now,
      updated_at: now,
    };
    const row: ResourceRow = { ...draft, digest: revisionDigest(draft) };
    const view = resourceView(resource, row);
    const event: DomainEvent = {
      id: newId('evt'),
      type: definition.event,
      workspace_id: row.workspace_id,
      subject: { type: resource.type, id: row.id, version: row.version },
      operation_id: operationId,
      occurred_at: now.toISOString(),
      after: view,
    };
    await checkLinks(tx, resource, row, current);
    await saveRevision(tx, resource, row, current, event);
    await saveUniqueKeys(tx, resource, row);
    await decision.also?.(tx, { operationId, version: row.version });
    if (definition.settles)
      await settleOperation(tx, subjectId, {
        state: definition.settles,
        of: definition.settlesOf,
        version: row.version,
        problem: parsed.changes['problem'],
        now,
      });
    const running = definition.mode === 'async';
    const operation: OperationView = {
      id: operationId,
      workspace_id: row.workspace_id,
      command_type: definition.type,
      state: running ? 'running' : 'succeeded',
      subject: event.subject,
      receipt_id: newId('rcp'),
      next_safe_action: running ? 'poll' : 'read_subject',
      created_at: now.toISOString(),
      updated_at: now.toISOString(),
    };
    const status = running ? 202 : 200;
    const operationJson = JSON.stringify(operation);
    await saveOperation(
      tx,
      operation,
      scope,
      {
        id: operation.receipt_id,
        workspace_id: row.workspace_id,
        kind: 'command',
        operation_id: operationId,
        command_type: definition.type,
        subject: {
          type: resource.type,
          id: row.id,
          version_before: row.version - 1,
          version_after: row.version,
          digest_after: row.digest,
        },
        payload_digest: parsed.payloadDigest,
        client_id: scope.clientId,
        accepted_at: now.toISOString(),
        proves: 'acceptance',
      },
      { status, text: operationJson },
      signReceipt,
    );
    return { operationJson, resource: view, status, replayed: false };
  }

  return async (request, actor) => {
    const isForeign = actor.kind === 'principal' && actor.principal.workspace_id !== request.workspaceId;
    if (isForeign && actor.roles === undefined) throw new Problem('not_found', 'There is no such workspace.');
    const definition = Object.hasOwn(options.catalog.commands, request.commandType)
      ? options.catalog.commands[request.commandType]
      : undefined;
    if (!definition) throw new Problem('unknown_command', `There is no command ${request.commandType.slice(0, 64)}.`);
    const resource = options.catalog.resources[definition.subject]!;
    if (definition.from === null && request.subject.id !== null && actor.kind === 'principal')
      throw new Problem('validation_failed', 'The id of a new resource is chosen by the service.', {
        errors: [{ path: '/subject/id', code: 'not_null', detail: 'Leave the id null.' }],
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
      request,
      parsed,
      actor,
      scope,
      subjectId: request.subject.id ?? newId(resource.prefix),
    };
    const rule = rules[definition.type];
    if (typeof rule === 'object') {
      const original = await replay(step);
      if (original) return original;
      checkPermission(definition, actor);
    }
    let prepared: Rule<Attributes, Attributes>;
    try {
      prepared = await prepare(step, rule);
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
      const outcome = await transaction(pool, (tx) => accept(tx, ready));
      options.onCommitted?.(definition);
      return outcome;
    } catch (error) {
      if (error instanceof KeyTaken) {
        const original = await replay(step);
        if (original) return original;
      }
      throw isLockTimeout(error) || error instanceof KeyTaken
        ? new Problem('idempotency_in_progress', 'Another command on this key or subject still runs. Try again.', {
            retryAfterSeconds: 1,
            cause: error,
          })
        : error;
    }
  };
}

/** The key is held by a committed command; never leaves this file. */
class KeyTaken extends Error {}

/** PostgreSQL `lock_not_available`: the wait for a row or key was longer than `lock_timeout`. */
function isLockTimeout(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === '55P03';
}
