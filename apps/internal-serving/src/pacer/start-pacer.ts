import type { Pool } from '@longwave/postgres';
import { openChannel, type Tls } from '@longwave/rpc';
import { CohortServiceService } from '@longwave/rpc/audience';
import type { Logger } from '@longwave/service-kit';
import type { ServingConfig } from '../config.ts';
import { countGoalSlots, countGoalSlotsSince } from '../decisions/line-item-count-table.ts';
import type { CurrentPlans } from '../plans/current-plans.ts';
import { createCohortFollower } from './cohort-follower.ts';
import { createPodcastJudgement } from './judge-podcasts.ts';
import { readDatabaseTime } from './lease-grant-table.ts';
import { createLocalDays } from './local-days.ts';
import { createReturnCurves } from './return-curves.ts';
import { runPacer, type RunningPacer } from './run-pacer.ts';

export interface PacerParts {
  readonly pool: Pool;
  readonly plans: CurrentPlans;
  readonly tls: Tls;
  readonly logger: Logger;
}

/** Starts the pacer of this process, which paces while it has the term. It starts without analytics-sink too. */
export function startPacer(
  config: Pick<ServingConfig, 'ANALYTICS_SINK_ADDRESS'>,
  { pool, plans, tls, logger }: PacerParts,
): Pick<RunningPacer, 'wake'> & AsyncDisposable {
  const sink = openChannel(config.ANALYTICS_SINK_ADDRESS, 'analytics-sink', tls);
  const pacer = runPacer(
    {
      ...{ pool, plans, countGoalSlots, countGoalSlotsSince },
      readNow: () => readDatabaseTime(pool),
      cohorts: createCohortFollower(sink.client(CohortServiceService)),
      curves: createReturnCurves(sink.client(CohortServiceService)),
      days: createLocalDays(),
      podcasts: createPodcastJudgement(
        pool,
        (workspaceId, podcastId) => plans.find(workspaceId)?.index.leastFloor(podcastId) ?? 0,
      ),
    },
    () => performance.now(),
    logger,
  );
  return {
    wake: pacer.wake,
    async [Symbol.asyncDispose]() {
      await pacer[Symbol.asyncDispose]();
      sink.close();
    },
  };
}
