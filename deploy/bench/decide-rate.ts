import type { Fleet } from '@longwave/fleet';
import { newId } from '@longwave/ids';
import { openChannel, readTls } from '@longwave/rpc';
import { ServingServiceService } from '@longwave/rpc/serving';
import { playWithoutDetails } from '@longwave/test-kit/clients';
import { emptyRpc } from './empty-rpc.ts';
import { compare, ratePerSecond, type Row } from './measure.ts';

/** `Decide` calls per second against an empty RPC (the health check) on the same channel. */
export async function decideRate(
  fleet: Fleet,
  published: { readonly workspaceId: string; readonly podcastId: string },
): Promise<Row> {
  const channel = openChannel(fleet.addresses['internal-serving'], 'internal-serving', readTls(fleet.operator));
  try {
    const serving = channel.client(ServingServiceService);
    const empty = emptyRpc(channel);
    const decide = () =>
      serving.decide(
        {
          ...playWithoutDetails,
          decisionId: newId('dec'),
          workspaceId: published.workspaceId,
          podcastId: published.podcastId,
          episodeId: newId('ep'),
          listenerBucket: Buffer.alloc(16, 1),
          breaks: [{ key: 'pre', position: 'pre', maxSlots: 1, maxDurationMs: 60_000n, positionMs: 0n, slotRules: [] }],
          streamFormat: 'mp3/128000/48000/2',
          country: 'DE',
          atMs: BigInt(Date.now()),
        },
        { deadlineMs: 5_000 },
      );
    return await compare(
      { name: 'ad decisions', unit: 'RPC/s', baselineName: 'empty RPC on the same channel' },
      5,
      () => ratePerSecond(3000, 32, decide),
      () => ratePerSecond(3000, 32, empty),
    );
  } finally {
    channel.close();
  }
}
