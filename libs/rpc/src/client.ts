import { Client, credentials, Metadata, type ServiceDefinition } from '@grpc/grpc-js';
import { principalMetadata } from '@longwave/principal';
import { Problem } from '@longwave/problems';
import type { ServiceName } from '@longwave/services';
import { fromServiceError } from './problem-status.ts';
import type { RequestOf, ResponseOf } from './serve.ts';
import type { Tls } from './tls.ts';

interface CallOptions {
  /** A length from now or a point in time: the earlier of both; without either 10 s. */
  readonly deadlineMs?: number;
  readonly deadline?: Date;
  readonly signal?: AbortSignal;
  /** The end user's signed statement. */
  readonly principalStatement?: string | undefined;
}

/** One async function per method. Rejects with a `Problem` for every failure. */
export type RpcClient<D> = {
  readonly [M in keyof D]: (request: RequestOf<D[M]>, options: CallOptions) => Promise<ResponseOf<D[M]>>;
} & { readonly close: () => void };

/** A connection to one service, kept open; channels reconnect by themselves. */
export interface RpcChannel {
  client<const D>(definition: D): RpcClient<D>;
  close(): void;
}

interface UnaryMethod {
  readonly path: string;
  readonly requestSerialize: (value: unknown) => Buffer;
  readonly responseDeserialize: (value: Buffer) => unknown;
}

/** Opens a channel over mutual TLS to `address` ("host:port"), whose certificate must carry the name `service`. */
export function openChannel(address: string, service: ServiceName, tls: Tls): RpcChannel {
  const client = new Client(address, credentials.createSsl(tls.ca, tls.key, tls.cert), {
    'grpc.ssl_target_name_override': service,
    'grpc.default_authority': service,
    'grpc.keepalive_time_ms': 30_000,
    'grpc.initial_reconnect_backoff_ms': 100,
    'grpc.max_reconnect_backoff_ms': 2_000,
    'grpc.max_receive_message_length': 16 * 1024 * 1024,
  });
  /** The end in Unix milliseconds. */
  const endOf = ({ deadlineMs, deadline }: CallOptions) => {
    const lengthMs = deadlineMs ?? (deadline ? Infinity : 10_000);
    return Math.min(Date.now() + lengthMs, deadline?.getTime() ?? Infinity);
  };
  const unary = (method: UnaryMethod) => (request: unknown, options: CallOptions) =>
    new Promise((resolve, reject) => {
      if (options.signal?.aborted) {
        const cause: unknown = options.signal.reason;
        return reject(new Problem('temporarily_unavailable', undefined, { cause, retryAfterSeconds: 1 }));
      }
      const metadata = new Metadata();
      if (options.principalStatement) metadata.set(principalMetadata, options.principalStatement);
      const call = client.makeUnaryRequest(
        method.path,
        method.requestSerialize,
        method.responseDeserialize,
        request,
        metadata,
        { deadline: endOf(options) },
        (error, response) => {
          options.signal?.removeEventListener('abort', cancel);
          if (error) reject(fromServiceError(error));
          else resolve(response);
        },
      );
      const cancel = () => call.cancel();
      options.signal?.addEventListener('abort', cancel, { once: true });
    });
  return {
    client: <const D>(definition: D) => {
      const methods: Record<string, unknown> = { close: () => client.close() };
      for (const [name, method] of Object.entries(definition as unknown as ServiceDefinition))
        methods[name] = unary(method);
      return methods as unknown as RpcClient<D>;
    },
    close: () => client.close(),
  };
}
