import { listInStates, type ResourceRow } from '@longwave/command-pipeline';
import { transaction, type Pool } from '@longwave/postgres';
import type { ReadBookingRequest, ReadBookingResponse } from '@longwave/rpc/forecast';
import { createGates } from '@longwave/service-kit';
import { findBookingVersion } from './booking-version-table.ts';
import { listFreshReleases, type Release } from './fresh-release-table.ts';
import { createReadPlan, type ReadPlan } from './keep-booked-plans.ts';
import { changesOf, piecesOf } from './kept-plan.ts';
import { findPlanWorkspace } from './read-booked-plan.ts';

const pieceBytes = 2 ** 20;
/** The furthest that a forecast looks. */
const aheadMs = 366 * 86_400_000;
/** So long after a release there are facts of it. */
const freshMs = 2 * 86_400_000;

/** What is sold in a workspace, and what else a forecast needs of it, as of one snapshot. */
async function read(pool: Pool, readPlan: ReadPlan, workspaceId: string, now: Date) {
  return transaction(
    pool,
    async (tx) => {
      const workspace = await findPlanWorkspace(tx, workspaceId);
      const modifiers = await listInStates(tx, workspaceId, 'traffic_modifiers', ['active']);
      const scheduled = await listInStates(tx, workspaceId, 'episodes', ['scheduled']);
      const fresh = await listFreshReleases(tx, workspaceId, new Date(now.getTime() - freshMs));
      const plan = await readPlan(tx, workspace, now);
      const bookingVersion = await findBookingVersion(tx, workspaceId);
      return { ...{ bookingVersion, now, modifiers, scheduled, fresh, plan }, timeZone: workspace.timeZone };
    },
    'REPEATABLE READ',
  );
}

/** Releases to come, as far as a forecast looks. */
const scheduledOf = (episodes: readonly ResourceRow<'episodes'>[], now: Date): Release[] =>
  episodes
    .map(({ id, attributes: { podcast_id: podcastId, publish_at: at } }) => ({
      ...{ episodeId: id, podcastId, atMs: Date.parse(at ?? '') },
    }))
    .filter(({ atMs }) => atMs > now.getTime() && atMs < now.getTime() + aheadMs);

/** Sends what is sold in a workspace to the forecaster. */
export type SendBooking = (
  request: Pick<ReadBookingRequest, 'workspaceId' | 'knownDigest'>,
  send: (message: ReadBookingResponse) => Promise<void>,
) => Promise<void>;

/** Sends the head, then the plan in pieces, or what has changed since the one that the reader has. Plans are kept for the next question. */
export function createSendBooking(pool: Pool, clock: () => Date): SendBooking {
  const readPlan = createReadPlan();
  const oneAtATime = createGates(1);
  return async ({ workspaceId, knownDigest }, send) => {
    // A question waits while the plan is made for another one, and then reads what is new.
    const { now, plan, bookingVersion, timeZone, modifiers, scheduled, fresh } = await oneAtATime(workspaceId)(() =>
      read(pool, readPlan, workspaceId, clock()),
    );
    await send({
      content: {
        $case: 'head',
        value: {
          bookingVersion: BigInt(bookingVersion),
          planDigest: plan.digest,
          timeZone,
          modifiers: modifiers.map(({ id, attributes: { window, factor, scope } }) => ({
            trafficModifierId: id,
            fromMs: BigInt(Date.parse(window.start)),
            toMs: BigInt(Date.parse(window.end)),
            factor,
            podcastIds: scope.kind === 'podcasts' ? scope.podcast_ids : [],
          })),
          releases: [...fresh, ...scheduledOf(scheduled, now)].map(({ atMs, ...release }) => ({
            ...release,
            publishAtMs: BigInt(atMs),
          })),
        },
      },
    });
    if (plan.digest === knownDigest) return;
    const changes = changesOf(plan, knownDigest, pieceBytes);
    const $case = changes ? 'changes' : 'plan';
    for (const value of changes ?? piecesOf(plan, pieceBytes)) await send({ content: { $case, value } });
  };
}
