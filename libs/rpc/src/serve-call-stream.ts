import { Metadata, status, type handleBidiStreamingCall, type ServerDuplexStream } from '@grpc/grpc-js';
import { Problem } from '@longwave/problems';
import { createBatchQueue, maxBatchItems, type BatchQueue } from './batches.ts';
import { maxCallsUnderWay, maxMessageBytes, maxTimerMs } from './call-limits.ts';
import { traceHandled } from './call-trace.ts';
import type { Answer, Call, CarryRequest, CarryResponse } from './generated/longwave/call/v1/call.ts';
import { allowedCaller, peerOf } from './peer.ts';
import { toFailure } from './problem-status.ts';
import { never, startCall, type RpcContext, type RunningCall } from './running-call.ts';

/** A unary method as the stream serves it. */
export interface CarriedMethod {
  readonly path: string;
  readonly requestDeserialize: (bytes: Buffer) => unknown;
  readonly responseSerialize: (value: unknown) => Buffer;
  readonly handler: (request: unknown, context: RpcContext) => Promise<unknown>;
  readonly allowed: readonly string[];
}

type Outcome = NonNullable<Answer['outcome']>;
type FailureOf = (error: unknown, path: string) => Extract<Outcome, { $case: 'failure' }>['value'];
type Stream = ServerDuplexStream<CarryRequest, CarryResponse>;

/** Room for the frame around the largest answer. */
const frameBytes = 64;
const bytesOf = ({ outcome }: Answer) => frameBytes + (outcome?.$case === 'response' ? outcome.value.length : 512);

const bareFailure = (code: status, details: string): Outcome => ({
  $case: 'failure',
  value: { code, details, problem: Buffer.alloc(0) },
});

function responseOf(method: CarriedMethod, response: unknown): Outcome {
  const value = method.responseSerialize(response);
  if (value.length > maxMessageBytes - 2 * frameBytes)
    return bareFailure(status.RESOURCE_EXHAUSTED, 'The answer is too long.');
  return { $case: 'response', value };
}

/** Not reported: under too great a load each report would add to it. */
const tooMany = toFailure(new Problem('temporarily_unavailable', undefined, { retryAfterSeconds: 1 }));

const deadlineOf = ({ leftMs }: Call) => (leftMs === undefined ? never : new Date(Date.now() + leftMs));

/** Serves the calls of one stream. Answers how to ask its caller to send further calls elsewhere, and how to end it whatever the caller does. */
function serveStream(stream: Stream, methods: ReadonlyMap<string, CarriedMethod>, failureOf: FailureOf) {
  const peer = peerOf(stream);
  const running = new Map<number, Pick<RunningCall, 'cancel'>>();
  let isEnding = false;
  const endWhenDone = () => {
    if (isEnding && running.size === 0 && answers.length === 0) stream.end();
  };
  const answers: BatchQueue<Answer> = createBatchQueue(
    stream,
    bytesOf,
    (items) => {
      const takesMore = stream.write({ answers: [...items], closing: false });
      // A caller that reads no answers gets no further calls served.
      if (!takesMore) stream.pause();
      endWhenDone();
      return takesMore;
    },
    () => stream.resume(),
  );
  let isBroken = false;
  const breakOff = (code = status.INVALID_ARGUMENT, details = 'The message breaks the protocol.') => {
    isBroken = true;
    stream.emit('error', { code, details });
  };
  const refuse = (id: number, error: unknown, path: string) =>
    answers.push({ id, outcome: { $case: 'failure', value: failureOf(error, path) } });

  function handle(call: Call, method: CarriedMethod): void {
    const { id } = call;
    const { path, handler } = method;
    let request: unknown;
    let started: RunningCall;
    try {
      const caller = allowedCaller(peer, method.allowed);
      request = method.requestDeserialize(call.request);
      started = startCall(caller, call.principalStatement || undefined, deadlineOf(call));
    } catch (error) {
      return refuse(id, error, path);
    }
    const timer = call.leftMs === undefined ? undefined : setTimeout(started.cancel, Math.min(call.leftMs, maxTimerMs));
    const cancel = () => {
      clearTimeout(timer);
      started.cancel();
    };
    running.set(id, { cancel });
    const settle = (outcome: Outcome) => {
      clearTimeout(timer);
      running.delete(id);
      if (started.answered()) answers.push({ id, outcome });
      endWhenDone();
    };
    const fail = (error: unknown) => settle({ $case: 'failure', value: failureOf(error, path) });
    traceHandled(path, call, () => Promise.try(handler, request, started.context))
      .then((response) => responseOf(method, response))
      .then(settle, fail);
  }

  function accept(call: Call): void {
    if (call.cancelled) return running.get(call.id)?.cancel();
    if (running.has(call.id)) return breakOff();
    // Refusals wait too: of a caller that does not keep to its number of calls.
    if (answers.length >= 2 * maxCallsUnderWay) return breakOff();
    const method = methods.get(call.method);
    if (!method) {
      const outcome = bareFailure(status.UNIMPLEMENTED, `The server has no unary method ${call.method.slice(0, 200)}`);
      return answers.push({ id: call.id, outcome });
    }
    if (running.size + answers.length >= maxCallsUnderWay)
      return answers.push({ id: call.id, outcome: { $case: 'failure', value: tooMany } });
    handle(call, method);
  }

  stream.on('data', ({ calls }: CarryRequest) => {
    if (calls.length > maxBatchItems) return breakOff();
    for (const call of calls) if (!isBroken) accept(call);
  });
  stream.on('end', () => {
    isEnding = true;
    endWhenDone();
  });
  const giveUp = () => {
    answers.close();
    for (const call of running.values()) call.cancel();
  };
  // However the stream ends, nobody waits for its calls any more.
  stream.on('cancelled', giveUp);
  // The caller sends calls when it has seen these.
  stream.sendMetadata(new Metadata());
  return {
    takeLeave: () => void stream.write({ answers: [], closing: true }),
    end: () => {
      giveUp();
      breakOff(status.UNAVAILABLE, 'The stream has reached its age.');
    },
  };
}

/** About this time, up to a tenth more or less: callers that came together do not come again together. */
const about = (ms: number) => ms * (0.9 + Math.random() / 5);

/**
 * The handler of `Carry`: serves calls of these methods, by path, as if each had come by itself.
 * @param times.maxAgeMs the caller of a stream that is as old as this, about, is told to send further calls elsewhere
 * @param times.leaveMs a caller that was told so ends its stream within this time; else it is ended, and calls under way fail
 * @returns `close` tells every caller so; a stream ends when its last call is answered
 */
export function serveCallStreams(
  methods: ReadonlyMap<string, CarriedMethod>,
  failureOf: FailureOf,
  { maxAgeMs, leaveMs }: { readonly maxAgeMs: number; readonly leaveMs: number },
): { readonly carry: handleBidiStreamingCall<CarryRequest, CarryResponse>; readonly close: () => void } {
  const open = new Set<() => void>();
  let isClosing = false;
  return {
    carry: (stream) => {
      if (isClosing) return void stream.emit('error', { code: status.UNAVAILABLE, details: 'The server is closing.' });
      const { takeLeave, end } = serveStream(stream, methods, failureOf);
      let timer = setTimeout(() => {
        takeLeave();
        timer = setTimeout(end, leaveMs).unref();
      }, about(maxAgeMs)).unref();
      open.add(takeLeave);
      stream.on('cancelled', () => {
        clearTimeout(timer);
        open.delete(takeLeave);
      });
    },
    close: () => {
      isClosing = true;
      for (const takeLeave of open) takeLeave();
    },
  };
}
