import { findResource, type ResourceRow } from '@longwave/command-pipeline';
import { transaction } from '@longwave/postgres';
import { executeAsManagement } from '../../background/execute-as-management.ts';
import type { JobHandler } from '../../background/job-runner.ts';
import { leaseOf, requireLease } from '../../background/job-table.ts';
import { listAdjustedItems, saveAdjusted, type StoredItem } from './item-table.ts';
import { isByCreative, sumOurs } from './match-items.ts';
import { readOurs, type ReconciliationOptions } from './match-reconciliation.ts';
import { dateOf, daysOfPeriod, maxUnits, unpostable, type Reconciliation } from './reconciliation.ts';

/** Adjustments of one call. */
const batchSize = 1000;
/** The most units of one adjustment, which the ledger takes. */
const maxQuantity = 2 * maxUnits;

/** The number that was decided for an item. */
const decidedUnits = ({ verdict, value, theirs }: StoredItem): number => (verdict === 'agreed_value' ? value! : theirs);

/** Units that make our number of an item, as it is known now, the decided one. Items without a difference are left out. */
async function adjustmentsOf(
  items: readonly StoredItem[],
  attributes: Reconciliation,
  ledger: Parameters<typeof sumOurs>[0],
) {
  const days = daysOfPeriod(attributes.period, attributes.time_zone);
  const lastDay = dateOf(days.end - 1);
  const adjustments = [];
  for (const [name, ofSource] of Map.groupBy(items, ({ source }) => source)) {
    const source = attributes.sources.find((one) => one.name === name);
    const grain = {
      byDay: ofSource.some(({ day }) => day !== null),
      byCreative: source !== undefined && isByCreative(source),
    };
    const ours = await sumOurs(ledger, days, source?.time_zone ?? attributes.time_zone, grain);
    for (const item of ofSource)
      adjustments.push({
        item_id: item.item_id,
        quantity:
          decidedUnits(item) - ours.of({ lineItemId: item.line_item_id, creativeId: item.creative_id, day: item.day }),
        lineItemId: item.line_item_id,
        day: item.day ?? lastDay,
        countingBasis: item.ours_basis,
        reason: `${item.source}: ${item.verdict}`,
      });
  }
  return adjustments.filter(({ quantity }) => quantity !== 0);
}

/**
 * Posts the adjustments of a reconciliation that is being closed: for each item that was not decided as ours, what our number lacks of the
 * decided one. Our number is the one that was complete when the closing was accepted, so every attempt posts the same, and the sink keeps the
 * first of each item.
 */
export const createCloseHandler = (options: ReconciliationOptions): JobHandler => ({
  maxAttempts: 20,
  concurrency: 2,
  fail: {
    commandType: 'reconciliation.fail_close',
    problem: { code: 'closing_gave_up', detail: 'The adjustments could not be posted. Close it again.' },
  },
  run: async (job, signal) => {
    const { pool, execute, ledger: client } = options;
    const { workspace_id: workspaceId, subject_id: id } = job;
    const found = await findResource(pool, workspaceId, 'reconciliations', id);
    const items = await listAdjustedItems(pool, id);
    const adjustments = items.length === 0 ? [] : await listAdjustments(options, found!, items, signal);
    const reply = (step: string) => ({ workspaceId, idempotencyKey: `${job.lease_id}:${step}`, reason: leaseOf(job) });
    // All or none: what is posted stays, and what the ledger refuses could never follow.
    if (adjustments.some(({ quantity }) => Math.abs(quantity) > maxQuantity)) {
      const detail = `An adjustment has at most ${maxQuantity.toLocaleString('en')} units. Nothing was posted: change the verdicts.`;
      const changes = { problem: { code: unpostable, detail } };
      await executeAsManagement(execute, reply('fail'), { type: 'reconciliation.fail_close', id, changes });
      return;
    }
    for (let first = 0; first < adjustments.length; first += batchSize) {
      const batch = adjustments.slice(first, first + batchSize).map(({ item_id: itemId, quantity, ...rest }) => ({
        // The request names the reconciliation, once for all; the ledger knows when it records them.
        ...{ ...rest, itemId, quantity: BigInt(quantity), reconciliationId: '', recordedAtMs: 0n },
      }));
      await client.postAdjustments({ workspaceId, reconciliationId: id, adjustments: batch }, { signal });
    }
    await transaction(pool, async (tx) => {
      await requireLease(tx, id, leaseOf(job));
      await saveAdjusted(tx, id, adjustments);
    });
    const changes = {
      adjustments: adjustments.length,
      units: adjustments.reduce((sum, { quantity }) => sum + quantity, 0),
    };
    await executeAsManagement(execute, reply('record'), { type: 'reconciliation.record_close', id, changes });
  },
});

async function listAdjustments(
  options: ReconciliationOptions,
  reconciliation: ResourceRow<'reconciliations'>,
  items: readonly StoredItem[],
  signal: AbortSignal,
) {
  const { attributes } = reconciliation;
  const knownAt = new Date(attributes.closing!.known_at);
  // In the units that were matched, whatever the line items count by now.
  const bases = new Map(items.map((item) => [item.line_item_id, item.ours_basis]));
  return adjustmentsOf(items, attributes, await readOurs(options, reconciliation, bases, { knownAt, signal }));
}
