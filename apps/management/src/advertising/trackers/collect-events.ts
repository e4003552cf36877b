import { transaction, type Pool } from '@longwave/postgres';
import type { RpcClient } from '@longwave/rpc';
import type { AdEvent, AdEventServiceService } from '@longwave/rpc/audience';
import { pollLoop } from '@longwave/worker-kit';
import { findCursor, listTrackedWorkspaces, readTrackedSubjects } from './tracked-subject-table.ts';
import { savePage } from './tracker-call-table.ts';
import { trackerCallsOf, type ServingEvent } from './tracker-calls-of.ts';

export type ListAdEvents = RpcClient<typeof AdEventServiceService>['listAdEvents'];

const deadlineMs = 20_000;
/** Workspaces of one question: the sink takes no longer list. */
const defaultMaxWorkspaces = 20_000;

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
  readonly maxWorkspaces?: number;
  /** Called when calls may be due. */
  readonly onQueued: () => void;
  /** Called with how many calls their workspaces had no room for. */
  readonly onGivenUp: (calls: number) => void;
  readonly onError: (error: unknown) => void;
}

/**
 * Asks the sink again and again what it counted of servings in workspaces with trackers, and queues their calls. The page and the cursor
 * behind it are saved in one transaction, so that a page that is read again after a crash queues nothing twice.
 */
export const collectEvents = (options: CollectOptions): AsyncDisposable => {
  const { pool, listAdEvents, clock, everyMs, onQueued, onGivenUp, onError } = options;
  const { maxWorkspaces = defaultMaxWorkspaces } = options;
  /** What the sink counted since a time; in workspaces beyond the limit of one question only as far as all answers reach. */
  async function ask(from: Date | undefined, signal: AbortSignal) {
    const workspaceIds = await listTrackedWorkspaces(pool, clock());
    const answers = [];
    for (let at = 0; at === 0 || at < workspaceIds.length; at += maxWorkspaces) {
      const asked = { workspaceIds: workspaceIds.slice(at, at + maxWorkspaces) };
      const since = from && { fromMs: BigInt(from.getTime()) };
      answers.push(await listAdEvents({ ...asked, ...since }, { deadlineMs, signal }));
    }
    return {
      events: answers.flatMap(({ events }) => events.map(eventOf)),
      // What lies behind it is told again, and queued once.
      until: new Date(Math.min(...answers.map(({ untilMs }) => Number(untilMs)))),
      isBehind: answers.some((answer) => answer.isBehind),
    };
  }
  return pollLoop({
    everyMs,
    run: async (signal) => {
      const { events, until, isBehind } = await ask(await findCursor(pool), signal);
      const subjects = events.length > 0 ? await readTrackedSubjects(pool, events) : undefined;
      const calls = subjects ? events.flatMap((event) => trackerCallsOf(event, subjects)) : [];
      const page = { until, calls };
      const { queued, givenUp } = await transaction(pool, (tx) => savePage(tx, page, clock()));
      if (queued > 0) onQueued();
      if (givenUp > 0) onGivenUp(givenUp);
      return isBehind;
    },
    onError,
  });
};
