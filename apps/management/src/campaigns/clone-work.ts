import {
  findResource,
  findRevision,
  listLinkedAt,
  type ExecuteCommand,
  type ResourceRow,
} from '@longwave/command-pipeline';
import type { ResourceView } from '@longwave/events';
import type { Pool } from '@longwave/postgres';
import type { Work } from '../jobs/job-runner.ts';
import type { ClaimedJob } from '../jobs/job-table.ts';
import { isAssignable } from '../creatives/creative-assignment-rules.ts';
import type { LineItem, Window } from '../line-items/line-item.ts';
import { movedWindow, type Campaign } from './campaign.ts';

/** What a line item has of its own past, and its copy has not; a shortfall is made good once. */
const past: readonly (keyof LineItem)[] = [
  'makegood_of',
  'reserved_until',
  'paused_from',
  'amendment',
  'extension_cause',
  'delivered',
  'state_reason',
];
const dimensions = ['podcasts', 'episodes', 'countries'] as const;

/** The settings of a line item for another campaign, in today's form. */
function copied(
  lineItem: LineItem,
  campaignId: string,
  windows: { readonly original: Window; readonly clone: Window },
) {
  const { targeting } = lineItem;
  const asListed = dimensions.map((name) => {
    const lists = targeting[name];
    return [name, Array.isArray(lists) ? { include: lists } : lists] as const;
  });
  return {
    ...Object.fromEntries(Object.entries(lineItem).filter(([name]) => !(past as readonly string[]).includes(name))),
    campaign_id: campaignId,
    window: movedWindow(lineItem.window, windows.original, windows.clone),
    targeting: { ...targeting, ...Object.fromEntries(asListed) },
  };
}

/**
 * One try at cloning a campaign: a draft of it, drafts of its line items that were not cancelled, and their assignments, active where
 * they were, all as they were when the clone was asked for; creatives that were rejected or put away are left out. Every step is a command whose key is made of the job and of what it copies, so another try repeats nothing.
 */
export const createCloneWork = ({
  pool,
  execute,
}: {
  readonly pool: Pool;
  readonly execute: ExecuteCommand;
}): Work => ({
  attemptsMax: 20,
  fail: {
    commandType: 'campaign.fail_clone',
    problem: { code: 'clone_gave_up', detail: 'The campaign could not be cloned whole. Look at its newest clone.' },
  },
  run: async (job: ClaimedJob, signal) => {
    const { workspace_id: workspaceId, subject_id: campaignId } = job;
    const { name, window } = job.input as { readonly name: string; readonly window: Window };
    const send = async (
      commandType: string,
      of: string,
      subject: { readonly type: string; readonly id: string | null; readonly version?: number },
      changes: unknown,
      reason?: unknown,
    ): Promise<ResourceView> => {
      signal.throwIfAborted();
      const request = { workspaceId, commandType, idempotencyKey: `${job.id}:${of}`, subject, changes, reason };
      return (await execute(request, { kind: 'service', name: 'management' })).resource;
    };

    const asked = (await findRevision(pool, campaignId, job.subject_version))!;
    const linked = (type: string, link: string, toId: string) =>
      listLinkedAt(pool, workspaceId, { type, name: link, toId }, asked.created_at);
    const {
      cloned_from: _from,
      clone_id: _clone,
      state_reason: _reason,
      ...settings
    } = asked.attributes as unknown as Campaign;
    const derived = { ...settings, name, window, cloned_from: campaignId };
    const clone = await send('campaign.derive', 'campaign', { type: 'campaigns', id: null }, derived);

    const copyAssignment = async (assignment: ResourceRow, lineItemId: string) => {
      const creative = await findResource(pool, workspaceId, 'creatives', String(assignment.attributes['creative_id']));
      if (!isAssignable(creative, settings.advertiser_id)) return;
      const {
        state_reason: _cause,
        window: before,
        ...kept
      } = assignment.attributes as { window?: Window; state_reason?: string };
      const created = await send(
        'creative_assignment.create',
        assignment.id,
        { type: 'creative_assignments', id: null },
        {
          ...kept,
          line_item_id: lineItemId,
          ...(before && { window: movedWindow(before, settings.window, window) }),
        },
      );
      if (assignment.lifecycle_state === 'active')
        await send(
          'creative_assignment.activate',
          assignment.id,
          { type: 'creative_assignments', id: created.id, version: 1 },
          {},
        );
    };
    for (const row of await linked('line_items', 'campaign', campaignId)) {
      if (row.lifecycle_state === 'cancelled') continue;
      const changes = copied(row.attributes as unknown as LineItem, clone.id, {
        original: settings.window,
        clone: window,
      });
      const lineItem = await send('line_item.create', row.id, { type: 'line_items', id: null }, changes);
      for (const assignment of await linked('creative_assignments', 'line_item', row.id))
        if (assignment.lifecycle_state !== 'ended') await copyAssignment(assignment, lineItem.id);
    }
    await send(
      'campaign.complete_clone',
      job.lease_id,
      { type: 'campaigns', id: campaignId },
      { clone_id: clone.id },
      { job_id: job.id, lease_id: job.lease_id },
    );
  },
});
