import type { Pool } from '@longwave/postgres';
import { parseOrProblem } from '@longwave/problems';
import { rpcService, type RpcService } from '@longwave/rpc';
import { SampleServiceService, type ReadSampleResponse, type SampledPlay as WirePlay } from '@longwave/rpc/serving';
import { z } from 'zod';
import { listCommitted } from './committed-table.ts';
import { unpackSample } from './packed-sample.ts';
import { findSampledHour, listEpisodeHours, listSampledHours, type EpisodeHour } from './play-sample-table.ts';
import type { SampledPlay } from './sampled-play.ts';

const hourMs = 3_600_000;
/** Rows of one message. */
const batchSize = 1_000;

const instant = z
  .bigint()
  .min(0n)
  .max(BigInt(8.64e15))
  .transform((ms) => new Date(Number(ms)));
const rangeRequest = z
  .strictObject({ workspaceId: z.string().min(1).max(64), fromMs: instant, toMs: instant })
  .refine(({ fromMs, toMs }) => fromMs.getTime() % hourMs === 0 && toMs.getTime() % hourMs === 0, {
    message: 'Name whole hours.',
  });
const committedRequest = z.strictObject({ lineItemIds: z.array(z.string().min(1).max(64)).max(20_000) });

/** A message with plays; each layout of breaks stands in it once. */
function messageOf(plays: readonly SampledPlay[]): ReadSampleResponse {
  const layouts = new Map<SampledPlay['breaks'], number>();
  const wire = plays.map((play): WirePlay => {
    const { breaks, listener, ...rest } = play;
    const layout = layouts.get(breaks) ?? layouts.set(breaks, layouts.size).get(breaks)!;
    return {
      ...rest,
      ...{ layout, listener },
      atMs: BigInt(play.atMs),
      publishedAtMs: BigInt(play.publishedAtMs),
      adLoadLimitMs: BigInt(play.adLoadLimitMs),
      contentCategories: [...play.contentCategories],
      streamFormats: [...play.streamFormats],
      lineItemIds: [...play.lineItemIds],
    };
  });
  const layoutOf = (breaks: SampledPlay['breaks']) => ({
    breaks: breaks.map((one) => ({
      ...one,
      maxDurationMs: BigInt(one.maxDurationMs),
      positionMs: BigInt(one.positionMs),
      slotRules: one.slotRules.map((rule) => ({
        slot: rule.slot,
        maxDurationMs: BigInt(rule.maxDurationMs),
        lineItemTypes: [...rule.lineItemTypes],
        productions: [...rule.productions],
      })),
    })),
  });
  return { plays: wire, layouts: [...layouts.keys()].map(layoutOf) };
}

/** What forecasts read of the past. */
export const sampleService = (pool: Pool): RpcService =>
  rpcService(
    SampleServiceService,
    {
      readSample: ['forecaster', 'operator'],
      readPlayHours: ['forecaster', 'operator'],
      readCommitted: ['forecaster', 'operator'],
    },
    {
      readSample: async (request, _context, send) => {
        const { workspaceId, fromMs: from, toMs: to } = parseOrProblem(rangeRequest, request);
        for (const hour of await listSampledHours(pool, workspaceId, from, to)) {
          const packed = await findSampledHour(pool, workspaceId, hour);
          const plays = packed ? unpackSample(packed) : [];
          for (let at = 0; at < plays.length; at += batchSize) await send(messageOf(plays.slice(at, at + batchSize)));
        }
      },

      readPlayHours: async (request, _context, send) => {
        const { workspaceId, fromMs: from, toMs: to } = parseOrProblem(rangeRequest, request);
        let after: EpisodeHour | undefined;
        for (;;) {
          const rows = await listEpisodeHours(pool, { workspaceId, from, to }, after, batchSize);
          const hours = rows.map((row) => ({
            ...{ podcastId: row.podcastId, episodeId: row.episodeId, language: row.language },
            contentCategories: [...row.contentCategories],
            hourMs: BigInt(row.hourMs),
            publishedAtMs: BigInt(row.publishedAtMs),
            opportunities: BigInt(row.opportunities),
          }));
          if (hours.length > 0) await send({ hours });
          if (rows.length < batchSize) return;
          after = rows.at(-1);
        }
      },

      readCommitted: async (request) => {
        const { lineItemIds } = parseOrProblem(committedRequest, request);
        return { lineItems: await listCommitted(pool, lineItemIds) };
      },
    },
  );
