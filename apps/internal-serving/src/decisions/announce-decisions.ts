import type { BusMessage } from '@longwave/event-bus';
import { decisionMadeSchema, topics, type DecisionMade } from '@longwave/events';
import type { Pool } from '@longwave/postgres';
import type { Columns } from '../generated/rows.ts';
import type { StoredAnswer, StoredTrace } from './decision-record.ts';

const batchSize = 500;
/** A node that has not published by then counts as dead. Decisions that it did publish are published twice. */
const leaseSeconds = 30;

type AnnouncedRow = Columns<
  'decision',
  'decision_id' | 'workspace_id' | 'at' | 'response' | 'trace',
  // A decision moves to the object store only after it was announced.
  { response: StoredAnswer; trace: StoredTrace }
>;

/**
 * The key is the decision's id: nothing in the ledger waits for another decision's order, and ids spread evenly, where a line item's
 * id would put a whole campaign on one partition.
 */
function messageOf({ decision_id, workspace_id, at, response, trace }: AnnouncedRow): BusMessage {
  const payload: DecisionMade = decisionMadeSchema.parse({
    decision_id,
    workspace_id,
    podcast_id: trace.request_class.podcast_id,
    episode_id: trace.request_class.episode_id,
    decided_at: at.toISOString(),
    country: trace.request_class.country || 'unknown',
    slots: response.picks,
  });
  return { topic: topics.decisions, key: decision_id, id: decision_id, type: 'decision.made', payload };
}

/**
 * Publishes every decision that gave slots away and is not published yet, at least once. Rows are found by their presence, leased to
 * one node, and deleted when the bus has them: a node that dies leaves its lease to run out.
 */
export async function announceDecisions(
  pool: Pool,
  publish: (messages: readonly BusMessage[]) => Promise<void>,
): Promise<void> {
  for (;;) {
    const { rows: leased } = await pool.query<Columns<'decision_announcement', 'decision_id'>>({
      name: 'lease-announcements',
      text: `update decision_announcement set leased_until = now() + make_interval(secs => $2)
             where decision_id in (select decision_id from decision_announcement where leased_until < now()
                                   order by leased_until limit $1 for update skip locked)
             returning decision_id`,
      values: [batchSize, leaseSeconds],
    });
    if (leased.length === 0) return;
    const ids = leased.map((row) => row.decision_id);
    try {
      const { rows } = await pool.query<AnnouncedRow>({
        name: 'read-announced',
        text: 'select decision_id, workspace_id, at, response, trace from decision where decision_id = any ($1)',
        values: [ids],
      });
      await publish(rows.map(messageOf));
    } catch (error) {
      // The lease ends at once, so that the next try need not wait for it.
      await pool.query(`update decision_announcement set leased_until = '-infinity' where decision_id = any ($1)`, [
        ids,
      ]);
      throw error;
    }
    await pool.query({
      name: 'delete-announced',
      text: 'delete from decision_announcement where decision_id = any ($1)',
      values: [ids],
    });
    if (leased.length < batchSize) return;
  }
}
