import { createHash } from 'node:crypto';
import { listInStates, type ResourceRow } from '@longwave/command-pipeline';
import { transaction, type Pool } from '@longwave/postgres';
import type { ReadBookingRequest, ReadBookingResponse } from '@longwave/rpc/forecast';
import canonicalize from 'canonicalize';
import { findBookingVersion } from './booking-version-table.ts';
import { listFreshReleases, type Release } from './fresh-release-table.ts';
import { findPlanWorkspace, readBookedPlan } from './read-booked-plan.ts';

const pieceBytes = 2 ** 20;
/** The furthest that a forecast looks. */
const aheadMs = 366 * 86_400_000;
/** So long after a release there are facts of it. */
const freshMs = 2 * 86_400_000;

/** What is sold in a workspace, and what else a forecast needs of it, as of one snapshot. */
async function read(pool: Pool, workspaceId: string, now: Date) {
  return transaction(
    pool,
    async (tx) => {
      const workspace = await findPlanWorkspace(tx, workspaceId);
      const modifiers = await listInStates(tx, workspaceId, 'traffic_modifiers', ['active']);
      const scheduled = await listInStates(tx, workspaceId, 'episodes', ['scheduled']);
      const fresh = await listFreshReleases(tx, workspaceId, new Date(now.getTime() - freshMs));
      const plan = await readBookedPlan(tx, workspace, now);
      return {
        bookingVersion: await findBookingVersion(tx, workspaceId),
        timeZone: workspace.timeZone,
        ...{ modifiers, scheduled, fresh, plan },
      };
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

/** Sends what is sold in a workspace to the forecaster: the head, then the plan in pieces unless the reader has it. */
export const createSendBooking =
  (pool: Pool, clock: () => Date) =>
  async (
    { workspaceId, knownDigest }: Pick<ReadBookingRequest, 'workspaceId' | 'knownDigest'>,
    send: (message: ReadBookingResponse) => Promise<void>,
  ): Promise<void> => {
    const now = clock();
    const { plan, bookingVersion, timeZone, modifiers, scheduled, fresh } = await read(pool, workspaceId, now);
    // A plan of the same content has the same digest, whenever it is read.
    const digestOf = (content: object) => createHash('sha256').update(canonicalize(content)!).digest('hex');
    const planDigest = digestOf({ ...plan, effective_from: '' });
    await send({
      content: {
        $case: 'head',
        value: {
          bookingVersion: BigInt(bookingVersion),
          planDigest,
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
    if (planDigest === knownDigest) return;
    const bytes = Buffer.from(JSON.stringify(plan));
    for (let at = 0; at < bytes.length; at += pieceBytes)
      await send({ content: { $case: 'plan', value: bytes.subarray(at, at + pieceBytes) } });
  };
