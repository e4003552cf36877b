import { once } from 'node:events';
import {
  Server,
  ServerCredentials,
  type handleServerStreamingCall,
  type handleUnaryCall,
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
import { toServiceError } from './problem-status.ts';
import { callerOf, type Tls } from './tls.ts';

/** A call besides its request, for its handler. */
export interface RpcContext {
  /** The calling service, from its certificate. */
  readonly caller: CallerName;
  /** The end user's signed statement, when one was sent on. */
  readonly principalStatement: string | undefined;
  /** Aborted when the caller gives up or the deadline passes. */
  readonly signal: AbortSignal;
  /** When the caller stops waiting; further calls take it as their deadline. */
  readonly deadline: Date;
}

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

const never = new Date(8.64e15);

type AnyCall = ServerUnaryCall<unknown, unknown> | ServerWritableStream<unknown, unknown>;

/** Names of connections already identified; decoding a certificate costs more than most handlers. */
const knownPeers = new WeakMap<object, string | undefined>();

/** The HTTP/2 session of a call: private to grpc-js, so undefined when a version hides it elsewhere. */
const sessionOf = (call: unknown): object | undefined =>
  (call as { readonly call?: { readonly stream?: { readonly session?: object } } }).call?.stream?.session;

/** The caller's name from the peer certificate, or undefined. */
function peerOf(call: AnyCall): string | undefined {
  const session = sessionOf(call);
  if (session && knownPeers.has(session)) return knownPeers.get(session);
  const name = readPeer(call);
  if (session) knownPeers.set(session, name);
  return name;
}

function readPeer(call: AnyCall): string | undefined {
  const certificate = call.getAuthContext().sslPeerCertificate as { subjectaltname?: string } | undefined;
  return callerOf(certificate?.subjectaltname);
}

interface Report {
  readonly onError: (error: unknown, method: string) => void;
  readonly toProblem?: (error: unknown) => Problem | undefined;
}

/** The problem that the caller gets for an error; failures that are ours are reported. */
function failureOf(error: unknown, call: AnyCall, report: Report) {
  const problem = error instanceof Problem ? error : report.toProblem?.(error);
  if (!problem || problem.status >= 500) report.onError(error, call.getPath());
  return toServiceError(problem ?? new Problem('internal_error'));
}

/** The caller of a method. Throws `permission_denied` when it is not on the allow-list. */
function allowedCaller(call: AnyCall, allowed: readonly string[]): CallerName {
  const caller = peerOf(call);
  if (caller === undefined || !allowed.includes(caller))
    throw new Problem('permission_denied', 'This service may not call this method.');
  return caller as CallerName;
}

/** The context of a call, and a function that says that it was answered. */
function contextOf(call: AnyCall, caller: CallerName): { readonly context: RpcContext; readonly answered: () => void } {
  // grpc-js reports every finished call as cancelled too; only one that ends before its answer was given up.
  let aborted: AbortController | undefined;
  let state: 'running' | 'answered' | 'cancelled' = 'running';
  call.on('cancelled', () => {
    if (state !== 'running') return;
    state = 'cancelled';
    aborted?.abort();
  });
  const [statement] = call.metadata.get(principalMetadata);
  const deadline = call.getDeadline();
  const context: RpcContext = {
    caller,
    principalStatement: statement?.toString(),
    get signal() {
      aborted ??= new AbortController();
      if (state === 'cancelled') aborted.abort();
      return aborted.signal;
    },
    deadline: deadline instanceof Date ? deadline : deadline === Infinity ? never : new Date(deadline),
  };
  return {
    context,
    answered: () => {
      if (state === 'running') state = 'answered';
    },
  };
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
      caller = allowedCaller(call, allowed);
    } catch (error) {
      return answer(failureOf(error, call, report));
    }
    const { context, answered } = contextOf(call, caller);
    Promise.try(handler, call.request, context, async () => undefined).then(
      (response) => {
        answered();
        answer(null, response);
      },
      (error: unknown) => {
        answered();
        answer(failureOf(error, call, report));
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
    const fail = (error: unknown) => call.emit('error', failureOf(error, call, report));
    let caller: CallerName;
    try {
      caller = allowedCaller(call, allowed);
    } catch (error) {
      return void fail(error);
    }
    const { context, answered } = contextOf(call, caller);
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

/**
 * Serves gRPC over mutual TLS with the standard health service (`grpc.health.v1`).
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
}): Promise<RpcServer> {
  const server = new Server({ 'grpc.max_receive_message_length': 16 * 1024 * 1024 });
  const health = new HealthImplementation({ '': 'SERVING' });
  health.addToServer(server);
  for (const service of options.services) {
    const implementation: Record<string, UntypedHandleCall> = {};
    const handlers = service.handlers as Record<string, AnyHandler>;
    const callers = service.callers as Record<string, readonly string[]>;
    for (const [method, { responseStream }] of Object.entries(service.definition))
      implementation[method] = (responseStream ? streaming : unary)(handlers[method]!, callers[method]!, options);
    server.addService(service.definition, implementation);
  }
  const { ca, cert, key } = options.tls;
  const credentials = ServerCredentials.createSsl(ca, [{ cert_chain: cert, private_key: key }], true);
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync(options.listen, credentials, (error, bound) => (error ? reject(error) : resolve(bound))),
  );
  return {
    port,
    close: (drainMs = 10_000) =>
      new Promise((resolve) => {
        health.setStatus('', 'NOT_SERVING');
        const force = setTimeout(() => server.forceShutdown(), drainMs);
        server.tryShutdown(() => {
          clearTimeout(force);
          resolve();
        });
      }),
  };
}

export type { RequestOf, ResponseOf };
