import { parsePayload, type Message, type StreamState } from '@longwave/exchange-messages';
import type { Transaction } from '@longwave/postgres';
import { findKeys } from '../authorities/machine-key-table.ts';
import { listEquivocatingKeys } from '../streams/equivocation-table.ts';
import type { Stream } from '../streams/stream-table.ts';
import type { CheckedMessage } from './check-item.ts';
import {
  readChainFacts,
  readRevoked,
  readSubjects,
  subjectKey,
  type ChainFacts,
  type StreamPlace,
} from './message-table.ts';

type SubjectRef = Parameters<typeof readSubjects>[2][number];

/** A subject that a message names, and where in its payload (JSON Pointer). */
interface Reference extends SubjectRef {
  readonly path: string;
}

/** Subjects that a message names beside its own: they must have been accepted before. */
export function referencesOf(message: Message): Reference[] {
  switch (message.schema) {
    case 'content-revocation/1':
      return [];
    case 'delivery-alias/1': {
      const { target, route_policy: policy } = message.body;
      return [
        { type: 'episode', sourceId: target.source_id, path: '/body/target/source_id' },
        { type: 'surface', sourceId: policy.surface_id, path: '/body/route_policy/surface_id' },
      ];
    }
    case 'platform-evidence/1':
      return (message.body.rows ?? []).map((row, index) => ({
        ...{ type: 'episode', sourceId: row.source_id, path: `/body/rows/${index}/source_id` },
      }));
    default:
      return [];
  }
}

/** What a batch sees of its stream and its subjects: the past, and what the batch itself has brought so far. */
export interface BatchState {
  /** Undefined until the first message of a new stream is taken. */
  readonly stream: Stream | undefined;
  chainFor(checked: CheckedMessage): StreamState;
  /** The newest message about an alias or a surface. */
  newestAbout(type: 'alias' | 'surface', sourceId: string): Message | undefined;
  has(subject: SubjectRef): boolean;
  /** Whether the authority has, or had, a key that a rotation of the batch retires. */
  hasKey(id: string): boolean;
  add(checked: CheckedMessage): void;
  /** Opens a held stream for the rest of the batch. */
  open(): void;
}

const subjectOf = ({ subject }: Message): SubjectRef => ({ type: subject.type, sourceId: subject.source_id });

/** A stored payload, which was valid when it was accepted. */
function storedMessage(payload: string): Message {
  const parsed = parsePayload(Buffer.from(payload, 'base64url'));
  if (!parsed.ok) throw new Error(`a stored message can no longer be read: ${parsed.code}`);
  return parsed.message;
}

interface Read {
  readonly facts: ChainFacts;
  readonly subjects: Awaited<ReturnType<typeof readSubjects>>;
  readonly revoked: Awaited<ReturnType<typeof readRevoked>>;
  readonly equivocating: ReadonlySet<string>;
  readonly keys: ReadonlyMap<string, unknown>;
}

/** Reads everything that judging a batch needs, under the locks of its authority and stream. */
export async function readBatchState(
  tx: Transaction,
  place: StreamPlace,
  authorityId: string,
  stream: Stream | undefined,
  batch: readonly CheckedMessage[],
): Promise<BatchState> {
  const subjects = batch.flatMap(({ message }) => [subjectOf(message), ...referencesOf(message)]);
  const snapshots = batch.flatMap(({ message: { schema, subject } }) =>
    schema === 'content-snapshot/1' ? [{ sourceId: subject.source_id, version: subject.source_version }] : [],
  );
  const retired = batch.flatMap(({ message }) =>
    message.schema === 'authority-rotation/1' ? [message.body.retire_kid] : [],
  );
  const read: Read = {
    facts: await readChainFacts(tx, place, authorityId, batch),
    subjects: await readSubjects(tx, authorityId, subjects),
    revoked: await readRevoked(tx, authorityId, snapshots),
    equivocating: stream?.isQuarantined ? await listEquivocatingKeys(tx, place, stream.reopenedAt) : new Set(),
    keys: retired.length > 0 ? await findKeys(tx, authorityId, retired) : new Map(),
  };
  return createBatchState(stream, read);
}

/** The state that follows from what was read. */
export function createBatchState(stream: Stream | undefined, read: Read): BatchState {
  const digests = new Map(read.facts.digests);
  const events = new Map(read.facts.events);
  const versions = new Map([...read.subjects].map(([key, row]) => [key, row.source_version]));
  const revoked = new Map([...read.revoked].map(([id, all]) => [id, new Set(all)]));
  const added = new Map<string, Message>();
  const first = read.facts.head;
  let head = first && { seq: first.sequence, digest: first.digest, issuedAt: first.issuedAt.toISOString() };
  let quarantined = stream?.isQuarantined === true;

  return {
    stream,
    chainFor: ({ message, keyId }) => ({
      head,
      digestAt: (seq) => digests.get(seq),
      quarantined,
      reopens: message.schema === 'authority-rotation/1' && !stream?.isHeldByOperator && !read.equivocating.has(keyId),
      subject: {
        acceptedVersion: versions.get(subjectKey(message.subject.type, message.subject.source_id)) ?? 0,
        revokedVersions: [...(revoked.get(message.subject.source_id) ?? [])],
      },
      knownEventDigest: events.get(message.event_id),
    }),
    newestAbout: (type, sourceId) => {
      const key = subjectKey(type, sourceId);
      const row = read.subjects.get(key);
      return added.get(key) ?? (row?.payload ? storedMessage(row.payload) : undefined);
    },
    hasKey: (id) => read.keys.has(id),
    has: ({ type, sourceId }) => versions.has(subjectKey(type, sourceId)),
    add: ({ message, digest }) => {
      const key = subjectKey(message.subject.type, message.subject.source_id);
      head = { seq: message.seq, digest, issuedAt: message.issued_at };
      digests.set(message.seq, digest);
      events.set(message.event_id, digest);
      versions.set(key, message.subject.source_version);
      added.set(key, message);
      if (message.schema !== 'content-revocation/1') return;
      const { source_id: id } = message.subject;
      revoked.set(id, (revoked.get(id) ?? new Set()).add(message.body.revoke_version));
    },
    open: () => {
      quarantined = false;
    },
  };
}
