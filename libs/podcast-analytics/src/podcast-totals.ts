import { callOptions, type Asker } from '@longwave/hosting-client';
import { jointBasis, type Basis } from './analytics-meta.ts';
import type { MeasuredPodcast } from './analytics-gate.ts';
import { batchesOrNone, type PodcastBatch } from './podcast-batches.ts';
import type { AnalyticsDeps } from './question.ts';

export interface PodcastTotals {
  /** By podcast id. */
  readonly of: ReadonlyMap<string, { readonly downloads: number; readonly listeners: number }>;
  readonly basis: Basis;
}

/** Totals of podcasts in any workspace. */
export async function countPodcasts(
  caller: Asker,
  measured: readonly MeasuredPodcast[],
  range: { readonly fromMs: bigint; readonly toMs: bigint },
  { audience }: Pick<AnalyticsDeps, 'audience'>,
): Promise<PodcastTotals> {
  const count = (batch: PodcastBatch) => audience.countTotals({ ...batch, range }, callOptions(caller));
  const [first, ...others] = await Promise.all(batchesOrNone(caller, measured).map(count));
  const podcasts = [first!, ...others].flatMap((answer) => answer.podcasts);
  return {
    of: new Map(
      podcasts.map(({ podcastId, downloads, listeners }) => [
        podcastId,
        { downloads: Number(downloads), listeners: Number(listeners) },
      ]),
    ),
    basis: jointBasis(first!, ...others),
  };
}

/** The shortest history that one of the plans has, in days; undefined when all are unlimited. */
export function shortestHistory(measured: readonly MeasuredPodcast[]): number | undefined {
  const histories = measured.flatMap(({ access }) => access.plan.historyDays ?? []);
  return histories.length === 0 ? undefined : Math.min(...histories);
}
