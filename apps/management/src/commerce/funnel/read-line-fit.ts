import { verdictCodes } from '@longwave/ad-decision';
import { findResource, listByIds } from '@longwave/command-pipeline';
import type { Pool } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import type { RpcClient } from '@longwave/rpc';
import type { ForecastServiceService } from '@longwave/rpc/forecast';
import { readPlanLine } from '../forecasts/read-booked-plan.ts';
import type { LineFunnel } from './line-funnel.ts';
import { settingOf } from './setting-of.ts';

export interface LineFitDeps {
  readonly pool: Pool;
  readonly clock: () => Date;
  readonly explainFit: RpcClient<typeof ForecastServiceService>['explainFit'];
}

type LineFit = LineFunnel['fit'];

/** An answer takes less than a second, longer where the forecaster has to read the past first. */
const answerMs = 5_000;
const noAnswer: readonly string[] = ['temporarily_unavailable', 'timeout'];
const instant = (ms: bigint) => new Date(Number(ms)).toISOString();

/**
 * Asks the forecaster which breaks of sampled plays a line item fits as it is now, and who has slots of those. Null where it could serve nowhere, and
 * where nobody answers in time or waits any more: the other numbers of the funnel do not wait for it.
 */
export async function readLineFit(
  { pool, clock, explainFit }: LineFitDeps,
  workspaceId: string,
  lineItemId: string,
  { signal, ...range }: { readonly fromMs: bigint; readonly toMs: bigint; readonly signal: AbortSignal },
): Promise<LineFit> {
  const lineItem = await findResource(pool, workspaceId, 'line_items', lineItemId);
  const line = lineItem && (await readPlanLine(pool, lineItem, lineItem.attributes, clock()));
  if (!line || signal.aborted) return null;
  try {
    const request = { workspaceId, lineItem: Buffer.from(JSON.stringify(line)), ...range };
    const found = await explainFit(request, { deadlineMs: answerMs, signal });
    const ids = found.winners.map((winner) => winner.lineItemId);
    const named = new Map((await listByIds(pool, workspaceId, 'line_items', ids)).map((row) => [row.id, row]));
    return {
      ...{ from: instant(found.fromMs), to: instant(found.toMs), sampled_plays: found.rows },
      ...{ breaks: Number(found.breaks), fits: Number(found.fits), rare_values_hidden: found.rareValuesHidden },
      stages: verdictCodes.flatMap((code) =>
        found.stages
          .filter((stage) => stage.code === code)
          .map(({ breaks }) => ({ code, breaks: Number(breaks), change: settingOf(code) })),
      ),
      winners: found.winners.flatMap(({ lineItemId: id, slots }) => {
        const winner = named.get(id)?.attributes;
        return winner ? [{ line_item_id: id, name: winner.name, type: winner.type, slots: Number(slots) }] : [];
      }),
    };
  } catch (error) {
    if (error instanceof Problem && noAnswer.includes(error.code)) return null;
    throw error;
  }
}
