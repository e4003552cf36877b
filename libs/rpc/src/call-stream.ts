import { Metadata, status, type Client, type ClientDuplexStream, type StatusObject } from '@grpc/grpc-js';
import { Problem } from '@longwave/problems';
import { createBatchQueue } from './batches.ts';
import { maxCallsUnderWay, maxTimerMs } from './call-limits.ts';
import type { TracePosition } from './call-trace.ts';
import {
  CallStreamServiceService,
  type Answer,
  type Call,
  type CarryRequest,
  type CarryResponse,
} from './generated/longwave/call/v1/call.ts';
import { NeverSent } from './never-sent.ts';
import { fromFailure } from './problem-status.ts';

/** A call to be carried. */
interface OutgoingCall extends TracePosition {
  readonly method: string;
  readonly request: Buffer;
  readonly principalStatement: string;
  /** The end in Unix milliseconds; Infinity when the caller waits for ever. */
  readonly endMs: number;
  readonly signal: AbortSignal | undefined;
}

/**
 * Sends a call. Resolves with the response message, and rejects with the `Problem` that a unary call would have given, or with
 * `NeverSent`.
 */
export type SendCall = (call: OutgoingCall) => Promise<Buffer>;

/** A stream that could not be opened, or that broke, is tried again after this time at the earliest. */
const reopenAfterMs = 1_000;
const maxLeftMs = 2 ** 32 - 1;
/** Bytes of a call beside its request and statement, about. */
const frameBytes = 128;

interface QueuedCall {
  readonly message: Call;
  readonly endMs: number;
}

/** A problem of the way, with the status that gRPC has for it. */
const failed = (code: status, details: string): Problem =>
  fromFailure({ code, problem: Buffer.alloc(0) }, new Error(details));

/** Calls under way on one open stream. */
function carryCalls(stream: ClientDuplexStream<CarryRequest, CarryResponse>) {
  const underWay = new Map<number, (outcome: Answer['outcome'] | Error) => void>();
  let lastId = 0;
  let isLeaving = false;

  const queue = createBatchQueue<QueuedCall>(
    stream,
    ({ message }) => frameBytes + message.request.length + message.principalStatement.length,
    (items) => {
      const now = Date.now();
      const calls = items.map(({ message, endMs }) => {
        if (endMs !== Infinity) message.leftMs = Math.min(Math.max(endMs - now, 1), maxLeftMs);
        return message;
      });
      return stream.write({ calls });
    },
  );
  const leaveWhenDone = () => {
    if (isLeaving && underWay.size === 0) stream.cancel();
  };
  const send: SendCall = ({ endMs, signal, ...call }) => {
    if (underWay.size >= maxCallsUnderWay)
      return Promise.reject(new Problem('temporarily_unavailable', undefined, { retryAfterSeconds: 1 }));
    const leftMs = endMs - Date.now();
    if (leftMs <= 0) return Promise.reject(failed(status.DEADLINE_EXCEEDED, 'The deadline has passed'));
    return new Promise((resolve, reject) => {
      const id = (lastId = (lastId + 1) >>> 0);
      const queued: QueuedCall = { message: { ...call, id, cancelled: false, leftMs: undefined }, endMs };
      const settle = (outcome: Answer['outcome'] | Error) => {
        underWay.delete(id);
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
        if (outcome instanceof Error) reject(outcome);
        else if (outcome?.$case === 'response') resolve(outcome.value);
        else if (outcome) reject(fromFailure(outcome.value, new Error(outcome.value.details)));
        else reject(failed(status.INTERNAL, 'An answer without an outcome'));
        leaveWhenDone();
      };
      const giveUp = (problem: Problem) => {
        if (!queue.drop(queued)) queue.push({ message: { ...givenUp, id }, endMs: Infinity });
        settle(problem);
      };
      const onAbort = () => giveUp(failed(status.CANCELLED, 'Cancelled on client'));
      const onLate = () => giveUp(failed(status.DEADLINE_EXCEEDED, 'Deadline exceeded'));
      const timer = leftMs === Infinity ? undefined : setTimeout(onLate, Math.min(leftMs, maxTimerMs));
      signal?.addEventListener('abort', onAbort, { once: true });
      underWay.set(id, settle);
      queue.push(queued);
    });
  };
  return {
    send,
    receive: (answers: readonly Answer[]) => {
      for (const { id, outcome } of answers) underWay.get(id)?.(outcome);
    },
    /** Ends the stream once the calls under way are answered. */
    leave: () => {
      isLeaving = true;
      leaveWhenDone();
    },
    /** The stream is over: calls under way fail as those of a broken connection do, and those that still wait were never sent. */
    over: ({ code, details }: StatusObject) => {
      const problem = failed(code === status.OK ? status.UNAVAILABLE : code, details);
      const unsent = new Set(queue.close().map(({ message }) => message.id));
      for (const [id, settle] of [...underWay]) settle(unsent.has(id) ? new NeverSent(problem) : problem);
    },
  };
}

const givenUp: Omit<Call, 'id'> = {
  ...{ cancelled: true, method: '', request: Buffer.alloc(0), leftMs: undefined, principalStatement: '' },
  ...{ traceparent: '', tracestate: '' },
};

export interface CallStream {
  /** Undefined while there is no open stream; then it is being opened, and the call is to be sent by itself. */
  readonly sender: () => SendCall | undefined;
  readonly isOpen: () => boolean;
  /** Whether the server has asked for calls to go elsewhere, and has accepted no stream since; now and then it is asked for one. */
  readonly isLeaving: () => boolean;
  readonly close: () => void;
}

/**
 * The one stream to a server that carries calls of many methods. It is opened at the first call and carries calls from the moment on
 * that the server has accepted it: until then, while it is broken, and with a server that does not know it, calls are unary.
 * @param onHeard runs whenever the server has sent something
 */
export function createCallStream(client: Client, onHeard: () => void): CallStream {
  let current: ReturnType<typeof carryCalls> | undefined;
  let opening: ClientDuplexStream<CarryRequest, CarryResponse> | undefined;
  let openAgainMs = 0;
  let isLeaving = false;

  function open(): void {
    const { path, requestSerialize, responseDeserialize } = CallStreamServiceService.carry;
    const stream = client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize, new Metadata(), {});
    const calls = carryCalls(stream);
    opening = stream;
    openAgainMs = Date.now() + reopenAfterMs;
    const detach = () => {
      if (opening === stream) opening = undefined;
      if (current === calls) current = undefined;
    };
    stream.on('metadata', () => {
      onHeard();
      opening = undefined;
      isLeaving = false;
      current = calls;
    });
    stream.on('data', ({ answers, closing }: CarryResponse) => {
      onHeard();
      calls.receive(answers);
      if (!closing) return;
      isLeaving = true;
      detach();
      calls.leave();
    });
    // Its status says the same.
    stream.on('error', () => undefined);
    stream.on('status', (reason: StatusObject) => {
      detach();
      calls.over(reason);
    });
  }

  const openWhenDue = () => {
    if (!current && !opening && Date.now() >= openAgainMs) open();
  };
  return {
    sender: () => {
      openWhenDue();
      return current?.send;
    },
    isOpen: () => current !== undefined,
    isLeaving: () => {
      if (isLeaving) openWhenDue();
      return isLeaving;
    },
    close: () => {
      openAgainMs = Infinity;
      opening?.cancel();
      current?.leave();
      current = undefined;
    },
  };
}
