import { Client, credentials, Metadata, type ServiceDefinition, type ServiceError } from '@grpc/grpc-js';
import { principalMetadata } from '@longwave/principal';
import { Problem } from '@longwave/problems';
import type { ServiceName } from '@longwave/services';
import { maxCarriedRequestBytes, maxMessageBytes } from './call-limits.ts';
import { createCallStream } from './call-stream.ts';
import { traceSent } from './call-trace.ts';
import { fromServiceError } from './problem-status.ts';
import type { RequestOf, ResponseOf, Streams } from './serve.ts';
import { streamedMethods } from './streamed-methods.ts';
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

/** A connection to one service, kept open; channels reconnect by themselves. */
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

const abortedProblem = ({ reason: cause }: AbortSignal) =>
  new Problem('temporarily_unavailable', undefined, { cause, retryAfterSeconds: 1 });

/** Cancels a call when its signal says so. Answers how to stop watching the signal. */
function cancelOnAbort(call: { readonly cancel: () => void }, { signal }: CallOptions): () => void {
  const cancel = () => call.cancel();
  signal?.addEventListener('abort', cancel, { once: true });
  return () => signal?.removeEventListener('abort', cancel);
}

/**
 * Opens a channel over mutual TLS to `address` ("host:port"), whose certificate must carry the name `service`.
 * @param streamed paths of the unary methods whose calls share one stream, as far as the server knows how
 */
export function openChannel(
  address: string,
  service: ServiceName,
  tls: Tls,
  streamed: ReadonlySet<string> = streamedMethods,
): RpcChannel {
  const client = new Client(address, credentials.createSsl(tls.ca, tls.key, tls.cert), {
    'grpc.ssl_target_name_override': service,
    'grpc.default_authority': service,
    'grpc.keepalive_time_ms': 30_000,
    'grpc.initial_reconnect_backoff_ms': 100,
    'grpc.max_reconnect_backoff_ms': 2_000,
    'grpc.max_receive_message_length': maxMessageBytes,
  });
  const callStream = createCallStream(client);
  const close = () => {
    callStream.close();
    client.close();
  };
  /** The end in Unix milliseconds. */
  const endOf = ({ deadlineMs, deadline }: CallOptions) => {
    const lengthMs = deadlineMs ?? (deadline ? Infinity : 10_000);
    return Math.min(Date.now() + lengthMs, deadline?.getTime() ?? Infinity);
  };
  /** The arguments of a request, alike for both kinds. Throws when the caller has left already. */
  const argumentsOf = (method: Method, request: unknown, options: CallOptions) => {
    if (options.signal?.aborted) throw abortedProblem(options.signal);
    const { path, requestSerialize, responseDeserialize } = method;
    const deadline = { deadline: endOf(options) };
    return [path, requestSerialize, responseDeserialize, request, metadataOf(options), deadline] as const;
  };
  const unary =
    (method: Method) =>
    async (request: unknown, options: CallOptions): Promise<unknown> => {
      const sent = argumentsOf(method, request, options);
      return new Promise((resolve, reject) => {
        const call = client.makeUnaryRequest(...sent, (error, response) => {
          stopWatching();
          if (error) reject(fromServiceError(error));
          else resolve(response);
        });
        const stopWatching = cancelOnAbort(call, options);
      });
    };
  /** A call on the shared stream, or by itself while there is none. */
  const carried = (method: Method) => {
    const { path, requestSerialize, responseDeserialize } = method;
    const alone = unary(method);
    return async (request: unknown, options: CallOptions): Promise<unknown> => {
      const { signal, principalStatement = '' } = options;
      if (signal?.aborted) throw abortedProblem(signal);
      const send = callStream.sender();
      if (!send) return alone(request, options);
      try {
        const bytes = requestSerialize(request);
        if (bytes.length > maxCarriedRequestBytes) return await alone(request, options);
        const call = { method: path, request: bytes, principalStatement, endMs: endOf(options), signal };
        return responseDeserialize(await traceSent(path, (position) => send({ ...call, ...position })));
      } catch (cause) {
        throw cause instanceof Problem ? cause : new Problem('internal_error', undefined, { cause });
      }
    };
  };
  /** The messages of a stream, read as fast as the reader takes them. A reader that stops early ends the call. */
  const stream = (method: Method) =>
    async function* (request: unknown, options: CallOptions): AsyncGenerator<unknown> {
      const call = client.makeServerStreamRequest(...argumentsOf(method, request, options));
      const stopWatching = cancelOnAbort(call, options);
      try {
        yield* call;
      } catch (error) {
        throw error instanceof Error && 'code' in error ? fromServiceError(error as ServiceError) : error;
      } finally {
        stopWatching();
        call.cancel();
      }
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
