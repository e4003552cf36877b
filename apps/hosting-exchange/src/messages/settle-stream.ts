import { parsePayload } from '@longwave/exchange-messages';
import { transaction, type Pool, type Transaction } from '@longwave/postgres';
import { isProblem, Problem, type ProblemCode } from '@longwave/problems';
import type { RpcClient } from '@longwave/rpc';
import type { CommandServiceService } from '@longwave/rpc/command';
import { createGates } from '@longwave/service-kit';
import { z } from 'zod';
import { insertImport } from '../evidence/evidence-table.ts';
import { commandOf, hasOneResource } from './command-of.ts';
import {
  acceptPending,
  findSubjectResource,
  hasPending,
  listPending,
  listUnsettledStreams,
  removePending,
  type Acceptance,
  type PendingMessage,
  type StreamPlace,
} from './message-table.ts';
import { insertEvents, type ExchangeEvent } from './outbox-table.ts';
import { releaseAddresses } from './address-table.ts';
import { aloneOnStream, reopenStream } from '../streams/stream-table.ts';

export type SendCommand = RpcClient<typeof CommandServiceService>['execute'];

/** The message whose command management refused: it and those after it were taken out of the chain. */
interface Refused {
  readonly digest: string;
  readonly problem: Problem;
}

/** Runs the commands of a stream's pending messages, in their order. Rejects when management does not answer: they stay pending. */
export type SettleStream = (place: StreamPlace) => Promise<Refused | undefined>;

/** How long management may take for one command. */
const commandMs = 10_000;

/** After these the command may have run, or may run later: nothing is decided. */
const undecided: readonly ProblemCode[] = [
  'temporarily_unavailable',
  'timeout',
  'internal_error',
  'idempotency_in_progress',
  'rate_limited',
];

const operationSchema = z.object({ id: z.string(), receipt_id: z.string(), subject: z.object({ id: z.string() }) });

/**
 * An accepted rotation opens a stream at its head that was held when it came: it has not said anything about a later hold, and an operator's
 * hold is the operator's to end.
 */
async function reopenByRotation(
  tx: Transaction,
  place: StreamPlace,
  { authority_id: authorityId, received_at: cameAt }: PendingMessage,
  now: Date,
): Promise<void> {
  if (!(await reopenStream(tx, place, { authorityId, cameAt }, now))) return;
  const { workspaceId, streamId } = place;
  const detail = { stream_id: streamId, by: authorityId };
  await insertEvents(tx, [{ type: 'stream.reopened', workspaceId, key: `${workspaceId}/${streamId}`, detail }], now);
}

const bodyFields = 'content|revocation|capability|alias|evidence|rotation';
const renamed: Readonly<Record<string, string>> = { retired_key_id: 'retire_kid', successor_key_id: 'successor_kid' };

/** The refusal of a command, with the paths of the message that it applies. */
function ofMessage(problem: Problem): Problem {
  const { errors, ...context } = problem.context;
  if (!errors) return problem;
  const pathOf = (path: string) =>
    path
      .replace(new RegExp(`^/changes/(?:${bodyFields})(?=/|$)`), '/payload/body')
      .replace(/^\/changes(?=\/|$)/, '/payload')
      .replace(/[^/]+$/, (last) => renamed[last] ?? last);
  return new Problem(problem.code, problem.message, {
    ...context,
    errors: errors.map((error) => ({ ...error, path: pathOf(error.path) })),
  });
}

/**
 * Settles streams, one run per stream at a time, whatever the number of processes: a message that management has refused to one of them
 * must not be sent once more by another. A command's key is the digest of its message, so that a run after a crash changes nothing.
 */
export function createSettleStream(options: {
  readonly pool: Pool;
  /** Holds a connection for each stream that is settled. */
  readonly locks: Pool;
  readonly send: SendCommand;
  readonly clock: () => Date;
}): SettleStream {
  const { pool, locks, send, clock } = options;
  async function runCommand(pending: PendingMessage, known: ReadonlyMap<string, string>): Promise<Acceptance> {
    const parsed = parsePayload(Buffer.from(pending.payload, 'base64url'));
    if (!parsed.ok) throw new Error(`a pending message can no longer be read: ${parsed.code}`);
    const { message } = parsed;
    const subject = `${message.subject.type}\n${message.subject.source_id}`;
    const resourceId = hasOneResource(message.schema)
      ? (known.get(subject) ?? (await findSubjectResource(pool, pending)))
      : undefined;
    const { commandType, subjectType, subjectId, changes } = commandOf(
      message,
      { digest: pending.digest, keyId: pending.key_id },
      resourceId,
    );
    const answer = await send(
      {
        workspaceId: message.workspace_id,
        commandType,
        idempotencyKey: pending.digest,
        ifMatch: '',
        subjectType,
        subjectId: subjectId ?? '',
        changesJson: JSON.stringify(changes),
        reasonJson: '',
      },
      { deadlineMs: commandMs },
    );
    const operation = operationSchema.parse(JSON.parse(answer.operationJson));
    return {
      digest: pending.digest,
      resourceId: operation.subject.id,
      operationId: operation.id,
      receiptId: operation.receipt_id,
    };
  }

  /** Keeps what management has accepted, and takes out what it refused. */
  async function record(
    place: StreamPlace,
    pending: readonly PendingMessage[],
    accepted: readonly Acceptance[],
    refused: { readonly sequence: number; readonly digest: string } | undefined,
  ): Promise<void> {
    const now = clock();
    await transaction(pool, async (tx) => {
      const fresh = await acceptPending(tx, accepted, now);
      const taken = pending.filter(({ digest }) => fresh.has(digest));
      const resources = new Map(accepted.map(({ digest, resourceId }) => [digest, resourceId]));
      for (const { digest, subject_type: type, authority_id: authorityId } of taken)
        if (type === 'evidence')
          await insertImport(tx, {
            evidenceId: resources.get(digest)!,
            workspaceId: place.workspaceId,
            authorityId,
            digest,
            dueAt: now,
          });
      const events = taken.map((one): ExchangeEvent => ({
        type: 'message.accepted',
        workspaceId: place.workspaceId,
        key: `${place.workspaceId}/${place.streamId}`,
        detail: {
          authority_id: one.authority_id,
          stream_id: place.streamId,
          sequence: one.sequence,
          digest: one.digest,
          subject: { type: one.subject_type, source_id: one.source_id, source_version: one.source_version },
          resource_id: resources.get(one.digest),
        },
      }));
      await insertEvents(tx, events, now);
      const rotation = taken.findLast(({ subject_type: type }) => type === 'authority');
      if (rotation) await reopenByRotation(tx, place, rotation, now);
      if (refused) await releaseAddresses(tx, await removePending(tx, place, refused));
    });
  }

  async function settle(place: StreamPlace): Promise<Refused | undefined> {
    for (;;) {
      const pending = await listPending(pool, place);
      if (pending.length === 0) return undefined;
      const accepted: Acceptance[] = [];
      const known = new Map<string, string>();
      let refused: (Refused & { readonly sequence: number }) | undefined;
      try {
        for (const message of pending) {
          const acceptance = await runCommand(message, known);
          accepted.push(acceptance);
          known.set(`${message.subject_type}\n${message.source_id}`, acceptance.resourceId);
        }
      } catch (error) {
        const at = pending[accepted.length]!;
        if (!(error instanceof Problem) || isProblem(error, ...undecided)) {
          if (accepted.length > 0) await record(place, pending, accepted, undefined);
          throw error;
        }
        refused = { digest: at.digest, problem: ofMessage(error), sequence: at.sequence };
      }
      await record(place, pending, accepted, refused);
      if (refused) return { digest: refused.digest, problem: refused.problem };
    }
  }

  const oneAtATime = createGates(1);
  return (place) =>
    oneAtATime(`${place.workspaceId}/${place.streamId}`)(async () =>
      (await hasPending(pool, place)) ? aloneOnStream(locks, place, () => settle(place)) : undefined,
    );
}

/** Settles the streams that were left behind, each for itself: one that cannot be settled holds up no other. */
export async function settleLeftBehind(
  pool: Pool,
  settle: SettleStream,
  before: Date,
  tell: {
    readonly settled: (place: StreamPlace, refusal: Problem | undefined) => void;
    readonly failed: (place: StreamPlace, error: unknown) => void;
  },
): Promise<void> {
  for (const place of await listUnsettledStreams(pool, before))
    await settle(place).then(
      (refused) => tell.settled(place, refused?.problem),
      (error: unknown) => tell.failed(place, error),
    );
}
