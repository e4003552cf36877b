import { createHash } from 'node:crypto';
import { productCatalog } from '@longwave/command-catalog';
import { listInStates, type ExecuteCommand } from '@longwave/command-pipeline';
import type { ObjectStore } from '@longwave/object-store';
import { transaction, type Pool } from '@longwave/postgres';
import canonicalize from 'canonicalize';
import type { JobHandler } from '../../background/job-runner.ts';
import { leaseOf } from '../../background/job-table.ts';
import { executeAsManagement } from '../../background/execute-as-management.ts';
import { timeZoneOf } from '../../workspace/time-zone-of.ts';
import { readFixedMicros } from '../campaigns/campaign-budget.ts';
import { compilePlan, servingStates } from './compile-plan.ts';
import { savePlanContent } from './plan-content-table.ts';

const { inventory_units: inventoryUnits } = productCatalog.resources;

/** Compiles a requested serving plan and stores it under its digest. */
export const createCompileHandler = ({
  pool,
  store,
  execute,
}: {
  readonly pool: Pool;
  readonly store: ObjectStore;
  readonly execute: ExecuteCommand;
}): JobHandler => ({
  maxAttempts: 60,
  fail: {
    commandType: 'serving_plan.fail',
    problem: { code: 'compile_failed', detail: 'The plan could not be compiled. Request another one.' },
  },
  run: async (job) => {
    const { effective_from: effectiveFrom } = job.input as { effective_from: string };
    // One snapshot: the plan shows one moment.
    const plan = await transaction(
      pool,
      async (tx) => {
        const list = <T extends keyof typeof servingStates>(type: T) =>
          listInStates(tx, job.workspace_id, type, servingStates[type]);
        const { workspace_id: id } = job;
        const timeZone = await timeZoneOf(tx, id);
        const campaigns = await list('campaigns');
        const fixedMicros = new Map<string, bigint>();
        for (const { id: campaignId, attributes: campaign } of campaigns)
          if (campaign.budget)
            fixedMicros.set(campaignId, await readFixedMicros(tx, { workspaceId: id, campaignId, campaign, timeZone }));
        return compilePlan({ id, timeZone }, effectiveFrom, {
          fixedMicros,
          advertisers: await list('advertisers'),
          campaigns,
          lineItems: await list('line_items'),
          creatives: await list('creatives'),
          assignments: await list('creative_assignments'),
          // In any state: a line item that excludes a unit is kept out even when the unit is no longer sold.
          inventoryUnits: await listInStates(tx, job.workspace_id, 'inventory_units', inventoryUnits.states),
        });
      },
      'REPEATABLE READ',
    );
    const bytes = Buffer.from(canonicalize(plan)!);
    const digest = createHash('sha256').update(bytes).digest('hex');
    const storageKey = `plans/${digest}.json`;
    await store.put(storageKey, bytes, { contentType: 'application/json', sizeBytes: bytes.length });
    const lineItemIds = plan.line_items.map((lineItem) => lineItem.line_item_id);
    await savePlanContent(pool, job.subject_id, lineItemIds);
    await executeAsManagement(
      execute,
      {
        workspaceId: job.workspace_id,
        idempotencyKey: `${job.id}:${job.lease_id}`,
        reason: leaseOf(job),
      },
      {
        type: 'serving_plan.record_compiled',
        id: job.subject_id,
        changes: {
          storage_key: storageKey,
          digest,
          counts: {
            line_items: plan.line_items.length,
            creatives: plan.line_items.reduce((n, li) => n + li.creatives.length, 0),
          },
        },
      },
    );
  },
});
