import { createHash } from 'node:crypto';
import { listInStates } from '@longwave/command-pipeline';
import { transaction, type Pool } from '@longwave/postgres';
import type { ReadBookingRequest, ReadBookingResponse } from '@longwave/rpc/forecast';
import canonicalize from 'canonicalize';
import { findBookingVersion } from './booking-version-table.ts';
import { findPlanWorkspace, readBookedPlan } from './read-booked-plan.ts';

const pieceBytes = 2 ** 20;
/** The furthest that a forecast looks. */
const aheadMs = 366 * 86_400_000;

/** What is sold in a workspace, and what else a forecast needs of it, as of one snapshot. */
async function read(pool: Pool, workspaceId: string, now: Date) {
  return transaction(
    pool,
    async (tx) => {
      const workspace = await findPlanWorkspace(tx, workspaceId);
      const modifiers = await listInStates(tx, workspaceId, 'traffic_modifiers', ['active']);
      const scheduled = await listInStates(tx, workspaceId, 'episodes', ['scheduled']);
      const plan = await readBookedPlan(tx, workspace, now);
      return {
        bookingVersion: await findBookingVersion(tx, workspaceId),
        timeZone: workspace.timeZone,
        ...{ modifiers, scheduled, plan },
      };
    },
    'REPEATABLE READ',
  );
}

/** Sends what is sold in a workspace to the forecaster: the head, then the plan in pieces unless the reader has it. */
export const createSendBooking =
  (pool: Pool, clock: () => Date) =>
  async (
    { workspaceId, knownDigest }: Pick<ReadBookingRequest, 'workspaceId' | 'knownDigest'>,
    send: (message: ReadBookingResponse) => Promise<void>,
  ): Promise<void> => {
    const now = clock();
    const { plan, bookingVersion, timeZone, modifiers, scheduled } = await read(pool, workspaceId, now);
    // A plan of the same content has the same digest, whenever it is read.
    const digestOf = (content: object) => createHash('sha256').update(canonicalize(content)!).digest('hex');
    const planDigest = digestOf({ ...plan, effective_from: '' });
    const isAhead = (ms: number) => ms > now.getTime() && ms < now.getTime() + aheadMs;
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
          releases: scheduled
            .map(({ id, attributes }) => ({
              episodeId: id,
              podcastId: attributes.podcast_id,
              atMs: Date.parse(attributes.publish_at ?? ''),
            }))
            .filter(({ atMs }) => isAhead(atMs))
            .map(({ atMs, ...release }) => ({ ...release, publishAtMs: BigInt(atMs) })),
        },
      },
    });
    if (planDigest === knownDigest) return;
    const bytes = Buffer.from(JSON.stringify(plan));
    for (let at = 0; at < bytes.length; at += pieceBytes)
      await send({ content: { $case: 'plan', value: bytes.subarray(at, at + pieceBytes) } });
  };
