import type { ChangesInput } from '@longwave/command-catalog';
import { findResource, type ExecuteCommand } from '@longwave/command-pipeline';
import type { Pool } from '@longwave/postgres';
import { isProblem } from '@longwave/problems';
import { copiedSettings } from '../../advertising/line-items/copied-settings.ts';
import type { LineItem } from '../../advertising/line-items/line-item.ts';
import { executeAsManagement } from '../../background/execute-as-management.ts';
import type { JobHandler } from '../../background/job-runner.ts';
import { leaseOf } from '../../background/job-table.ts';
import type { Makegood } from './makegood.ts';

/** The line item that makes good: as the one that fell short, for the units, without a price. */
function makingGood(original: Readonly<LineItem>, makegood: Readonly<Makegood>): ChangesInput<'line_item.create'> {
  const { campaign_id: campaign = original.campaign_id, window, name } = makegood.proposed_line ?? {};
  return {
    ...copiedSettings(original),
    name: name ?? `Makegood: ${original.name}`.slice(0, 255),
    campaign_id: campaign,
    window: window!,
    goal: { unit: original.goal.unit, quantity: makegood.units },
    rate: { model: 'none' },
    makegood_of: makegood.for_line_item,
  };
}

/** Creates the line item of a scheduled makegood, once however often it is tried. */
export const createScheduleHandler = ({
  pool,
  execute,
}: {
  readonly pool: Pool;
  readonly execute: ExecuteCommand;
}): JobHandler => ({
  maxAttempts: 10,
  concurrency: 2,
  fail: {
    commandType: 'makegood.fail_schedule',
    problem: { code: 'schedule_gave_up', detail: 'The line item could not be created. Schedule the makegood again.' },
  },
  run: async (job) => {
    const { workspace_id: workspaceId, subject_id: id } = job;
    const makegood = (await findResource(pool, workspaceId, 'makegoods', id))!.attributes;
    const original = (await findResource(pool, workspaceId, 'line_items', makegood.for_line_item))!.attributes;
    const report = { workspaceId, idempotencyKey: `${job.lease_id}:record`, reason: leaseOf(job) };
    try {
      const created = await executeAsManagement(
        execute,
        { workspaceId, idempotencyKey: `${job.id}:create` },
        { type: 'line_item.create', id: null, changes: makingGood(original, makegood) },
      );
      const changes = { line_item_id: created.id };
      await executeAsManagement(execute, report, { type: 'makegood.record_line_item', id, changes });
    } catch (error) {
      // The campaign, its window or what the line item targets has changed since.
      if (!isProblem(error, 'validation_failed', 'link_not_found')) throw error;
      const problem = { code: error.code, detail: error.message.slice(0, 1000) };
      await executeAsManagement(execute, report, { type: 'makegood.fail_schedule', id, changes: { problem } });
    }
  },
});
