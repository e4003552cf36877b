import { transaction, type Pool } from '@longwave/postgres';
import type { RpcClient } from '@longwave/rpc';
import type { AdEvent, AdEventServiceService } from '@longwave/rpc/audience';
import { pollLoop } from '@longwave/worker-kit';
import { findCursor, listTrackedWorkspaces, readTrackedSubjects } from './tracked-subject-table.ts';
import { savePage } from './tracker-call-table.ts';
import { trackerCallsOf, type ServingEvent } from './tracker-calls-of.ts';

export type ListAdEvents = RpcClient<typeof AdEventServiceService>['listAdEvents'];

const deadlineMs = 20_000;

const positions = ['pre', 'mid', 'post'] as const;

const eventOf = ({ countedAtMs, playheadMs, breakPosition, ...event }: AdEvent): ServingEvent => ({
  ...event,
  countedAt: new Date(Number(countedAtMs)),
  playheadMs: playheadMs === undefined ? undefined : Number(playheadMs),
  breakPosition: positions.find((position) => position === breakPosition),
});

export interface CollectOptions {
  readonly pool: Pool;
  readonly listAdEvents: ListAdEvents;
  readonly clock: () => Date;
  readonly everyMs: number;
  /** Called when calls may be due. */
  readonly onQueued: () => void;
  readonly onError: (error: unknown) => void;
}

/**
 * Asks the sink again and again what it counted of servings in workspaces with trackers, and queues their calls. The page and the cursor
 * behind it are saved in one transaction, so that a page that is read again after a crash queues nothing twice.
 */
export const collectEvents = (options: CollectOptions): AsyncDisposable => {
  const { pool, listAdEvents, clock, everyMs, onQueued, onError } = options;
  return pollLoop({
    everyMs,
    run: async (signal) => {
      const from = await findCursor(pool);
      const workspaceIds = await listTrackedWorkspaces(pool);
      const asked = { workspaceIds, ...(from && { fromMs: BigInt(from.getTime()) }) };
      const { events: told, untilMs, isBehind } = await listAdEvents(asked, { deadlineMs, signal });
      const events = told.map(eventOf);
      const subjects = events.length > 0 ? await readTrackedSubjects(pool, events) : undefined;
      const calls = subjects ? events.flatMap((event) => trackerCallsOf(event, subjects)) : [];
      const page = { until: new Date(Number(untilMs)), calls };
      const queued = await transaction(pool, (tx) => savePage(tx, page, clock()));
      if (queued > 0) onQueued();
      return isBehind;
    },
    onError,
  });
};
