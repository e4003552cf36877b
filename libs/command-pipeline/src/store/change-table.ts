import type { Transaction } from '@longwave/postgres';
import type { Columns } from '../generated/rows.ts';
import { chainStart } from '../receipts/chain.ts';

/** A revision of the present transaction, as the workspace's changes list it. */
export interface RevisionChange {
  readonly resourceType: string;
  readonly resourceId: string;
  readonly version: number;
  /** Type of the event about it. */
  readonly event: string;
}

/**
 * The part of a receipt's statement that saves the changes of its transaction, as a common table expression.
 * @param at the parameters of the statement that hold workspace, place in the chain, operation and time; `columns` is the first of the
 *   four that `changeColumns` gives
 */
export const insertChanges = (at: {
  readonly workspaceId: string;
  readonly seq: string;
  readonly operationId: string;
  readonly occurredAt: string;
  readonly columns: number;
}): string => `changed as (
    insert into change (workspace_id, seq, position, kind, resource_type, resource_id, version, event_type, operation_id, occurred_at)
    select ${at.workspaceId}, ${at.seq}, c.place - 1, 'revision', c.resource_type, c.resource_id, c.version, c.event_type, ${at.operationId}, ${at.occurredAt}
    from unnest($${at.columns}::text[], $${at.columns + 1}::text[], $${at.columns + 2}::int[], $${at.columns + 3}::text[])
      with ordinality as c(resource_type, resource_id, version, event_type, place)
  )`;

/** The columns of changes, for `insertChanges`. */
export const changeColumns = (changes: readonly RevisionChange[]): readonly (readonly (string | number)[])[] => [
  changes.map(({ resourceType }) => resourceType),
  changes.map(({ resourceId }) => resourceId),
  changes.map(({ version }) => version),
  changes.map(({ event }) => event),
];

/** Something that a workspace must know and that no revision says. */
export interface Notice {
  readonly workspaceId: string;
  /** The resource that it is about. */
  readonly subject: { readonly type: string; readonly id: string };
  /** `noun.participle`, as of events: "webhook_endpoint.disabled". */
  readonly type: string;
  readonly detail?: Readonly<Record<string, unknown>>;
  readonly now: Date;
}

/**
 * Adds a notice to the workspace's changes. Locks the workspace's chain until commit, as each command does: call it last, and outside
 * transactions that execute a command.
 */
export async function insertNotice(
  tx: Transaction,
  { workspaceId, subject, type, detail, now }: Notice,
): Promise<void> {
  const { rows } = await tx.query<Columns<'receipt_chain', 'seq'>>({
    name: 'hold_receipt_chain',
    text: `insert into receipt_chain (workspace_id, seq, head) values ($1, 0, $2)
           on conflict (workspace_id) do update set seq = receipt_chain.seq returning seq`,
    values: [workspaceId, chainStart],
  });
  await tx.query({
    name: 'insert_notice',
    text: `insert into change (workspace_id, seq, position, kind, resource_type, resource_id, event_type, detail, occurred_at)
           select $1, $2, coalesce(max(position) + 1, 0), 'notice', $3, $4, $5, $6, $7 from change where workspace_id = $1 and seq = $2`,
    values: [workspaceId, rows[0]!.seq, subject.type, subject.id, type, detail ?? null, now],
  });
}
