import type { Call, Tools } from '../route.ts';
import { asking, jointBasis, type Basis } from './analytics-answer.ts';
import type { MeasuredPodcast } from './analytics-gate.ts';

export interface PodcastTotals {
  /** By podcast id. */
  readonly of: ReadonlyMap<string, { readonly downloads: number; readonly listeners: number }>;
  readonly basis: Basis;
}

/** What analytics-sink takes in one question. */
const mostAtOnce = 1000;

/** Totals of podcasts wherever they live, one question per workspace. */
export async function countPodcasts(
  caller: Call['caller'],
  measured: readonly MeasuredPodcast[],
  range: { readonly fromMs: bigint; readonly toMs: bigint },
  { audience }: Tools,
): Promise<PodcastTotals> {
  const ask = (workspaceId: string, podcastIds: string[]) =>
    audience.countTotals({ workspaceId, podcastIds, range }, asking(caller));
  const byWorkspace = Map.groupBy(measured, ({ access }) => access.workspaceId);
  const questions = [...byWorkspace].flatMap(([workspaceId, members]) =>
    Array.from({ length: Math.ceil(members.length / mostAtOnce) }, (_, page) =>
      ask(
        workspaceId,
        members.slice(page * mostAtOnce, (page + 1) * mostAtOnce).map(({ podcast }) => podcast.id),
      ),
    ),
  );
  // Without any podcast the answer still says how and until when is counted.
  const [first, ...others] = await Promise.all(questions.length > 0 ? questions : [ask(caller.workspaceId, [])]);
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
