import { keepTalking, type Pool, type Transaction } from '@longwave/postgres';
import type { Columns } from '../generated/rows.ts';

export interface Stream {
  readonly authorityId: string;
  readonly isQuarantined: boolean;
  /** Whether an operator holds it: then only an operator opens it. */
  readonly isHeldByOperator: boolean;
  /** Equivocations before this time do not count any more. */
  readonly reopenedAt: Date | undefined;
}

type StreamRow = Columns<'stream', 'authority_id' | 'state' | 'held_by' | 'reopened_at'>;

const toStream = ({ authority_id, state, held_by, reopened_at }: StreamRow): Stream => ({
  authorityId: authority_id,
  isQuarantined: state === 'quarantined',
  isHeldByOperator: held_by === 'operator',
  reopenedAt: reopened_at ?? undefined,
});

/**
 * Holds an authority and one of its streams for the rest of the transaction, also where the stream does not exist yet: messages about one
 * subject may come in several streams, and each must see what the others brought.
 */
export async function lockStream(
  tx: Transaction,
  authorityId: string,
  workspaceId: string,
  streamId: string,
): Promise<Stream | undefined> {
  await tx.query({
    name: 'lock_authority',
    text: `select pg_advisory_xact_lock(hashtextextended($1, 7)), pg_advisory_xact_lock(hashtextextended($2, 8))`,
    values: [authorityId, `${workspaceId}/${streamId}`],
  });
  const { rows } = await tx.query<StreamRow>({
    name: 'lock_stream',
    text: `select authority_id, state, held_by, reopened_at from stream where workspace_id = $1 and stream_id = $2 for update`,
    values: [workspaceId, streamId],
  });
  return rows[0] && toStream(rows[0]);
}

/**
 * Runs work on a stream while no other process does such work on it. Throws a lock failure when another one does for more than 2 s.
 * @param locks a pool of its own, whose sessions end when they are silent: a connection is held for as long as the work takes, and the
 *   work needs others
 */
export async function aloneOnStream<T>(
  locks: Pool,
  { workspaceId, streamId }: { readonly workspaceId: string; readonly streamId: string },
  work: () => Promise<T>,
): Promise<T> {
  const client = await locks.connect();
  let isKept = false;
  try {
    const key = `${workspaceId}/${streamId}`;
    await client.query({
      name: 'lock_settling',
      text: `select pg_advisory_lock(hashtextextended($1, 9))`,
      values: [key],
    });
    const result = await keepTalking(client, work);
    await client.query({
      name: 'unlock_settling',
      text: `select pg_advisory_unlock(hashtextextended($1, 9))`,
      values: [key],
    });
    isKept = true;
    return result;
  } finally {
    // A connection that is closed gives its lock back.
    client.release(!isKept);
  }
}

export async function insertStream(
  tx: Transaction,
  stream: { readonly workspaceId: string; readonly streamId: string; readonly authorityId: string },
): Promise<void> {
  await tx.query({
    name: 'insert_stream',
    text: `insert into stream (workspace_id, stream_id, authority_id, state) values ($1, $2, $3, 'open')`,
    values: [stream.workspaceId, stream.streamId, stream.authorityId],
  });
}

/** Holds a stream back: only duplicates are answered until it is opened again. */
export async function quarantineStream(
  tx: Transaction,
  stream: { readonly workspaceId: string; readonly streamId: string },
  reason: string,
  now: Date,
): Promise<void> {
  await tx.query({
    name: 'quarantine_stream',
    text: `update stream set state = 'quarantined', state_reason = $3, quarantined_at = $4
           where workspace_id = $1 and stream_id = $2 and state = 'open'`,
    values: [stream.workspaceId, stream.streamId, reason, now],
  });
}

/** Holds a stream back for an operator, also one that is held already; answers whether there is one. */
export async function holdStream(
  tx: Transaction,
  stream: { readonly workspaceId: string; readonly streamId: string },
  reason: string,
  now: Date,
): Promise<boolean> {
  const { rowCount } = await tx.query({
    name: 'hold_stream',
    text: `update stream set state = 'quarantined', state_reason = $3, quarantined_at = $4, held_by = 'operator'
           where workspace_id = $1 and stream_id = $2`,
    values: [stream.workspaceId, stream.streamId, reason, now],
  });
  return rowCount === 1;
}

/** Whether a stream is held. */
export async function isHeld(
  tx: Transaction,
  stream: { readonly workspaceId: string; readonly streamId: string },
): Promise<boolean> {
  const { rowCount } = await tx.query({
    name: 'is_held',
    text: `select from stream where workspace_id = $1 and stream_id = $2 and state = 'quarantined'`,
    values: [stream.workspaceId, stream.streamId],
  });
  return rowCount === 1;
}

/**
 * Opens a stream again at its head; answers whether it does.
 * @param by the authority that has changed its key, which ends holds that began before its rotation came; or an operator, who alone ends the
 *   hold of an operator
 */
export async function reopenStream(
  tx: Transaction,
  stream: { readonly workspaceId: string; readonly streamId: string },
  by: { readonly authorityId: string; readonly cameAt: Date } | { readonly operatorReason: string },
  now: Date,
): Promise<boolean> {
  const isOperator = 'operatorReason' in by;
  const { rowCount } = await tx.query({
    name: 'reopen_stream',
    text: `update stream set state = 'open', state_reason = null, quarantined_at = null, held_by = null, reopened_at = $4,
             reopened_by = $3
           where workspace_id = $1 and stream_id = $2 and state = 'quarantined'
             and ($5 or (held_by is null and quarantined_at <= $6))`,
    values: [
      ...[stream.workspaceId, stream.streamId, isOperator ? `operator: ${by.operatorReason}` : by.authorityId, now],
      ...[isOperator, isOperator ? now : by.cameAt],
    ],
  });
  return rowCount === 1;
}

/** Holds the open streams back whose newest message a key has signed; answers their names. */
export async function quarantineSignedBy(
  tx: Transaction,
  key: { readonly id: string; readonly workspaceId: string; readonly authorityId: string },
  reason: string,
  now: Date,
): Promise<readonly string[]> {
  const { rows } = await tx.query<Columns<'stream', 'stream_id'>>({
    name: 'quarantine_signed_by',
    text: `update stream s set state = 'quarantined', state_reason = $4, quarantined_at = $5
           where s.workspace_id = $1 and s.authority_id = $2 and s.state = 'open'
             and (select m.key_id from message m where m.workspace_id = s.workspace_id and m.stream_id = s.stream_id
                  order by m.sequence desc limit 1) = $3
           returning stream_id`,
    values: [key.workspaceId, key.authorityId, key.id, reason, now],
  });
  return rows.map(({ stream_id: id }) => id);
}

/** A stream as its sender reads it. */
export interface StreamView {
  readonly stream_id: string;
  readonly authority_id: string;
  readonly state: string;
  readonly state_reason?: string;
  /** The newest accepted message. */
  readonly head: { readonly sequence: number; readonly digest: string; readonly issued_at: string } | null;
  readonly last_receipt_id: string | null;
}

export async function findStreamView(
  pool: Pool,
  authorityId: string,
  workspaceId: string,
  streamId: string,
): Promise<StreamView | undefined> {
  const { rows } = await pool.query<
    Columns<'stream', 'stream_id' | 'authority_id' | 'state' | 'state_reason'> & {
      readonly [K in 'digest' | 'issued_at' | 'receipt_id']: Columns<'message', K>[K] | null;
    } & { readonly sequence: number | null }
  >({
    name: 'find_stream',
    text: `select s.stream_id, s.authority_id, s.state, s.state_reason, m.sequence::float8, m.digest, m.issued_at, m.receipt_id
           from stream s left join lateral (
             select sequence, digest, issued_at, receipt_id from message m
             where m.workspace_id = s.workspace_id and m.stream_id = s.stream_id and m.state = 'accepted'
             order by m.sequence desc limit 1) m on true
           where s.workspace_id = $2 and s.stream_id = $3 and s.authority_id = $1`,
    values: [authorityId, workspaceId, streamId],
  });
  const [row] = rows;
  if (!row) return undefined;
  const { sequence, digest, issued_at: issuedAt } = row;
  return {
    stream_id: row.stream_id,
    authority_id: row.authority_id,
    state: row.state,
    ...(row.state_reason !== null && { state_reason: row.state_reason }),
    head:
      sequence !== null && digest !== null && issuedAt !== null
        ? { sequence, digest, issued_at: issuedAt.toISOString() }
        : null,
    last_receipt_id: row.receipt_id,
  };
}
