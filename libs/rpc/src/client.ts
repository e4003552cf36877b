import { Client, Metadata, type ServiceDefinition, type ServiceError } from '@grpc/grpc-js';
import { principalMetadata } from '@longwave/principal';
import { Problem } from '@longwave/problems';
import { parseServiceAddress } from '@longwave/service-kit';
import type { ServiceName } from '@longwave/services';
import { maxCarriedRequestBytes, maxMessageBytes } from './call-limits.ts';
import { traceSent } from './call-trace.ts';
import { NeverSent } from './never-sent.ts';
import type { Replica } from './replica.ts';
import { abortedProblem, createReplicas, lookupSystem, type Lookup } from './replicas.ts';
import type { RequestOf, ResponseOf, Streams } from './serve.ts';
import { streamedMethods } from './streamed-methods.ts';
import { channelCredentials } from './tls-credentials.ts';
import type { Tls } from './tls.ts';

interface CallOptions {
  /** A length from now or a point in time: the earlier of both; without either 10 s. */
  readonly deadlineMs?: number;
  readonly deadline?: Date;
  readonly signal?: AbortSignal;
  /** The end user's signed statement. */
  readonly principalStatement?: string | undefined;
}

/** One async function per method, or one that returns the messages of a stream. Both reject with a `Problem` for every failure. */
export type RpcClient<D> = {
  readonly [M in keyof D]: (
    request: RequestOf<D[M]>,
    options: CallOptions,
  ) => Streams<D[M]> extends true ? AsyncIterable<ResponseOf<D[M]>> : Promise<ResponseOf<D[M]>>;
} & { readonly close: () => void };

/** Connections to the replicas of one service, kept open; they reconnect by themselves. */
export interface RpcChannel {
  client<const D>(definition: D): RpcClient<D>;
  close(): void;
}

interface Method {
  readonly path: string;
  readonly requestSerialize: (value: unknown) => Buffer;
  readonly responseDeserialize: (value: Buffer) => unknown;
}

function metadataOf({ principalStatement }: CallOptions): Metadata {
  const metadata = new Metadata();
  if (principalStatement) metadata.set(principalMetadata, principalStatement);
  return metadata;
}

/** Cancels a call when its signal says so. Answers how to stop watching the signal. */
function cancelOnAbort(call: { readonly cancel: () => void }, { signal }: CallOptions): () => void {
  const cancel = () => call.cancel();
  signal?.addEventListener('abort', cancel, { once: true });
  return () => signal?.removeEventListener('abort', cancel);
}

/** One connection over mutual TLS to `address`, whose certificate must carry the name `service`. */
function connectTo(address: string, service: ServiceName, tls: Tls): Client {
  return new Client(`dns:${address}`, channelCredentials(tls), {
    'grpc.ssl_target_name_override': service,
    'grpc.default_authority': service,
    'grpc.keepalive_time_ms': 10_000,
    'grpc.keepalive_timeout_ms': 10_000,
    'grpc.initial_reconnect_backoff_ms': 100,
    'grpc.max_reconnect_backoff_ms': 1_000,
    'grpc.max_receive_message_length': maxMessageBytes,
  });
}

interface ChannelOptions {
  /** Paths of the unary methods whose calls share one stream per replica, as far as the server knows how. */
  readonly streamed?: ReadonlySet<string>;
  /** The addresses of a name. Rejects when it has none. */
  readonly lookup?: Lookup;
}

/**
 * Opens connections over mutual TLS to all replicas of `service`, whose certificates must carry that name; calls are spread over them.
 * @param address "host:port", or several separated by commas; a name stands for all addresses that it has
 */
export function openChannel(
  address: string,
  service: ServiceName,
  tls: Tls,
  { streamed = streamedMethods, lookup = lookupSystem }: ChannelOptions = {},
): RpcChannel {
  const replicas = createReplicas(parseServiceAddress(address), (each) => connectTo(each, service, tls), lookup);
  const { close } = replicas;
  /** When the caller stops waiting. Throws when it has left already. */
  const endOf = ({ deadlineMs, deadline, signal }: CallOptions) => {
    if (signal?.aborted) throw abortedProblem(signal);
    const lengthMs = deadlineMs ?? (deadline ? Infinity : 10_000);
    return { endMs: Math.min(Date.now() + lengthMs, deadline?.getTime() ?? Infinity), signal };
  };
  /** A call by itself. */
  const sendAlone = (replica: Replica, method: Method, request: unknown, options: CallOptions, deadline: number) => {
    const { path, requestSerialize, responseDeserialize } = method;
    return new Promise((resolve, reject) => {
      const call = replica.client.makeUnaryRequest(
        ...([path, requestSerialize, responseDeserialize, request, metadataOf(options), { deadline }] as const),
        (error, response) => {
          stopWatching();
          if (error) reject(replica.failureOf(call, error));
          else resolve(response);
        },
      );
      const stopWatching = cancelOnAbort(call, options);
    });
  };
  const unary =
    (method: Method) =>
    async (request: unknown, options: CallOptions): Promise<unknown> => {
      const end = endOf(options);
      return replicas.call(end, (replica) => sendAlone(replica, method, request, options, end.endMs));
    };
  /** A call on the shared stream of a replica, or by itself while there is none. */
  const carried = (method: Method) => {
    const { path, requestSerialize, responseDeserialize } = method;
    return async (request: unknown, options: CallOptions): Promise<unknown> => {
      const end = endOf(options);
      const { principalStatement = '' } = options;
      return replicas.call(end, async (replica) => {
        const send = replica.sender();
        if (!send) return sendAlone(replica, method, request, options, end.endMs);
        try {
          const bytes = requestSerialize(request);
          if (bytes.length > maxCarriedRequestBytes)
            return await sendAlone(replica, method, request, options, end.endMs);
          const call = { method: path, request: bytes, principalStatement, ...end };
          return responseDeserialize(await traceSent(path, (position) => send({ ...call, ...position })));
        } catch (cause) {
          if (cause instanceof Problem || cause instanceof NeverSent) throw cause;
          throw new Problem('internal_error', undefined, { cause });
        }
      });
    };
  };
  /** The messages of a stream, read as fast as the reader takes them. A reader that stops early ends the call. */
  async function* readStream(
    replica: Replica,
    method: Method,
    request: unknown,
    options: CallOptions,
    deadline: number,
  ) {
    const { path, requestSerialize, responseDeserialize } = method;
    const call = replica.client.makeServerStreamRequest(
      ...([path, requestSerialize, responseDeserialize, request, metadataOf(options), { deadline }] as const),
    );
    const stopWatching = cancelOnAbort(call, options);
    try {
      yield* call as AsyncIterable<unknown>;
    } catch (error) {
      throw error instanceof Error && 'code' in error ? replica.failureOf(call, error as ServiceError) : error;
    } finally {
      stopWatching();
      call.cancel();
    }
  }
  const stream = (method: Method) =>
    async function* (request: unknown, options: CallOptions): AsyncGenerator<unknown> {
      const end = endOf(options);
      yield* replicas.stream(end, (replica) => readStream(replica, method, request, options, end.endMs));
    };
  return {
    client: <const D>(definition: D) => {
      const methods: Record<string, unknown> = { close };
      for (const [name, method] of Object.entries(definition as unknown as ServiceDefinition)) {
        const call = streamed.has(method.path) ? carried : unary;
        methods[name] = method.responseStream ? stream(method) : call(method);
      }
      return methods as unknown as RpcClient<D>;
    },
    close,
  };
}
