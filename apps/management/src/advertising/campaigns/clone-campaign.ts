import type { ResourceType } from '@longwave/command-catalog';
import {
  findResource,
  findRevision,
  listLinkedAt,
  type ExecuteCommand,
  type LinkName,
  type ResourceRow,
} from '@longwave/command-pipeline';
import type { Pool } from '@longwave/postgres';
import type { JobHandler } from '../../background/job-runner.ts';
import { leaseOf, type ClaimedJob, type LeaseReport } from '../../background/job-table.ts';
import { isAssignable } from '../creatives/creative-assignment-rules.ts';
import type { Window } from '../line-items/line-item.ts';
import {
  executeAsManagement,
  type ManagementCommand,
  type OwnCommand,
} from '../../background/execute-as-management.ts';
import { copiedSettings } from '../line-items/copied-settings.ts';
import { movedWindow } from './campaign.ts';

/**
 * Clones a campaign as it was when the clone was requested: a draft of it, drafts of its line items that were not cancelled, and their
 * assignments, active where the originals are. Assignments of rejected or archived creatives are omitted. Every command has a key made of
 * the job and of the original, so that the next attempt repeats nothing.
 */
export const createCloneHandler = ({
  pool,
  execute,
}: {
  readonly pool: Pool;
  readonly execute: ExecuteCommand;
}): JobHandler => ({
  maxAttempts: 20,
  fail: {
    commandType: 'campaign.fail_clone',
    problem: { code: 'clone_gave_up', detail: 'The campaign could not be cloned whole. Look at its newest clone.' },
  },
  run: async (job: ClaimedJob, signal) => {
    const { workspace_id: workspaceId, subject_id: campaignId } = job;
    const { name, window } = job.input as { readonly name: string; readonly window: Window };
    const send = async <C extends OwnCommand>(step: string, command: ManagementCommand<C>, reason?: LeaseReport) => {
      signal.throwIfAborted();
      const envelope = { workspaceId, idempotencyKey: `${job.id}:${step}`, ...(reason && { reason }) };
      return executeAsManagement(execute, envelope, command);
    };

    const requested = (await findRevision(pool, { resource_type: 'campaigns', id: campaignId }, job.subject_version))!;
    const linked = <T extends ResourceType>(type: T, name: LinkName<T>, toId: string) =>
      listLinkedAt(pool, workspaceId, { type, name, toId }, requested.created_at);
    const { cloned_from: _from, clone_id: _clone, state_reason: _reason, ...settings } = requested.attributes;
    const derived = { ...settings, name, window, cloned_from: campaignId };
    const clone = await send('campaign', { type: 'campaign.derive', id: null, changes: derived });

    const copyAssignment = async (assignment: ResourceRow<'creative_assignments'>, lineItemId: string) => {
      const creative = await findResource(pool, workspaceId, 'creatives', assignment.attributes.creative_id);
      if (!isAssignable(creative, settings.advertiser_id)) return;
      const { state_reason: _cause, window: before, ...kept } = assignment.attributes;
      const created = await send(assignment.id, {
        type: 'creative_assignment.create',
        id: null,
        changes: {
          ...kept,
          line_item_id: lineItemId,
          ...(before && { window: movedWindow(before, settings.window, window) }),
        },
      });
      if (assignment.lifecycle_state === 'active')
        await send(assignment.id, {
          type: 'creative_assignment.activate',
          id: created.id,
          version: 1,
          changes: {},
        });
    };
    for (const row of await linked('line_items', 'campaign', campaignId)) {
      if (row.lifecycle_state === 'cancelled') continue;
      const changes = {
        ...copiedSettings(row.attributes),
        campaign_id: clone.id,
        window: movedWindow(row.attributes.window, settings.window, window),
      };
      const lineItem = await send(row.id, { type: 'line_item.create', id: null, changes });
      for (const assignment of await linked('creative_assignments', 'line_item', row.id))
        if (assignment.lifecycle_state !== 'ended') await copyAssignment(assignment, lineItem.id);
    }
    await send(
      job.lease_id,
      { type: 'campaign.complete_clone', id: campaignId, changes: { clone_id: clone.id } },
      leaseOf(job),
    );
  },
});
