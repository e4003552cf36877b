import type { RpcChannel } from '@longwave/rpc';
import { service as healthService } from 'grpc-health-check';

/** The honest baseline of RPC rows: a call without work (the health check) on the same channel. */
export function emptyRpc(channel: RpcChannel): () => Promise<unknown> {
  // grpc-health-check types its definition too loosely for a typed client.
  const health = channel.client(
    healthService as unknown as {
      Check: { requestDeserialize: (b: Buffer) => { service: string }; responseDeserialize: (b: Buffer) => unknown };
    },
  );
  return () => health.Check({ service: '' }, { deadlineMs: 5_000 });
}
