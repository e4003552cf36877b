import type { ResourceDefinition } from '@longwave/command-catalog';
import type { DomainEvent } from '@longwave/events';
import { Problem } from '@longwave/problems';
import type { Pool, Transaction } from '@longwave/postgres';
import type { Columns } from './generated/rows.ts';
import type { OperationView } from './command-request.ts';
import { chainStart, receiptHash, type ReceiptStatement, type SignReceipt } from './receipt.ts';
import { linksOf, type LinkName, type ResourceRow, type StoredAttributes } from './resource-row.ts';

type Queryable = Pick<Pool, 'query'> | Transaction;

/** Columns of `resource` as a `ResourceRow` has them. */
export const resourceColumns =
  'id, workspace_id, resource_type, version, lifecycle_state, attributes, digest, operation_id, created_at, updated_at';

export interface IdempotencyScope {
  readonly clientId: string;
  readonly workspaceId: string;
  readonly commandType: string;
  readonly key: string;
}

export type IdempotencyRecord = Readonly<Columns<'idempotency_record', 'digest' | 'status' | 'answer'>>;

/** The record of a key, or undefined when the key is free. */
export async function findIdempotencyRecord(
  db: Queryable,
  scope: IdempotencyScope,
): Promise<IdempotencyRecord | undefined> {
  const { rows } = await db.query<IdempotencyRecord>({
    name: 'find_idempotency_record',
    text: 'select digest, status, answer from idempotency_record where client_id = $1 and workspace_id = $2 and command_type = $3 and key = $4',
    values: [scope.clientId, scope.workspaceId, scope.commandType, scope.key],
  });
  return rows[0];
}

/**
 * Claims a key inside the command's transaction. False when another command holds it; waits for one that still runs,
 * at most `lock_timeout`.
 */
export async function claimKey(
  tx: Transaction,
  scope: IdempotencyScope,
  digest: string,
  operationId: string,
  now: Date,
): Promise<boolean> {
  const { rowCount } = await tx.query({
    name: 'claim_idempotency_key',
    text: `insert into idempotency_record (client_id, workspace_id, command_type, key, digest, operation_id, status, answer, created_at)
           values ($1, $2, $3, $4, $5, $6, 0, '', $7) on conflict do nothing`,
    values: [scope.clientId, scope.workspaceId, scope.commandType, scope.key, digest, operationId, now],
  });
  return rowCount === 1;
}

/** Locks a resource of a workspace for this transaction, or undefined when there is none. */
export async function lockResource<T extends string>(
  tx: Transaction,
  workspaceId: string,
  type: T,
  id: string,
): Promise<ResourceRow<T> | undefined> {
  const { rows } = await tx.query<ResourceRow<T>>({
    name: 'lock_resource',
    text: `select ${resourceColumns} from resource where id = $1 and workspace_id = $2 and resource_type = $3 for update`,
    values: [id, workspaceId, type],
  });
  return rows[0];
}

/**
 * Keeps a resource as it is until this transaction ends; waits for a command on it that still runs. What is read afterwards holds.
 * Answers its state, or undefined when there is none.
 */
export async function holdResource(
  tx: Transaction,
  workspaceId: string,
  type: string,
  id: string,
): Promise<string | undefined> {
  const { rows } = await tx.query<Columns<'resource', 'lifecycle_state'>>({
    name: 'hold_resource',
    text: 'select lifecycle_state from resource where id = $1 and workspace_id = $2 and resource_type = $3 for share',
    values: [id, workspaceId, type],
  });
  return rows[0]?.lifecycle_state;
}

/** A resource of a workspace, or undefined when there is none. */
export async function findResource<T extends string>(
  db: Queryable,
  workspaceId: string,
  type: T,
  id: string,
): Promise<ResourceRow<T> | undefined> {
  const { rows } = await db.query<ResourceRow<T>>({
    name: 'find_resource',
    text: `select ${resourceColumns} from resource where id = $1 and workspace_id = $2 and resource_type = $3`,
    values: [id, workspaceId, type],
  });
  return rows[0];
}

/** A resource of any workspace, or undefined when there is none. Whoever asks checks that it may be seen. */
export async function findAnywhere<T extends string>(
  db: Queryable,
  type: T,
  id: string,
): Promise<ResourceRow<T> | undefined> {
  const { rows } = await db.query<ResourceRow<T>>({
    name: 'find_anywhere',
    text: `select ${resourceColumns} from resource where id = $1 and resource_type = $2`,
    values: [id, type],
  });
  return rows[0];
}

/** The id that a resource's link points at, or undefined when it has no such link. */
export async function findLink(db: Queryable, fromId: string, name: string): Promise<string | undefined> {
  const { rows } = await db.query<Columns<'link', 'to_id'>>({
    name: 'find_link',
    text: 'select to_id from link where from_id = $1 and name = $2',
    values: [fromId, name],
  });
  return rows[0]?.to_id;
}

/** Resources of a type that link to `toId` by the link `name`, oldest first. */
export async function listLinked<T extends string>(
  db: Queryable,
  workspaceId: string,
  type: T,
  name: LinkName<T>,
  toId: string,
): Promise<ResourceRow<T>[]> {
  const { rows } = await db.query<ResourceRow<T>>({
    name: 'list_linked',
    text: `select ${resourceColumns.replace(/\w+/g, 'r.$&')} from link l join resource r on r.id = l.from_id
           where l.to_id = $1 and l.name = $2 and r.workspace_id = $3 and r.resource_type = $4 order by r.created_at, r.id`,
    values: [toId, name, workspaceId, type],
  });
  return rows;
}

/** What a resource was just before an attribute first had this value, or undefined when it never had it or always did. */
export async function findRevisionBefore<T extends string>(
  db: Queryable,
  { id }: Pick<ResourceRow<T>, 'id' | 'resource_type'>,
  attribute: keyof StoredAttributes<T> & string,
  value: string,
): Promise<StoredAttributes<T> | undefined> {
  const { rows } = await db.query<Columns<'revision', 'attributes', { attributes: StoredAttributes<T> }>>({
    name: 'find_revision_before',
    text: `select attributes from revision where resource_id = $1 and version =
             (select min(version) - 1 from revision where resource_id = $1 and attributes ->> $2 = $3)`,
    values: [id, attribute, value],
  });
  return rows[0]?.attributes;
}

/** Resources of a type in one of the states, oldest first. */
export async function listInStates<T extends string>(
  db: Queryable,
  workspaceId: string,
  type: T,
  states: readonly string[],
): Promise<ResourceRow<T>[]> {
  const { rows } = await db.query<ResourceRow<T>>({
    name: 'list_in_states',
    text: `select ${resourceColumns} from resource where workspace_id = $1 and resource_type = $2 and lifecycle_state = any($3) order by created_at, id`,
    values: [workspaceId, type, states],
  });
  return rows;
}

/** Those of the ids that are resources of this type in the workspace. */
export async function listByIds<T extends string>(
  db: Queryable,
  workspaceId: string,
  type: T,
  ids: readonly string[],
): Promise<ResourceRow<T>[]> {
  if (ids.length === 0) return [];
  const { rows } = await db.query<ResourceRow<T>>({
    name: 'list_by_ids',
    text: `select ${resourceColumns} from resource where id = any($1) and workspace_id = $2 and resource_type = $3 order by id`,
    values: [ids, workspaceId, type],
  });
  return rows;
}

/** Throws `link_not_found` unless every linked resource exists in the workspace with the declared type. */
export async function checkLinks(
  tx: Transaction,
  definition: ResourceDefinition,
  row: ResourceRow,
  before: ResourceRow | undefined,
): Promise<void> {
  const old = before ? linksOf(definition, before.attributes) : {};
  const changed = Object.entries(linksOf(definition, row.attributes)).filter(([name, id]) => old[name] !== id);
  if (changed.length === 0) return;
  const { rows } = await tx.query<Columns<'resource', 'id' | 'resource_type'>>({
    name: 'find_linked',
    text: 'select id, resource_type from resource where id = any($1) and workspace_id = $2 for key share',
    values: [changed.map(([, id]) => id), row.workspace_id],
  });
  const types = new Map(rows.map((r) => [r.id, r.resource_type]));
  const errors = changed
    .filter(([name, id]) => types.get(id) !== definition.links[name]!.type)
    .map(([name, id]) => ({
      path: `/changes/${definition.links[name]!.attribute}`,
      code: 'link_not_found',
      detail: `There is no ${definition.links[name]!.type.replaceAll('_', ' ')} resource ${id}.`,
    }));
  if (errors.length > 0) throw new Problem('link_not_found', errors[0]!.detail, { errors });
}

/** Holds the unique values of a living resource; frees them in a terminal state. Throws `value_taken`. */
export async function saveUniqueKeys(tx: Transaction, definition: ResourceDefinition, row: ResourceRow): Promise<void> {
  if (definition.uniqueAttributes.length === 0) return;
  if (definition.terminalStates.includes(row.lifecycle_state)) {
    await tx.query('delete from unique_key where resource_id = $1', [row.id]);
    return;
  }
  for (const attribute of definition.uniqueAttributes) {
    const value = String(row.attributes[attribute]);
    const { rows } = await tx.query<Columns<'unique_key', 'resource_id'>>({
      name: 'hold_unique_key',
      text: `insert into unique_key (resource_type, attribute, value, resource_id) values ($1, $2, $3, $4)
             on conflict (resource_type, attribute, value) do update set resource_id = unique_key.resource_id returning resource_id`,
      values: [row.resource_type, attribute, value, row.id],
    });
    if (rows[0]!.resource_id !== row.id) {
      const detail = `This ${attribute.replaceAll('_', ' ')} is already taken.`;
      throw new Problem('value_taken', detail, {
        errors: [{ path: `/changes/${attribute}`, code: 'value_taken', detail }],
      });
    }
    await tx.query({
      name: 'free_unique_key',
      text: 'delete from unique_key where resource_id = $1 and attribute = $2 and value <> $3',
      values: [row.id, attribute, value],
    });
  }
}

/** Saves a revision, its links and its event in one statement; links that the revision before had and this one lacks end with it. */
export async function saveRevision(
  tx: Transaction,
  definition: ResourceDefinition,
  row: ResourceRow,
  before: ResourceRow | undefined,
  event: DomainEvent,
): Promise<void> {
  const links = linksOf(definition, row.attributes);
  const ended = Object.keys(before ? linksOf(definition, before.attributes) : {}).filter((name) => !(name in links));
  await tx.query({
    name: 'save_revision',
    text: `with head as (
             insert into resource (id, workspace_id, resource_type, version, lifecycle_state, attributes, digest, operation_id, created_at, updated_at)
             values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
             on conflict (id) do update set version = excluded.version, lifecycle_state = excluded.lifecycle_state,
               attributes = excluded.attributes, digest = excluded.digest, operation_id = excluded.operation_id, updated_at = excluded.updated_at
           ), history as (
             insert into revision (resource_id, version, lifecycle_state, attributes, digest, operation_id, created_at)
             values ($1, $4, $5, $6, $7, $8, $10)
           ), linked as (
             insert into link (from_id, name, to_id) select $1, name, to_id from unnest($11::text[], $12::text[]) as l(name, to_id)
             on conflict (from_id, name) do update set to_id = excluded.to_id
           ), unlinked as (
             delete from link where from_id = $1 and name = any($16::text[])
           )
           insert into outbox (key, event_id, type, payload) values ($1, $13, $14, $15)`,
    values: [
      row.id,
      row.workspace_id,
      row.resource_type,
      row.version,
      row.lifecycle_state,
      row.attributes,
      row.digest,
      row.operation_id,
      row.created_at,
      row.updated_at,
      Object.keys(links),
      Object.values(links),
      event.id,
      event.type,
      event,
      ended,
    ],
  });
}

/** The next receipt of a workspace, signed. The chain's row is locked until commit: call it last. */
async function nextReceipt(
  tx: Transaction,
  statement: Omit<ReceiptStatement, 'chain'>,
  sign: SignReceipt,
): Promise<{ readonly seq: number; readonly jws: string }> {
  const { rows } = await tx.query<Columns<'receipt_chain', 'seq' | 'head'>>({
    name: 'lock_receipt_chain',
    text: `insert into receipt_chain (workspace_id, seq, head) values ($1, 1, $2)
           on conflict (workspace_id) do update set seq = receipt_chain.seq + 1 returning seq, head`,
    values: [statement.workspace_id, chainStart],
  });
  const { seq, head } = rows[0]!;
  return { seq, jws: await sign({ ...statement, chain: { seq, prev: head } }) };
}

/** Records the operation, its chained receipt and the first answer. The workspace's chain row is locked until commit: call it last. */
export async function saveOperation(
  tx: Transaction,
  operation: OperationView,
  scope: IdempotencyScope,
  statement: Omit<ReceiptStatement, 'chain'>,
  answer: { readonly status: number; readonly text: string },
  sign: SignReceipt,
): Promise<void> {
  const { seq, jws } = await nextReceipt(tx, statement, sign);
  await tx.query({
    name: 'save_operation',
    text: `with chained as (update receipt_chain set head = $14 where workspace_id = $2),
           proof as (insert into receipt (id, workspace_id, seq, operation_id, jws) values ($9, $2, $12, $1, $13)),
           answered as (
             update idempotency_record set status = $15, answer = $16
             where client_id = $3 and workspace_id = $2 and command_type = $4 and key = $17
           )
           insert into operation (id, workspace_id, client_id, command_type, state, subject_type, subject_id, subject_version, receipt_id, created_at, updated_at, review_task_id, consequences)
           values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $18, $19)`,
    values: [
      operation.id,
      operation.workspace_id,
      scope.clientId,
      operation.command_type,
      operation.state,
      operation.subject.type,
      operation.subject.id,
      operation.subject.version,
      operation.receipt_id,
      operation.created_at,
      operation.updated_at,
      seq,
      jws,
      receiptHash(jws),
      answer.status,
      answer.text,
      scope.key,
      operation.review_task_id,
      operation.consequences && JSON.stringify(operation.consequences),
    ],
  });
}

/** Adds a receipt to an operation that has one already. The workspace's chain row is locked until commit: call it last. */
export async function saveReceipt(
  tx: Transaction,
  statement: Omit<ReceiptStatement, 'chain'>,
  sign: SignReceipt,
): Promise<void> {
  const { seq, jws } = await nextReceipt(tx, statement, sign);
  await tx.query({
    name: 'save_receipt',
    text: `with chained as (update receipt_chain set head = $6 where workspace_id = $2)
           insert into receipt (id, workspace_id, operation_id, seq, jws) values ($1, $2, $3, $4, $5)`,
    values: [statement.id, statement.workspace_id, statement.operation_id, seq, jws, receiptHash(jws)],
  });
}

/** Ends the running operation of a subject when its worker reports back. */
export async function settleOperation(
  tx: Transaction,
  subjectId: string,
  settled: {
    readonly state: 'succeeded' | 'failed' | 'cancelled';
    /** Only operations of these commands; undefined: of any. */
    readonly of: readonly string[] | undefined;
    readonly version: number;
    readonly problem: unknown;
    readonly now: Date;
  },
): Promise<void> {
  await tx.query({
    name: 'settle_operation',
    text: `update operation set state = $2, subject_version = $3, problem = $4, updated_at = $5
           where subject_id = $1 and state = 'running' and ($6::text[] is null or command_type = any($6))`,
    values: [subjectId, settled.state, settled.version, settled.problem ?? null, settled.now, settled.of ?? null],
  });
}
