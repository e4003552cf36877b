import type { SubjectType } from '@longwave/exchange-messages';
import type { Pool, Transaction } from '@longwave/postgres';
import type { Columns, Rows } from '../generated/rows.ts';
import type { CheckedMessage } from './check-item.ts';

/** Numbers up to 2^53 are exact in JavaScript, and schemas allow no greater ones; the driver would give text. */
const numbers = { sequence: 'sequence::float8', source_version: 'source_version::float8' };
interface Numbers {
  readonly sequence: number;
  readonly source_version: number;
}

/** The place of a stream. */
export interface StreamPlace {
  readonly workspaceId: string;
  readonly streamId: string;
}

/** What a batch must know of the past, read under the locks of its authority and its stream. */
export interface ChainFacts {
  /** The newest message, accepted or pending. */
  readonly head: { readonly sequence: number; readonly digest: string; readonly issuedAt: Date } | undefined;
  /** Digests by sequence: of the places that the batch names, and of those before them. */
  readonly digests: ReadonlyMap<number, string>;
  /** Digests by event id. */
  readonly events: ReadonlyMap<string, string>;
}

/** Reads the facts about the places and event ids of a batch. */
export async function readChainFacts(
  tx: Transaction,
  { workspaceId, streamId }: StreamPlace,
  authorityId: string,
  batch: readonly CheckedMessage[],
): Promise<ChainFacts> {
  const places = [...new Set(batch.flatMap(({ message: { seq } }) => [seq, seq - 1]))];
  const [head, digests, events] = await Promise.all([
    tx.query<Columns<'message', 'digest' | 'issued_at'> & Pick<Numbers, 'sequence'>>({
      name: 'chain_head',
      text: `select ${numbers.sequence}, digest, issued_at from message where workspace_id = $1 and stream_id = $2
             order by message.sequence desc limit 1`,
      values: [workspaceId, streamId],
    }),
    tx.query<Columns<'message', 'digest'> & Pick<Numbers, 'sequence'>>({
      name: 'chain_digests',
      text: `select ${numbers.sequence}, digest from message where workspace_id = $1 and stream_id = $2 and sequence = any($3)`,
      values: [workspaceId, streamId, places],
    }),
    tx.query<Columns<'message', 'event_id' | 'digest'>>({
      name: 'chain_events',
      text: `select event_id, digest from message where authority_id = $1 and event_id = any($2)`,
      values: [authorityId, batch.map(({ message }) => message.event_id)],
    }),
  ]);
  const [newest] = head.rows;
  return {
    head: newest && { sequence: newest.sequence, digest: newest.digest, issuedAt: newest.issued_at },
    digests: new Map(digests.rows.map(({ sequence, digest }) => [sequence, digest])),
    events: new Map(events.rows.map(({ event_id: id, digest }) => [id, digest])),
  };
}

/** Key of a subject in a map. */
export const subjectKey = (type: SubjectType, sourceId: string): string => `${type}\n${sourceId}`;

interface SubjectRow extends Pick<Numbers, 'source_version'> {
  readonly payload: string | null;
}

/** The newest message about each subject that exists, by `subjectKey`: its version, and of aliases and surfaces its payload. */
export async function readSubjects(
  tx: Transaction,
  authorityId: string,
  subjects: readonly { readonly type: SubjectType; readonly sourceId: string }[],
): Promise<Map<string, SubjectRow>> {
  const { rows } = await tx.query<Columns<'message', 'subject_type' | 'source_id'> & SubjectRow>({
    name: 'read_subjects',
    text: `select m.subject_type, m.source_id, m.source_version::float8,
             case when m.subject_type in ('alias', 'surface') then m.payload end as payload
           from (select distinct * from unnest($2::text[], $3::text[]) as named(type, source_id)) named
           cross join lateral (
             select subject_type, source_id, source_version, payload from message
             where authority_id = $1 and subject_type = named.type and source_id = named.source_id
             order by source_version desc limit 1) m`,
    values: [authorityId, subjects.map(({ type }) => type), subjects.map(({ sourceId }) => sourceId)],
  });
  return new Map(rows.map((row) => [subjectKey(row.subject_type as SubjectType, row.source_id), row]));
}

/** Those of these source versions that were revoked, by source id. */
export async function readRevoked(
  tx: Transaction,
  authorityId: string,
  versions: readonly { readonly sourceId: string; readonly version: number }[],
): Promise<Map<string, Set<number>>> {
  if (versions.length === 0) return new Map();
  const { rows } = await tx.query<Columns<'message', 'source_id'> & { readonly revokes: number }>({
    name: 'read_revoked',
    text: `select distinct m.source_id, m.revokes::float8 from unnest($2::text[], $3::bigint[]) as named(source_id, version)
           join message m on m.authority_id = $1 and m.source_id = named.source_id and m.revokes = named.version`,
    values: [authorityId, versions.map(({ sourceId }) => sourceId), versions.map(({ version }) => version)],
  });
  const revoked = new Map<string, Set<number>>();
  for (const { source_id: id, revokes } of rows) revoked.set(id, (revoked.get(id) ?? new Set()).add(revokes));
  return revoked;
}

/** The digests among these that this authority has sent. */
export async function findKnown(
  pool: Pool,
  authorityId: string,
  digests: readonly string[],
): Promise<ReadonlySet<string>> {
  const { rows } = await pool.query<Columns<'message', 'digest'>>({
    name: 'find_known_messages',
    text: `select digest from message where digest = any($2) and authority_id = $1`,
    values: [authorityId, digests],
  });
  return new Set(rows.map(({ digest }) => digest));
}

/** The stream in which a message has its place. */
export async function findStreamOf(tx: Transaction, digest: string): Promise<string | undefined> {
  const { rows } = await tx.query<Columns<'message', 'stream_id'>>({
    name: 'find_stream_of',
    text: `select stream_id from message where digest = $1`,
    values: [digest],
  });
  return rows[0]?.stream_id;
}

/** Takes the places of messages; their commands run afterwards. */
export async function insertPending(
  tx: Transaction,
  batch: readonly (CheckedMessage & { readonly resourceType: string })[],
  receivedAt: Date,
): Promise<void> {
  if (batch.length === 0) return;
  const rows = batch.map(({ envelope, digest, keyId, message, resourceType }) => ({
    workspace_id: message.workspace_id,
    stream_id: message.stream_id,
    sequence: message.seq,
    digest,
    authority_id: message.authority_id,
    key_id: keyId,
    schema: message.schema,
    subject_type: message.subject.type,
    source_id: message.subject.source_id,
    source_version: message.subject.source_version,
    revokes: message.schema === 'content-revocation/1' ? message.body.revoke_version : null,
    event_id: message.event_id,
    issued_at: message.issued_at,
    protected: envelope.protected,
    payload: envelope.payload,
    signature: envelope.signature,
    resource_type: resourceType,
    received_at: receivedAt,
  }));
  const named = Object.keys(rows[0]!).join(', ');
  await tx.query(
    `insert into message (${named}, state)
     select ${named}, 'pending' from json_populate_recordset(null::message, $1)`,
    [JSON.stringify(rows)],
  );
}

export type PendingMessage = Columns<
  'message',
  'digest' | 'payload' | 'key_id' | 'authority_id' | 'subject_type' | 'source_id' | 'received_at'
> &
  Numbers;

/** Whether messages of a stream wait for their commands. */
export async function hasPending(pool: Pool, { workspaceId, streamId }: StreamPlace): Promise<boolean> {
  const { rowCount } = await pool.query({
    name: 'has_pending',
    text: `select from message where workspace_id = $1 and stream_id = $2 and state = 'pending' limit 1`,
    values: [workspaceId, streamId],
  });
  return rowCount === 1;
}

/** The messages of a stream whose commands may not have run, in their order. */
export async function listPending(pool: Pool, { workspaceId, streamId }: StreamPlace): Promise<PendingMessage[]> {
  const { rows } = await pool.query<PendingMessage>({
    name: 'list_pending',
    text: `select ${numbers.sequence}, digest, payload, key_id, authority_id, subject_type, source_id, received_at, ${numbers.source_version}
           from message where workspace_id = $1 and stream_id = $2 and state = 'pending' order by message.sequence limit 100`,
    values: [workspaceId, streamId],
  });
  return rows;
}

/** Streams with messages that have waited for their commands since before, in any order: none holds up the others. */
export async function listUnsettledStreams(pool: Pool, before: Date): Promise<StreamPlace[]> {
  const { rows } = await pool.query<Columns<'message', 'workspace_id' | 'stream_id'>>({
    name: 'unsettled_streams',
    text: `select workspace_id, stream_id from message where state = 'pending' and received_at < $1
           group by workspace_id, stream_id order by random() limit 100`,
    values: [before],
  });
  return rows.map(({ workspace_id: workspaceId, stream_id: streamId }) => ({ workspaceId, streamId }));
}

/** The resource of the newest accepted message about a subject before a version. */
export async function findSubjectResource(pool: Pool, subject: PendingMessage): Promise<string | undefined> {
  const { rows } = await pool.query<Columns<'message', 'resource_id'>>({
    name: 'find_subject_resource',
    text: `select resource_id from message
           where authority_id = $1 and subject_type = $2 and source_id = $3 and source_version < $4 and state = 'accepted'
           order by source_version desc limit 1`,
    values: [subject.authority_id, subject.subject_type, subject.source_id, subject.source_version],
  });
  return rows[0]?.resource_id ?? undefined;
}

/** What management said of a message's command. */
export interface Acceptance {
  readonly digest: string;
  readonly resourceId: string;
  readonly operationId: string;
  readonly receiptId: string;
}

/** Marks pending messages as accepted; answers the digests of those that were pending. */
export async function acceptPending(
  tx: Transaction,
  accepted: readonly Acceptance[],
  acceptedAt: Date,
): Promise<ReadonlySet<string>> {
  const { rows } = await tx.query<Columns<'message', 'digest'>>({
    name: 'accept_pending',
    text: `update message m set state = 'accepted', resource_id = a.resource_id, operation_id = a.operation_id,
             receipt_id = a.receipt_id, accepted_at = $5
           from unnest($1::text[], $2::text[], $3::text[], $4::text[]) as a(digest, resource_id, operation_id, receipt_id)
           where m.digest = a.digest and m.state = 'pending' returning m.digest`,
    values: [
      accepted.map(({ digest }) => digest),
      accepted.map(({ resourceId }) => resourceId),
      accepted.map(({ operationId }) => operationId),
      accepted.map(({ receiptId }) => receiptId),
      acceptedAt,
    ],
  });
  return new Set(rows.map(({ digest }) => digest));
}

/**
 * Gives back the places of pending messages from one on: management refused its command. Another process may have done so before, and
 * others may stand there now: then nothing is removed. Answers what the messages were about. Their digests are remembered: a late
 * repetition contradicts nobody.
 */
export async function removePending(
  tx: Transaction,
  { workspaceId, streamId }: StreamPlace,
  refused: { readonly sequence: number; readonly digest: string },
): Promise<readonly Columns<'message', 'authority_id' | 'subject_type' | 'source_id'>[]> {
  const { rows } = await tx.query<Columns<'message', 'authority_id' | 'subject_type' | 'source_id'>>({
    name: 'remove_pending',
    text: `with removed as (
             delete from message where workspace_id = $1 and stream_id = $2 and sequence >= $3 and state = 'pending'
               and exists (select from message where workspace_id = $1 and stream_id = $2 and sequence = $3 and digest = $4
                 and state = 'pending')
             returning digest, authority_id, subject_type, source_id
           ), remembered as (
             insert into withdrawn_message (digest, workspace_id) select digest, $1 from removed on conflict (digest) do nothing
           )
           select authority_id, subject_type, source_id from removed`,
    values: [workspaceId, streamId, refused.sequence, refused.digest],
  });
  return rows;
}

/** Whether one of these messages was taken out of its chain because management refused it. */
export async function isWithdrawn(tx: Transaction, digests: readonly string[]): Promise<boolean> {
  const { rowCount } = await tx.query({
    name: 'is_withdrawn',
    text: `select from withdrawn_message where digest = any($1) limit 1`,
    values: [digests],
  });
  return rowCount === 1;
}

/** The authority that owns a stream; undefined for one that does not exist. */
export async function findStreamOwner(pool: Pool, { workspaceId, streamId }: StreamPlace): Promise<string | undefined> {
  const { rows } = await pool.query<Columns<'stream', 'authority_id'>>({
    name: 'find_stream_owner',
    text: `select authority_id from stream where workspace_id = $1 and stream_id = $2`,
    values: [workspaceId, streamId],
  });
  return rows[0]?.authority_id;
}

/** An accepted message with its original bytes. */
export type StoredMessage = Pick<
  Rows['message'],
  'digest' | 'stream_id' | 'subject_type' | 'source_id' | 'protected' | 'payload' | 'signature' | 'resource_type'
> &
  Numbers & {
    readonly resource_id: string;
    readonly operation_id: string;
    readonly receipt_id: string;
    readonly accepted_at: Date;
  };

const historyColumns = `${numbers.sequence}, digest, stream_id, subject_type, source_id, ${numbers.source_version}, resource_type,
  resource_id, operation_id, receipt_id, accepted_at`;
const storedColumns = `${historyColumns}, protected, payload, signature`;

/** Accepted messages of an authority by their digests. */
export async function findAccepted(
  db: Pick<Pool, 'query'>,
  authorityId: string,
  digests: readonly string[],
): Promise<ReadonlyMap<string, StoredMessage>> {
  const { rows } = await db.query<StoredMessage>({
    name: 'find_accepted',
    text: `select ${storedColumns} from message where digest = any($2) and authority_id = $1 and state = 'accepted'`,
    values: [authorityId, digests],
  });
  return new Map(rows.map((row) => [row.digest, row]));
}

/** Characters of payloads that a page of a stream has, but for its first message. */
const maxPageCharacters = 4_000_000;

/** The accepted messages of a stream after a place, in their order; fewer than the limit where they are long. */
export async function listAccepted(
  pool: Pool,
  authorityId: string,
  { workspaceId, streamId }: StreamPlace,
  after: number,
  limit: number,
): Promise<{ readonly messages: readonly StoredMessage[]; readonly hasMore: boolean }> {
  const { rows } = await pool.query<StoredMessage & { readonly found: number }>({
    name: 'list_accepted',
    text: `select ${storedColumns}, found from (
             select *, sum(length(payload)) over (order by sequence) - length(payload) as before,
               (count(*) over ())::int as found
             from (
               select * from message
               where workspace_id = $2 and stream_id = $3 and authority_id = $1 and sequence > $4 and state = 'accepted'
               order by sequence limit $5) page) message
           where before < $6 order by message.sequence`,
    values: [authorityId, workspaceId, streamId, after, limit + 1, maxPageCharacters],
  });
  const messages = rows.slice(0, limit);
  return { messages, hasMore: messages.length < (rows[0]?.found ?? 0) };
}

/** An accepted message without its bytes. */
export type HistoryRow = Omit<StoredMessage, 'protected' | 'payload' | 'signature'>;

/** The accepted messages about a subject, the newest first. */
export async function listHistory(
  pool: Pool,
  authorityId: string,
  type: SubjectType,
  sourceId: string,
  limit: number,
): Promise<HistoryRow[]> {
  const { rows } = await pool.query<HistoryRow>({
    name: 'list_history',
    text: `select ${historyColumns} from message
           where authority_id = $1 and subject_type = $2 and source_id = $3 and state = 'accepted'
           order by message.source_version desc limit $4`,
    values: [authorityId, type, sourceId, limit],
  });
  return rows;
}

/** Whether an operation is of a message of this authority. */
export async function hasOperation(pool: Pool, authorityId: string, operationId: string): Promise<boolean> {
  const { rowCount } = await pool.query({
    name: 'has_operation',
    text: `select from message where operation_id = $2 and authority_id = $1`,
    values: [authorityId, operationId],
  });
  return rowCount === 1;
}

/** Whether a receipt is of a message of this authority. */
export async function hasReceipt(pool: Pool, authorityId: string, receiptId: string): Promise<boolean> {
  const { rowCount } = await pool.query({
    name: 'has_receipt',
    text: `select from message where receipt_id = $2 and authority_id = $1`,
    values: [authorityId, receiptId],
  });
  return rowCount === 1;
}
