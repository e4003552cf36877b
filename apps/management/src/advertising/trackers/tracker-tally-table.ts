import type { Pool } from '@longwave/postgres';
import { z } from 'zod';
import type { Columns } from '../../generated/rows.ts';
import type { TrackerProblem } from './tracker-call-table.ts';

/** Why a call failed, for people. */
const sentences: Readonly<Record<TrackerProblem, string>> = {
  address_refused: 'No public host has this name, the address is not allowed, or it redirects more than twice.',
  not_reachable: 'The host cannot be reached, or the connection was interrupted.',
  certificate_invalid: 'The certificate of the host is not valid.',
  timeout: 'The host did not answer within 5 seconds.',
  status: 'The host answered with another status than 2xx.',
  endpoint_disabled: 'The endpoint was disabled or retired while the call waited.',
  too_late: 'The call could not be made within 24 hours.',
  too_many_waiting: 'So many calls of the workspace waited already that this one was not queued.',
};

const codes = Object.keys(sentences) as TrackerProblem[];

/** More waiting calls than these are not counted one by one. */
const maxWaiting = 10_000;

/** What became of the calls of a tracking endpoint, or of the trackers of a creative. */
export const trackerTallySchema = z.strictObject({
  delivered: z.int().describe('Calls that were answered with 2xx: one for each serving, address and event.'),
  failed: z.int().describe('Calls that were refused in a way that another attempt cannot change.'),
  given_up: z.int().describe('Calls that were tried for 24 hours, or that were not made any more.'),
  waiting: z.int().describe(`Calls that are due or wait for another attempt; ${maxWaiting} for all that are more.`),
  last_delivered_at: z.iso.datetime().optional(),
  last_problem: z
    .strictObject({
      code: z.enum(codes),
      detail: z.string(),
      status: z.int().optional().describe('HTTP status; absent when there was no answer.'),
      at: z.iso.datetime(),
    })
    .optional()
    .describe('Why the last call failed or was given up that has ended so.'),
});

type TrackerTally = z.output<typeof trackerTallySchema>;
export type ReadTally = (ownerId: string) => Promise<TrackerTally>;

type Row = Columns<
  'tracker_tally',
  'delivered' | 'failed' | 'given_up' | 'last_delivered_at' | 'last_problem' | 'last_status' | 'last_problem_at',
  { last_problem: TrackerProblem | null }
>;

/** Reads what became of the calls of an owner; zeros where there were none. */
export const createReadTally =
  (pool: Pool): ReadTally =>
  async (ownerId) => {
    const { rows } = await pool.query<Row>({
      name: 'read_tracker_tally',
      text: `select delivered, failed, given_up, last_delivered_at, last_problem, last_status, last_problem_at
             from tracker_tally where owner_id = $1`,
      values: [ownerId],
    });
    const { rows: waiting } = await pool.query<{ n: number }>({
      name: 'count_waiting_calls_of',
      text: `select count(*)::int as n from (select from tracker_call where owner_id = $1 and state = 'pending' limit $2) waiting`,
      values: [ownerId, maxWaiting],
    });
    const [row] = rows;
    return {
      ...{ delivered: Number(row?.delivered ?? 0), failed: Number(row?.failed ?? 0) },
      ...{ given_up: Number(row?.given_up ?? 0), waiting: waiting[0]!.n },
      ...(row?.last_delivered_at && { last_delivered_at: row.last_delivered_at.toISOString() }),
      ...(row?.last_problem &&
        row.last_problem_at && {
          last_problem: {
            ...{ code: row.last_problem, detail: sentences[row.last_problem], at: row.last_problem_at.toISOString() },
            ...(row.last_status !== null && { status: row.last_status }),
          },
        }),
    };
  };
