import { hash } from 'node:crypto';
import { maxBatchMessages } from '@longwave/exchange-messages';
import { resultsBefore, submission, type MessageResult, type StreamHead } from './answers.ts';
import { signDraft, type Draft, type SignedMessage, type SigningKey, type StreamPlace } from './message.ts';
import { ExchangeRefusal, type ExchangeProblemDocument } from './problem.ts';
import type { SendRequest } from './send-request.ts';

/** Bytes of one request's messages at most; a message that is longer goes alone. */
const maxBatchBytes = 4 * 1024 * 1024;

/** The exchange refused one message. Those before it were accepted, those after it were not looked at. */
export class MessageRefusal extends ExchangeRefusal {
  /** What became of the messages before it, of all calls of `append` and `submit` that the error ends. */
  readonly results: readonly MessageResult[];
  /** The refused message; undefined when the whole request was refused. */
  readonly refused: SignedMessage | undefined;

  constructor(problem: ExchangeProblemDocument, results: readonly MessageResult[], refused: SignedMessage | undefined) {
    super(problem);
    this.results = results;
    this.refused = refused;
  }
}

export interface StreamOptions {
  readonly workspaceId: string;
  readonly authorityId: string;
  readonly streamId: string;
  /** The key that signs the next message. */
  readonly key: () => SigningKey;
  readonly send: SendRequest;
  /** Where the stream stands; undefined for one without messages. */
  readonly head: StreamHead | undefined;
  readonly readHead: () => Promise<StreamHead | undefined>;
  /** Called with messages that are signed, before they are sent: keep them, and a crash loses nothing. */
  readonly onSigned?: ((messages: readonly SignedMessage[]) => void | Promise<void>) | undefined;
  readonly now: () => Date;
}

const placeOf = (head: StreamHead | undefined): StreamPlace =>
  head?.head
    ? { sequence: head.head.sequence, digest: head.head.digest, issuedAt: head.head.issued_at }
    : { sequence: 0, digest: null, issuedAt: null };

/** Messages in requests of at most 100, and of a size that no proxy refuses. */
function* batchesOf(messages: readonly SignedMessage[]): Generator<readonly SignedMessage[]> {
  let batch: SignedMessage[] = [];
  let bytes = 0;
  for (const message of messages) {
    const size = message.envelope.payload.length + message.envelope.protected.length;
    if (batch.length === maxBatchMessages || (batch.length > 0 && bytes + size > maxBatchBytes)) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(message);
    bytes += size;
  }
  if (batch.length > 0) yield batch;
}

/**
 * One stream of signed messages. Appends run one after another. Two messages are never signed for one place unless the exchange has
 * refused the first: what got no answer is sent again, byte for byte, before anything else.
 */
export function createStream(options: StreamOptions) {
  const { streamId, workspaceId, send, readHead } = options;
  let place = placeOf(options.head);
  /** Signed messages without an answer. */
  let unsettled: readonly SignedMessage[] = [];
  /** After a refusal: somebody else may have written to the stream. */
  let isStale = false;
  let turn: Promise<unknown> = Promise.resolve();

  /** Runs work when all work before it has ended. */
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = turn.then(work, work);
    turn = result.catch(() => undefined);
    return result;
  }

  const advance = ({ sequence, digest, issuedAt }: SignedMessage) => {
    if (sequence > place.sequence) place = { sequence, digest, issuedAt };
  };

  /** Sends one batch until it is settled. Throws `MessageRefusal` with the results of the batch. */
  async function sendBatch(batch: readonly SignedMessage[]): Promise<readonly MessageResult[]> {
    const body = Buffer.from(JSON.stringify({ messages: batch.map(({ envelope }) => envelope) }));
    const idempotencyKey = hash('sha256', batch.map(({ digest }) => digest).join(' '), 'hex');
    try {
      const path = `/workspaces/${workspaceId}/messages`;
      const { results } = submission.parse(JSON.parse(await send({ method: 'POST', path, body, idempotencyKey })));
      for (const message of batch) advance(message);
      return results;
    } catch (error) {
      if (!(error instanceof ExchangeRefusal)) throw error;
      const { results } = resultsBefore.parse(error.problem);
      for (const message of batch.slice(0, results.length)) advance(message);
      throw new MessageRefusal(error.problem, results, batch[error.problem.index ?? results.length]);
    }
  }

  /** Sends messages in batches. Those without an answer stay unsettled; after a refusal none does. */
  async function sendAll(messages: readonly SignedMessage[]): Promise<readonly MessageResult[]> {
    const results: MessageResult[] = [];
    unsettled = messages;
    for (const batch of batchesOf(messages)) {
      try {
        results.push(...(await sendBatch(batch)));
      } catch (error) {
        if (!(error instanceof MessageRefusal)) throw error;
        unsettled = [];
        isStale = true;
        throw new MessageRefusal(error.problem, [...results, ...error.results], error.refused);
      }
      unsettled = unsettled.slice(batch.length);
    }
    return results;
  }

  /** Settles what got no answer before, by the same bytes again, and finds the place of the next message. */
  async function settle(): Promise<readonly MessageResult[]> {
    const results = await sendAll(unsettled);
    if (isStale) place = placeOf(await readHead());
    isStale = false;
    return results;
  }

  /** Signs drafts and sends them. A draft that is wrong throws `InvalidMessage` before anything is sent. */
  const append = (drafts: readonly Draft[]): Promise<readonly MessageResult[]> =>
    inTurn(async () => {
      await settle();
      const signed: SignedMessage[] = [];
      let after = place;
      for (const draft of drafts) {
        const sender = {
          workspaceId,
          authorityId: options.authorityId,
          streamId,
          key: options.key(),
          now: options.now(),
        };
        const message = signDraft(draft, after, sender);
        signed.push(message);
        after = message;
      }
      await options.onSigned?.(signed);
      return sendAll(signed);
    });

  return {
    streamId,

    /** The place of the last message whose acceptance this object has seen. */
    place: (): StreamPlace => place,

    append,

    /**
     * Sends what got no answer again, after `ExchangeUnreachable`; `append` and `submit` do it first of all. Never append those messages
     * anew: they may have been accepted.
     */
    settle: (): Promise<readonly MessageResult[]> => inTurn(settle),

    /** Sends messages that were signed before, unchanged; those that are accepted already answer with their first receipt. */
    submit: (messages: readonly SignedMessage[]): Promise<readonly MessageResult[]> =>
      inTurn(async () => {
        await settle();
        return sendAll(messages);
      }),
  };
}

export type SignedStream = ReturnType<typeof createStream>;
