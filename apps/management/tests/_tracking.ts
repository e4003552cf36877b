import { newId } from '@longwave/ids';
import { createGuardedFetch } from '@longwave/guarded-fetch';
import { createLogger } from '@longwave/service-kit';
import { until } from '@longwave/test-kit';
import { startTrackers } from '../src/advertising/trackers/start-trackers.ts';
import type { ListAdEvents } from '../src/advertising/trackers/collect-events.ts';
import { startTestManagement } from './_management.ts';
import { startReceiver } from './_receiver.ts';
import { service } from './_values.ts';
import { createWorld, type World } from './_world.ts';

type AdEvent = Awaited<ReturnType<ListAdEvents>>['events'][number];

export interface CallRow {
  readonly id: string;
  readonly tracker_id: string;
  readonly state: string;
  readonly problem: string | null;
  readonly status: number | null;
  readonly attempts: number;
  readonly next_attempt_at: Date;
}

/** Hosts of trackers: each name leads to a server of the test. No other name is public. */
export const trackerHosts = { good: 'https://tracker.test', other: 'https://other.test' };

/** Management with the calls of trackers, a sink that tells what a test says, and two hosts of trackers. */
export async function startTrackingWorld() {
  await using stack = new AsyncDisposableStack();
  const [receiver, other] = [stack.use(await startReceiver()), stack.use(await startReceiver())];
  const management = stack.use(await startTestManagement());
  const { pool, clock } = management;
  const guarded = createGuardedFetch({
    allowOrigins: [receiver.origin, other.origin],
    resolve: async () => [{ address: '10.1.2.3', family: 4 }],
    userAgent: 'Longwave-Tracking/1.0',
  });
  // Test servers have no certificate of a public authority; everything else is the real fetch.
  const fetch: typeof guarded = (url, request) =>
    guarded(url.replace(trackerHosts.good, receiver.origin).replace(trackerHosts.other, other.origin), request);

  const told: { readonly at: bigint; readonly event: AdEvent }[] = [];
  const questions: string[][] = [];
  let position = 0n;
  const listAdEvents = (async ({ workspaceIds, fromMs }: { workspaceIds: string[]; fromMs?: bigint }) => {
    questions.push(workspaceIds);
    if (fromMs === undefined) return { events: [], untilMs: position, isBehind: false };
    const events = told.filter(({ at }) => at >= fromMs).map(({ event }) => event);
    return { events, untilMs: position + 1n, isBehind: false };
  }) as unknown as ListAdEvents;
  const start = () =>
    startTrackers({
      ...{ pool, clock, listAdEvents, fetch, allowOrigins: [], random: () => 0.5 },
      ...{ pollMs: 20, collectEveryMs: 20, answerMs: 2_000, logger: createLogger('test', 'silent') },
    });
  stack.use(start());

  /** The sink tells an event as counted now; it may tell one twice. */
  function tell(event: Omit<AdEvent, 'countedAtMs' | 'breakPosition'> & Partial<AdEvent>): void {
    const countedAtMs = BigInt(clock().getTime());
    position = countedAtMs > position ? countedAtMs : position + 1n;
    told.push({ at: position, event: { breakPosition: '', ...event, countedAtMs: event.countedAtMs ?? countedAtMs } });
  }

  /** A workspace with a booked line item, and what is counted of its servings. */
  async function advertise(world: World = createWorld(management)) {
    const { campaign, creative, lineItem } = await world.booked();
    return {
      ...{ world, campaign, creative, lineItem },
      serve: (event = 'impression', servingId: string = newId('srv'), changes: Partial<AdEvent> = {}) => {
        tell({
          ...{ event, servingId, workspaceId: world.workspaceId, campaignId: campaign.id, lineItemId: lineItem.id },
          ...{ creativeId: creative.id, ...changes },
        });
        return servingId;
      },
      /** An active endpoint whose address is a path of its own. */
      async track(changes: Record<string, unknown> = {}, query = '', host = trackerHosts.good) {
        const path = `/${newId('req')}`;
        const scope = { campaign_id: campaign.id };
        const endpoint = await world.activeTracking({ ...scope, url_template: host + path + query, ...changes });
        return { endpoint, path };
      },
    };
  }

  const callsOf = async (servingId: string): Promise<CallRow[]> =>
    (
      await pool.query<CallRow>(
        `select id, tracker_id, state, problem, status, attempts, next_attempt_at from tracker_call where serving_id = $1 order by tracker_id`,
        [servingId],
      )
    ).rows;
  /** Waits for the only call of a serving to satisfy a condition. */
  const call = (servingId: string, holds: (row: CallRow) => boolean) =>
    until(async () => (await callsOf(servingId)).find(holds), { timeoutMs: 15_000 });
  /** Waits until everything that was told has been collected. */
  const collected = () =>
    until(
      async () =>
        (await pool.query<{ until: Date }>('select until from tracker_cursor')).rows.some(
          (row) => BigInt(row.until.getTime()) > position,
        ),
      { timeoutMs: 15_000 },
    );
  await until(async () => (await pool.query('select from tracker_cursor')).rowCount === 1);

  const owned = stack.move();
  return {
    ...{ management, receiver, other, advertise, callsOf, call, collected, questions, fetch, service },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

export type TrackingWorld = Awaited<ReturnType<typeof startTrackingWorld>>;
