import type { Pool } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import { rpcService, type RpcService } from '@longwave/rpc';
import { ExchangeServiceService } from '@longwave/rpc/exchange';
import { acknowledge } from '../intents/acknowledge.ts';
import { insertEvents } from '../messages/outbox-table.ts';
import { holdStream, reopenStream } from '../streams/stream-table.ts';
import { transaction } from '@longwave/postgres';

const statuses = ['applied', 'rejected', 'superseded'] as const;

/** The exchange for our own delivery and the operator. */
export function exchangeService({ pool, clock }: { readonly pool: Pool; readonly clock: () => Date }): RpcService {
  return rpcService(
    ExchangeServiceService,
    { acknowledgeIntent: ['public-delivery'], holdStream: ['operator'], reopenStream: ['operator'] },
    {
      acknowledgeIntent: async (request, { caller }) => {
        const status = statuses.find((one) => one === request.status);
        if (!status) throw new Problem('validation_failed', 'There is no such status.');
        await acknowledge(
          pool,
          {
            workspaceId: request.workspaceId,
            intentId: request.intentId,
            intentVersion: request.intentVersion,
            acknowledgedBy: caller,
            status,
            detailCode: request.detailCode || undefined,
            planDigest: request.planDigest ?? null,
            appliedAt: new Date(Number(request.appliedAtMs)),
          },
          undefined,
          clock(),
        );
        return {};
      },
      holdStream: async ({ workspaceId, streamId, reason }) => {
        const now = clock();
        const isHeld = await transaction(pool, async (tx) => {
          const done = await holdStream(tx, { workspaceId, streamId }, reason, now);
          const detail = { stream_id: streamId, by: 'operator', cause: reason };
          if (done)
            await insertEvents(
              tx,
              [{ type: 'stream.quarantined', workspaceId, key: `${workspaceId}/${streamId}`, detail }],
              now,
            );
          return done;
        });
        if (!isHeld) throw new Problem('not_found', 'There is no stream of that name in this workspace.');
        return {};
      },
      reopenStream: async ({ workspaceId, streamId, reason }) => {
        const now = clock();
        const reopened = await transaction(pool, async (tx) => {
          const done = await reopenStream(tx, { workspaceId, streamId }, { operatorReason: reason }, now);
          const detail = { stream_id: streamId, by: 'operator', reason };
          if (done)
            await insertEvents(
              tx,
              [{ type: 'stream.reopened', workspaceId, key: `${workspaceId}/${streamId}`, detail }],
              now,
            );
          return done;
        });
        if (!reopened) throw new Problem('not_found', 'There is no held stream of that name in this workspace.');
        return {};
      },
    },
  );
}
