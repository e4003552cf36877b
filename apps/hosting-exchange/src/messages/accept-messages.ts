import { setImmediate as otherWork } from 'node:timers/promises';
import { maxBatchMessages } from '@longwave/exchange-messages';
import { jcsDigest } from '@longwave/idempotency';
import { transaction, type Pool, type Transaction } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import { createGates, meter } from '@longwave/service-kit';
import { awaitKeys } from '../authorities/machine-key-table.ts';
import { keepEquivocation } from '../streams/equivocation-table.ts';
import { findStreamView, insertStream, isHeld, lockStream, quarantineStream } from '../streams/stream-table.ts';
import { readBatchState } from './batch-state.ts';
import { checkItem, openItem, type CheckedMessage, type OpenedItem } from './check-item.ts';
import { resourceTypes } from './command-of.ts';
import type { FetchRules } from './fetch-rules.ts';
import { claimKey, findRecord, keepAnswer, releaseKey, type WriteKey } from './idempotency-table.ts';
import { foreignIdentity, hasOrigin, judgeBatch, type JudgedBatch, type Sender } from './judge-batch.ts';
import {
  findAccepted,
  findKnown,
  findStreamOf,
  findStreamOwner,
  insertPending,
  isWithdrawn,
  type StoredMessage,
  type StreamPlace,
} from './message-table.ts';
import { insertEvents } from './outbox-table.ts';
import type { SettleStream } from './settle-stream.ts';

/** The answer to a batch. */
interface BatchAnswer {
  /** 202 when something was accepted, 200 when everything had been. */
  readonly status: 200 | 202;
  /** JSON. */
  readonly body: string;
}

export type AcceptMessages = (
  sender: Sender & { readonly clientId: string },
  items: readonly unknown[],
  idempotencyKey: string,
) => Promise<BatchAnswer>;

/** So many contradictions within 24 h hold a stream back. */
const maxEquivocations = 3;

/** An accepted message, as answers show it. */
const receiptOf = (stored: StoredMessage, status: 'accepted' | 'replayed') => ({
  sequence: stored.sequence,
  digest: stored.digest,
  status,
  receipt_id: stored.receipt_id,
  operation_id: stored.operation_id,
  resource: { type: stored.resource_type, id: stored.resource_id },
  accepted_at: stored.accepted_at.toISOString(),
});

interface Checked {
  readonly batch: readonly CheckedMessage[];
  /** The refusal of the message after the last checked one. */
  readonly refusal: Problem | undefined;
}

/** Adds to a refusal the place of the message in the batch, and the answers to those before it. */
function refusalAt(problem: Problem, index: number, results: readonly unknown[]): Problem {
  const { errors, members, ...context } = problem.context;
  const root = `/messages/${index}`;
  return new Problem(problem.code, problem.message, {
    ...context,
    ...(errors && { errors: errors.map((error) => ({ ...error, path: root + error.path })) }),
    members: {
      ...members,
      ...(typeof members?.['field_path'] === 'string' && { field_path: root + members['field_path'] }),
      index,
      results,
    },
  });
}

/** Says how near a stream is to its hold. */
function countedContradiction(refusal: Problem, contradictions: number | undefined): Problem {
  if (contradictions === undefined) return refusal;
  const { members, ...context } = refusal.context;
  const counted = { contradictions, held_at: maxEquivocations };
  return new Problem(refusal.code, refusal.message, { ...context, members: { ...members, ...counted } });
}

const conflict = () =>
  new Problem('idempotency_conflict', 'This Idempotency-Key was used for other messages. Use another key for these.');

/** Accepts batches of signed messages (docs/hosting-exchange.md). */
export function createAcceptMessages(options: {
  readonly pool: Pool;
  readonly settle: SettleStream;
  readonly clock: () => Date;
  readonly fetchRules: FetchRules;
}): AcceptMessages {
  const { pool, settle, clock, fetchRules } = options;
  const counted = meter().createCounter('longwave.exchange.messages', {
    description:
      'Messages of hosting platforms, by what became of them: accepted, replayed, or the code of the refusal',
  });
  // A counter that was never added to is not exposed.
  counted.add(0, { outcome: 'accepted' });

  const oneAtATime = createGates(1);

  /** Opens and verifies the items in their order, up to the first that is refused. */
  async function check(sender: Sender, items: readonly unknown[]): Promise<Checked> {
    const opened: OpenedItem[] = [];
    let refusal: Problem | undefined;
    const attempt = (work: () => void): boolean => {
      try {
        work();
        return true;
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        refusal = error;
        return false;
      }
    };
    for (const item of items) {
      if (!attempt(() => void opened.push(openItem(item)))) break;
      await otherWork();
    }
    const keyIds = [...new Set(opened.map(({ keyId }) => keyId))];
    const [keys, known] = await Promise.all([
      awaitKeys(pool, sender.authorityId, keyIds),
      findKnown(
        pool,
        sender.authorityId,
        opened.map(({ digest }) => digest),
      ),
    ]);
    const batch: CheckedMessage[] = [];
    const now = clock();
    for (const item of opened) {
      const own = { keys, authorityId: sender.authorityId, known: known.has(item.digest), now };
      if (!attempt(() => void batch.push(checkItem(item, own)))) break;
      await otherWork();
    }
    return { batch, refusal };
  }

  /**
   * Keeps the proof of a contradiction, and holds the stream of the accepted message back after the third. Answers how many the stream
   * has; undefined for one that does not count.
   */
  async function keepContradiction(
    tx: Transaction,
    place: StreamPlace,
    since: Date | undefined,
    { message: found, kind, acceptedDigest }: NonNullable<JudgedBatch['equivocation']>,
    now: Date,
  ): Promise<number | undefined> {
    const { envelope, digest, keyId, message } = found;
    if (await isWithdrawn(tx, [digest, ...(message.prev === null ? [] : [message.prev])])) return undefined;
    // An event id may have been used in another stream of the authority.
    const streamId = (await findStreamOf(tx, acceptedDigest)) ?? place.streamId;
    const contradicted = { ...place, streamId };
    // One that is held already proves nothing new.
    if (await isHeld(tx, contradicted)) return undefined;
    const evidence = { ...contradicted, ...envelope, digest, keyId, kind, acceptedDigest, sequence: message.seq };
    const contradictions = await keepEquivocation(tx, evidence, since, now);
    const event = { workspaceId: place.workspaceId, key: `${place.workspaceId}/${streamId}` };
    const detail = { stream_id: streamId, accepted_digest: acceptedDigest, received_digest: digest, kind };
    await insertEvents(tx, [{ ...event, type: 'message.contradicted', detail }], now);
    if (contradictions < maxEquivocations) return contradictions;
    const cause = `${contradictions} messages within 24 h contradicted accepted ones.`;
    await quarantineStream(tx, contradicted, cause, now);
    await insertEvents(tx, [{ ...event, type: 'stream.quarantined', detail: { stream_id: streamId, cause } }], now);
    return contradictions;
  }

  /** Gives the batch its places in the chain, up to the first message that is refused. */
  async function takePlaces(
    sender: Sender,
    place: StreamPlace,
    { batch, refusal }: Checked,
    key: Readonly<Record<'check' | 'claim', (tx: Transaction) => Promise<void>>>,
  ): Promise<JudgedBatch> {
    // Those that would wait for the authority's lock wait here, and hold no connection.
    return oneAtATime(sender.authorityId)(() =>
      transaction(pool, async (tx) => {
        const now = clock();
        const stream = await lockStream(tx, sender.authorityId, place.workspaceId, place.streamId);
        const state = await readBatchState(tx, place, sender.authorityId, stream, batch);
        // Rule 11 comes after rules 9 and 10, and before the chain.
        if (hasOrigin(batch[0]!, sender, state, now)) await key.check(tx);
        const judged = await judgeBatch(tx, batch, sender, state, { now, fetchRules });
        if (judged.accepted.length > 0) {
          if (!stream) await insertStream(tx, { ...place, authorityId: sender.authorityId });
          const rows = judged.accepted.map((one) => ({ ...one, resourceType: resourceTypes[one.message.schema] }));
          await insertPending(tx, rows, now);
        }
        const since = judged.reopens ? now : stream?.reopenedAt;
        // A batch that is refused in part may come again under its key, corrected.
        if (!judged.refusal && !refusal) await key.claim(tx);
        if (!judged.equivocation) return judged;
        const contradictions = await keepContradiction(tx, place, since, judged.equivocation, now);
        return { ...judged, refusal: judged.refusal && countedContradiction(judged.refusal, contradictions) };
      }),
    );
  }

  /** The answers to the messages that were accepted, in the order of the batch, up to the first that was not. */
  async function readResults(sender: Sender, batch: readonly CheckedMessage[], judged: JudgedBatch) {
    const digests = batch.slice(0, judged.verdicts.length).map(({ digest }) => digest);
    const stored = await findAccepted(pool, sender.authorityId, digests);
    const results: ReturnType<typeof receiptOf>[] = [];
    for (const [index, digest] of digests.entries()) {
      const found = stored.get(digest);
      if (!found) break;
      results.push(receiptOf(found, judged.verdicts[index] === 'accept' ? 'accepted' : 'replayed'));
    }
    return results;
  }

  async function accept(
    sender: Sender & { readonly clientId: string },
    items: readonly unknown[],
    idempotencyKey: string,
  ): Promise<BatchAnswer> {
    const checked = await check(sender, items);
    const { batch } = checked;
    const [first] = batch;
    if (!first) throw refusalAt(checked.refusal!, 0, []);
    const write: WriteKey = { ...sender, operation: 'messages', key: idempotencyKey };
    const digest = jcsDigest(checked.refusal ? items : batch.map((one) => one.digest));
    const record = await findRecord(pool, write);
    if (record?.digest === digest && record.answer && record.status)
      return { status: record.status === 202 ? 202 : 200, body: record.answer };

    const place = { workspaceId: sender.workspaceId, streamId: first.message.stream_id };
    if (batch.some(({ message }) => message.stream_id !== place.streamId))
      throw new Problem('validation_failed', 'All messages of a request belong to one stream.', {
        errors: [{ path: '/messages', code: 'one_stream', detail: 'All messages of a request belong to one stream.' }],
      });
    if (first.message.workspace_id !== sender.workspaceId)
      throw refusalAt(foreignIdentity('/payload/workspace_id'), 0, []);
    const owner = await findStreamOwner(pool, place);
    if (owner !== undefined && owner !== sender.authorityId)
      throw refusalAt(foreignIdentity('/payload/stream_id'), 0, []);
    await settle(place);
    const judged = await takePlaces(sender, place, checked, {
      check: async (tx) => {
        const held = await findRecord(tx, write);
        if (held && held.digest !== digest) throw conflict();
      },
      claim: async (tx) => {
        if ((await claimKey(tx, write, digest)).digest !== digest) throw conflict();
      },
    });
    const refused = await settle(place);
    const results = await readResults(sender, batch, judged);
    for (const { status } of results) counted.add(1, { outcome: status });

    const refusal = refusalOf(checked, judged, results.length, refused?.problem);
    if (refusal) {
      // What was answered with 5xx comes again under its key as it is.
      if (refused && refusal.status < 500) await releaseKey(pool, write);
      throw refusalAt(refusal, results.length, results);
    }
    const head = (await findStreamView(pool, sender.authorityId, place.workspaceId, place.streamId))?.head;
    const answer: BatchAnswer = {
      status: judged.accepted.length > 0 ? 202 : 200,
      body: JSON.stringify({ results, head: head && { sequence: head.sequence, digest: head.digest } }),
    };
    await keepAnswer(pool, write, answer);
    return answer;
  }

  /** Why the message after the accepted ones was not accepted; undefined when all were. */
  function refusalOf({ batch, refusal }: Checked, judged: JudgedBatch, done: number, byCommand: Problem | undefined) {
    if (done < judged.verdicts.length)
      return (
        byCommand ?? new Problem('temporarily_unavailable', 'Send the same request again.', { retryAfterSeconds: 1 })
      );
    if (judged.verdicts.length < batch.length) return judged.refusal;
    return refusal;
  }

  return async (sender, items, idempotencyKey) => {
    if (items.length < 1 || items.length > maxBatchMessages) {
      const detail = `A request has 1 to ${maxBatchMessages} messages.`;
      throw new Problem('validation_failed', detail, { errors: [{ path: '/messages', code: 'messages', detail }] });
    }
    try {
      return await accept(sender, items, idempotencyKey);
    } catch (error) {
      if (error instanceof Problem) counted.add(1, { outcome: error.code });
      throw error;
    }
  };
}
