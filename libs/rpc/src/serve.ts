import { once } from 'node:events';
import {
  Server,
  type handleServerStreamingCall,
  type handleUnaryCall,
  type MethodDefinition,
  type sendUnaryData,
  type ServerUnaryCall,
  type ServerWritableStream,
  type ServiceDefinition,
  type UntypedHandleCall,
} from '@grpc/grpc-js';
import { Problem } from '@longwave/problems';
import { principalMetadata } from '@longwave/principal';
import type { CallerName } from '@longwave/services';
import { HealthImplementation } from 'grpc-health-check';
import { maxMessageBytes } from './call-limits.ts';
import { CallStreamServiceService, type Failure } from './generated/longwave/call/v1/call.ts';
import { allowedCaller, peerOf } from './peer.ts';
import { toFailure, toServiceError } from './problem-status.ts';
import { never, startCall, type RpcContext, type RunningCall } from './running-call.ts';
import { serveCallStreams, type CarriedMethod } from './serve-call-stream.ts';
import { serverCredentials } from './tls-credentials.ts';
import type { Tls } from './tls.ts';

/* eslint-disable @typescript-eslint/no-explicit-any -- the only way to infer from grpc-js' definition type */
type RequestOf<M> = M extends { requestDeserialize: (value: any) => infer R } ? R : never;
type ResponseOf<M> = M extends { responseDeserialize: (value: any) => infer R } ? R : never;
/* eslint-enable @typescript-eslint/no-explicit-any */

/** Whether a method of a definition answers with a stream of messages. */
export type Streams<M> = M extends { readonly responseStream: true } ? true : false;

/** Sends one message of a stream; resolves when the connection takes the next, and rejects when the caller has gone. */
type SendMessage<R> = (message: R) => Promise<void>;

/** One async function per method of a service definition; that of a stream sends its messages and resolves at the end. */
export type RpcHandlers<D> = {
  readonly [M in keyof D]: Streams<D[M]> extends true
    ? (request: RequestOf<D[M]>, context: RpcContext, send: SendMessage<ResponseOf<D[M]>>) => Promise<void>
    : (request: RequestOf<D[M]>, context: RpcContext) => Promise<ResponseOf<D[M]>>;
};

/** A service: its generated definition, its handlers and who may call each method. */
export interface RpcService<D = ServiceDefinition> {
  readonly definition: D;
  readonly handlers: RpcHandlers<D>;
  readonly callers: { readonly [M in keyof D]: readonly CallerName[] };
}

/** Pairs definition, handlers and allow-lists; a missing method is a compile error. */
export function rpcService<const D>(
  definition: D,
  callers: RpcService<D>['callers'],
  handlers: RpcHandlers<D>,
): RpcService {
  return { definition, handlers, callers } as unknown as RpcService;
}

export interface RpcServer {
  readonly port: number;
  /** Refuses new calls, lets running ones finish (at most `drainMs`), then closes. */
  close(drainMs?: number): Promise<void>;
}

type AnyCall = ServerUnaryCall<unknown, unknown> | ServerWritableStream<unknown, unknown>;

interface Report {
  readonly onError: (error: unknown, method: string) => void;
  readonly toProblem?: (error: unknown) => Problem | undefined;
}

/** What the caller of a method gets for an error; failures that are ours are reported. */
function failureOf(error: unknown, path: string, report: Report): Failure {
  const problem = error instanceof Problem ? error : report.toProblem?.(error);
  if (!problem || problem.status >= 500) report.onError(error, path);
  return toFailure(problem ?? new Problem('internal_error'));
}

const serviceErrorOf = (error: unknown, call: AnyCall, report: Report) =>
  toServiceError(failureOf(error, call.getPath(), report));

/** A call that came by itself. */
function startedCall(call: AnyCall, caller: CallerName): RunningCall {
  const [statement] = call.metadata.get(principalMetadata);
  const deadline = call.getDeadline();
  const endsAt = deadline instanceof Date ? deadline : deadline === Infinity ? never : new Date(deadline);
  const started = startCall(caller, statement?.toString(), endsAt);
  // grpc-js reports every finished call as cancelled too; only one that ends before its answer was given up.
  call.on('cancelled', started.cancel);
  return started;
}

type AnyHandler = (
  request: unknown,
  context: RpcContext,
  send: (message: unknown) => Promise<void>,
) => Promise<unknown>;

function unary(handler: AnyHandler, allowed: readonly string[], report: Report): handleUnaryCall<unknown, unknown> {
  return (call: ServerUnaryCall<unknown, unknown>, answer: sendUnaryData<unknown>) => {
    let caller: CallerName;
    try {
      caller = allowedCaller(peerOf(call), allowed);
    } catch (error) {
      return answer(serviceErrorOf(error, call, report));
    }
    const { context, answered } = startedCall(call, caller);
    Promise.try(handler, call.request, context, noMessages).then(
      (response) => {
        answered();
        answer(null, response);
      },
      (error: unknown) => {
        answered();
        answer(serviceErrorOf(error, call, report));
      },
    );
  };
}

/** Writes one message; resolves when the connection takes the next one. */
const sendTo =
  (call: ServerWritableStream<unknown, unknown>, signal: AbortSignal) =>
  async (message: unknown): Promise<void> => {
    signal.throwIfAborted();
    if (!call.write(message)) await once(call, 'drain', { signal });
  };

function streaming(
  handler: AnyHandler,
  allowed: readonly string[],
  report: Report,
): handleServerStreamingCall<unknown, unknown> {
  return (call) => {
    const fail = (error: unknown) => call.emit('error', serviceErrorOf(error, call, report));
    let caller: CallerName;
    try {
      caller = allowedCaller(peerOf(call), allowed);
    } catch (error) {
      return void fail(error);
    }
    const { context, answered } = startedCall(call, caller);
    const { signal } = context;
    Promise.try(handler, call.request, context, sendTo(call, signal)).then(
      () => {
        answered();
        call.end();
      },
      (error: unknown) => {
        answered();
        // Nobody hears why a call ended that its caller gave up.
        if (!signal.aborted) fail(error);
      },
    );
  };
}

const noMessages = async () => undefined;

const carriedMethod = (
  { path, requestDeserialize, responseSerialize }: MethodDefinition<unknown, unknown>,
  handler: AnyHandler,
  allowed: readonly string[],
): CarriedMethod => ({
  ...{ path, requestDeserialize, responseSerialize, allowed },
  handler: (request, context) => handler(request, context, noMessages),
});

/**
 * How long callers stay. A connection as old as `maxConnectionAgeMs`, give or take a tenth, takes no further calls, and ends when the last is
 * answered, after `connectionGraceMs` at the latest: its caller connects again, perhaps to another replica behind one address, and shows the
 * certificate that it has by then. The same holds for a stream that carries calls, which is ended `streamLeaveMs` after its caller was asked to leave.
 * The grace has room for the longest call, a report (10 minutes), and for a stream that was opened last of all; age and grace together are
 * less than the 35 minutes that docs/kubernetes.md promises.
 */
const lifetimes = { maxConnectionAgeMs: 15 * 60_000, connectionGraceMs: 18 * 60_000, streamLeaveMs: 60_000 };

/**
 * Serves gRPC over mutual TLS with the standard health service (`grpc.health.v1`).
 * Unary methods are served call by call and over the stream that carries calls (`CallStreamService`).
 * Each method answers only the callers on its allow-list; a thrown `Problem` arrives whole, anything else as `internal_error`.
 */
export async function serveRpc(options: {
  readonly listen: string;
  readonly tls: Tls;
  readonly services: readonly RpcService[];
  /** Receives every failure that is ours, with the private cause. */
  readonly onError: (error: unknown, method: string) => void;
  /** The problem behind an error of an engine (a database that is away), when there is one. */
  readonly toProblem?: (error: unknown) => Problem | undefined;
  /** Shorter times than those of a server that runs. */
  readonly lifetimes?: Partial<typeof lifetimes>;
}): Promise<RpcServer> {
  const { maxConnectionAgeMs, connectionGraceMs, streamLeaveMs } = { ...lifetimes, ...options.lifetimes };
  const server = new Server({
    'grpc.max_receive_message_length': maxMessageBytes,
    'grpc.max_connection_age_ms': maxConnectionAgeMs,
    'grpc.max_connection_age_grace_ms': connectionGraceMs,
  });
  const health = new HealthImplementation({ '': 'SERVING' });
  health.addToServer(server);
  const carried = new Map<string, CarriedMethod>();
  for (const service of options.services) {
    const implementation: Record<string, UntypedHandleCall> = {};
    const handlers = service.handlers as Record<string, AnyHandler>;
    const callers = service.callers as Record<string, readonly string[]>;
    for (const [name, method] of Object.entries(service.definition)) {
      const [handler, allowed] = [handlers[name]!, callers[name]!];
      implementation[name] = (method.responseStream ? streaming : unary)(handler, allowed, options);
      if (!method.responseStream) carried.set(method.path, carriedMethod(method, handler, allowed));
    }
    server.addService(service.definition, implementation);
  }
  const callStreams = serveCallStreams(carried, (error, path) => failureOf(error, path, options), {
    maxAgeMs: maxConnectionAgeMs,
    leaveMs: streamLeaveMs,
  });
  server.addService(CallStreamServiceService, { carry: callStreams.carry });
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync(options.listen, serverCredentials(options.tls), (error, bound) =>
      error ? reject(error) : resolve(bound),
    ),
  );
  return {
    port,
    close: (drainMs = 10_000) =>
      new Promise((resolve) => {
        health.setStatus('', 'NOT_SERVING');
        callStreams.close();
        const force = setTimeout(() => server.forceShutdown(), drainMs);
        server.tryShutdown(() => {
          clearTimeout(force);
          resolve();
        });
      }),
  };
}

export type { RequestOf, ResponseOf };
