import type { BusMessage } from '@longwave/event-bus';
import { topics, type DecisionMade } from '@longwave/events';
import type { Pool } from '@longwave/postgres';
import {
  leaseBatches,
  leaseOldAnnouncements,
  releaseBatches,
  releaseOldAnnouncements,
  removeBatches,
  removeOldAnnouncements,
} from './announcement-table.ts';
import type { DecisionReader } from './decision-reader.ts';
import { listDecisionRows, type PackedRow } from './decision-table.ts';
import { listOldDecisions, type OldRow } from './old-decision-table.ts';
import type { NewDecision, StoredDecision } from './stored-decision.ts';

/** Decisions, and batches of them, that are published together. */
const maxMessages = 500;
const maxBatches = 20;
/** Messages that wait in memory. Those beyond are read from the database once their lease has run out. */
const maxWaiting = 10_000;

/**
 * The key is the decision's id: nothing in the ledger waits for another decision's order, and ids spread evenly, where a line item's
 * id would put a whole campaign on one partition.
 */
function messageOf(decisionId: string, { workspaceId, atMs, answer, trace, inputs }: StoredDecision): BusMessage {
  const positions = new Map(inputs?.context.breaks.map((one) => [one.key, one.position]));
  const payload: DecisionMade = {
    decision_id: decisionId,
    workspace_id: workspaceId,
    podcast_id: trace.request_class.podcast_id,
    episode_id: trace.request_class.episode_id,
    decided_at: new Date(atMs).toISOString(),
    country: trace.request_class.country || 'unknown',
    surface_class: inputs?.context.surface === 'hls' ? 'stream' : 'download',
    slots: answer.picks.map((pick) => ({
      serving_id: pick.serving_id,
      campaign_id: pick.campaign_id,
      line_item_id: pick.line_item_id,
      creative_id: pick.creative_id,
      break_key: pick.break_key,
      slot: pick.slot,
      position: positions.get(pick.break_key),
      billable: pick.billable,
    })),
  };
  return { topic: topics.decisions, key: decisionId, id: decisionId, type: 'decision.made', payload };
}

/** How leases of announcements end: without publication, or after it; decisions that could not be read stay announced. */
interface AnnouncementTable {
  readonly release: (pool: Pool, ids: readonly string[]) => Promise<void>;
  readonly remove: (pool: Pool, ids: readonly string[], unreadable: readonly string[]) => Promise<void>;
}

/** The messages about decisions, and the ids of those that cannot be read. */
interface ReadMessages {
  readonly messages: readonly BusMessage[];
  readonly unreadable: readonly string[];
}

const batchTable: AnnouncementTable = { release: releaseBatches, remove: removeBatches };
const oldTable: AnnouncementTable = { release: releaseOldAnnouncements, remove: removeOldAnnouncements };

export interface DecisionAnnouncements {
  /** Decisions that this node has stored; it holds their lease. */
  add(batchId: string, decisions: readonly NewDecision[]): void;
  /** Publishes what was added, and what nodes that died have left. */
  publish(): Promise<void>;
}

/**
 * Publishes every decision that filled slots, at least once. A row names the decisions that were stored by one statement and is leased
 * to the node that stored them, which publishes them from memory and deletes the row; after a death the lease runs out, and another
 * node reads them. A decision that cannot be read stays announced, for a release that can, and holds up no other.
 */
export function createAnnouncements(
  pool: Pool,
  { tryRead }: DecisionReader,
  publish: (messages: readonly BusMessage[]) => Promise<void>,
): DecisionAnnouncements {
  const waiting: { readonly batchId: string; readonly messages: readonly BusMessage[] }[] = [];
  let waitingMessages = 0;

  /** Publishes what leases announce, and removes them; when that fails, they end at once, so that the next try need not wait for them. */
  async function handOver(
    { release, remove }: AnnouncementTable,
    ids: readonly string[],
    read: () => ReadMessages | Promise<ReadMessages>,
  ): Promise<void> {
    let unreadable: readonly string[];
    try {
      const found = await read();
      ({ unreadable } = found);
      if (found.messages.length > 0) await publish(found.messages);
    } catch (error) {
      await release(pool, ids);
      throw error;
    }
    await remove(pool, ids, unreadable);
  }

  async function readMessages(rows: readonly (PackedRow | OldRow)[]): Promise<ReadMessages> {
    const read = await Promise.all(rows.map(async (row) => ({ id: row.decisionId, decision: await tryRead(row) })));
    return {
      messages: read.flatMap(({ id, decision }) => (decision ? [messageOf(id, decision)] : [])),
      unreadable: read.flatMap(({ id, decision }) => (decision ? [] : [id])),
    };
  }

  async function publishWaiting(): Promise<void> {
    while (waiting.length > 0) {
      const taken: (typeof waiting)[number][] = [];
      for (let messages = 0; messages < maxMessages && waiting.length > 0; messages += taken.at(-1)!.messages.length)
        taken.push(waiting.shift()!);
      const messages = taken.flatMap((each) => each.messages);
      waitingMessages -= messages.length;
      await handOver(
        batchTable,
        taken.map(({ batchId }) => batchId),
        () => ({ messages, unreadable: [] }),
      );
    }
  }

  async function publishLeft(): Promise<void> {
    for (;;) {
      const batches = await leaseBatches(pool, maxBatches);
      if (batches.length === 0) return;
      await handOver(
        batchTable,
        batches.map(({ batchId }) => batchId),
        async () => {
          const decisionIds = batches.flatMap((batch) => batch.decisionIds);
          return readMessages(await listDecisionRows(pool, decisionIds));
        },
      );
      if (batches.length < maxBatches) return;
    }
  }

  /** Those that releases up to 0.4.0 stored. */
  async function publishOld(): Promise<void> {
    for (;;) {
      const ids = await leaseOldAnnouncements(pool, maxMessages);
      if (ids.length === 0) return;
      await handOver(oldTable, ids, async () => readMessages(await listOldDecisions(pool, ids)));
      if (ids.length < maxMessages) return;
    }
  }

  return {
    add(batchId, decisions) {
      if (waitingMessages + decisions.length > maxWaiting) return;
      waitingMessages += decisions.length;
      waiting.push({ batchId, messages: decisions.map((each) => messageOf(each.decisionId, each)) });
    },
    publish: async () => {
      await publishWaiting();
      try {
        await publishLeft();
      } finally {
        await publishOld();
      }
    },
  };
}
