import { startTestDatabase } from '@longwave/fleet';
import { createPool } from '@longwave/postgres';
import type { ReadAgesResponse, ReadCohortsResponse } from '@longwave/rpc/audience';
import { createCohortFollower, type CohortClient } from '../src/pacer/cohort-follower.ts';
import { createPodcastJudgement } from '../src/pacer/judge-podcasts.ts';
import { createLocalDays } from '../src/pacer/local-days.ts';
import { createPacer, type Pacer, type PacerDeps } from '../src/pacer/pacer.ts';
import { takeTerm } from '../src/pacer/pacer-term-table.ts';
import { createReturnCurves } from '../src/pacer/return-curves.ts';
import type { PlannedLine } from '../src/plans/paced-lines.ts';
import { countGoalSlots, countGoalSlotsSince } from '../src/decisions/line-item-count-table.ts';

export interface Lease {
  readonly nodeEpoch: number;
  readonly granted: number;
  readonly used: number;
  readonly closed: boolean;
}

/** The tables of the service with a pacer's world that the test moves by hand: its clock, plans and cohorts. */
export async function startPacing() {
  await using stack = new AsyncDisposableStack();
  const database = stack.use(
    await startTestDatabase({ schema: 'serving', migrations: 'apps/internal-serving/prisma' }),
  );
  const pool = createPool(() => database.url, 'serving', { name: 'test', max: 10, readsKeys: true });
  stack.defer(() => pool.end());
  await pool.query(`update serving_mode set mode = 'lease', wanted = 'lease'`);
  const world = { nowMs: Date.now(), lines: [] as PlannedLine[], isOutdated: false };
  let answer: Partial<ReadCohortsResponse> | undefined;
  let ages: readonly ReadAgesResponse[] = [];
  const client: CohortClient = {
    readCohorts: async () => {
      if (!answer) throw new Error('analytics-sink is away');
      return { cohorts: [], completeUntilMs: 0n, untilMs: 0n, isBehind: false, ...answer };
    },
  };
  const deps = (): PacerDeps => ({
    ...{ pool, countGoalSlots, countGoalSlotsSince, days: createLocalDays() },
    readNow: async () => world.nowMs,
    plans: {
      listPaced: () => world.lines,
      isOutdated: () => world.isOutdated,
      isReady: () => true,
    },
    cohorts: createCohortFollower(client),
    podcasts: createPodcastJudgement(pool, () => 2_000_000),
    curves: createReturnCurves({
      readAges: async ({ surfaceClass, afterWorkspaceId }) =>
        ages.find((one) => surfaceClass === 'stream' && one.workspaceId > afterWorkspaceId) ?? {
          workspaceId: '',
          bases: [],
        },
    }),
  });
  const rowsOf = async <T extends object>(text: string, values: readonly unknown[] = []): Promise<readonly T[]> =>
    (await pool.query<T>(text, [...values])).rows;
  const owned = stack.move();
  return {
    url: database.url,
    pool,
    world,
    setCohorts: (next: Partial<ReadCohortsResponse> | undefined) => {
      answer = next;
    },
    /** How late streams of workspaces were confirmed, in the order of their ids. */
    setAges: (next: readonly ReadAgesResponse[]) => {
      ages = next;
    },
    /** Nothing of another test is left: no node, no lease, no cohort, no plan. */
    reset: async (nowMs = Date.now()): Promise<void> => {
      await pool.query('update serving_node set closed_at = now()');
      await pool.query('update quota_lease set granted = used, closed = true, counted = true');
      await pool.query(`update serving_mode set mode = 'lease', wanted = 'lease'`);
      answer = undefined;
      ages = [];
      Object.assign(world, { nowMs, lines: [], isOutdated: false });
    },
    /** A pacer of a new term; the one before is out. */
    newPacer: async (given: Partial<PacerDeps> = {}): Promise<Pacer> => {
      await pool.query('update pacer_term set expires_at = to_timestamp(0)');
      const term = await takeTerm(pool, 1 + Math.floor(Math.random() * 2 ** 40));
      return createPacer(term!, { ...deps(), ...given });
    },
    /** A node that lives and leaves goals to leases. */
    newNode: async (mode = 'lease'): Promise<number> => {
      const [row] = await rowsOf<{ node_epoch: number }>(
        `insert into serving_node (name, version, mode) values ('test', '1', $1) returning node_epoch::float8`,
        [mode],
      );
      return row!.node_epoch;
    },
    fallSilent: (nodeEpoch: number) =>
      pool.query(`update serving_node set seen_at = now() - interval '16 seconds' where node_epoch = $1`, [nodeEpoch]),
    report: (nodeEpoch: number, lineItemId: string, asked: number) =>
      pool.query('update serving_node set seen_at = now(), demand = $2 where node_epoch = $1', [
        nodeEpoch,
        JSON.stringify({ [lineItemId]: { asked, used: 0, refused: 0 } }),
      ]),
    /** What the statement of a decision does; false where the constraint or a missing lease refuses it. */
    use: async (nodeEpoch: number, lineItemId: string, slots: number): Promise<boolean> => {
      const update = pool.query('update quota_lease set used = used + $3 where node_epoch = $1 and line_item_id = $2', [
        nodeEpoch,
        lineItemId,
        slots,
      ]);
      return update.then(
        ({ rowCount }) => rowCount === 1,
        (error: { constraint?: string }) => {
          if (error.constraint !== 'quota_lease_used_within_granted') throw error;
          return false;
        },
      );
    },
    /** A node that gives away all that it has, at most so many slots; answers how many. */
    spend: async (nodeEpoch: number, lineItemId: string, atMost: number): Promise<number> => {
      const [row] = await rowsOf<{ given: number }>(
        `with before as (select used from quota_lease where node_epoch = $1 and line_item_id = $2 for update)
         update quota_lease l set used = least(l.granted, l.used + $3) from before where node_epoch = $1 and line_item_id = $2
         returning (l.used - before.used)::float8 as given`,
        [nodeEpoch, lineItemId, atMost],
      );
      return row?.given ?? 0;
    },
    leases: (lineItemId: string) =>
      rowsOf<Lease>(
        `select node_epoch::float8 as "nodeEpoch", granted::float8, used::float8, closed from quota_lease
         where line_item_id = $1 order by node_epoch`,
        [lineItemId],
      ),
    pacing: async (lineItemId: string) =>
      (
        await rowsOf<{ closed_used: number; used: number; state: string; urgency: number; committed: number }>(
          'select closed_used::float8, used::float8, state, urgency, committed from line_pacing where line_item_id = $1',
          [lineItemId],
        )
      )[0],
    rowsOf,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

export type Pacing = Awaited<ReturnType<typeof startPacing>>;

/** Everything that open leases allow, and everything that was given. */
export const sumOf = (leases: readonly Lease[], of: 'granted' | 'used') =>
  leases.reduce((sum, lease) => sum + lease[of], 0);
