import { findResource, type ExecuteCommand, type ResourceRow } from '@longwave/command-pipeline';
import type { Pool } from '@longwave/postgres';
import { isProblem, Problem, type ProblemCode } from '@longwave/problems';
import {
  executeAsManagement,
  type ManagementCommand,
  type OwnCommand,
} from '../../background/execute-as-management.ts';
import { endedLineItemStates } from '../campaigns/campaign.ts';
import { isPriced } from './demand-source.ts';
import { listValidAds } from './demand-table.ts';
import { settlementOf, type SettlementStep } from './settlement.ts';
import { listAssignments, listSourceCreatives } from './source-creative-table.ts';

export interface SettleDeps {
  readonly pool: Pool;
  readonly execute: ExecuteCommand;
  readonly clock: () => Date;
}

/** Another process was faster, or a person changed the same thing: the next round sees what is there. */
export const raceCodes: readonly ProblemCode[] = ['version_conflict', 'state_not_allowed', 'idempotency_in_progress'];

const endedBecause = 'The demand source no longer answers with this ad, or is not asked any more.';
const disclosure = 'Advertisement';
/** Submitting leads to assigning, and assigning to activating. */
const maxRounds = 4;

/** Why an active source can sell nothing under its line item now; undefined when it can. */
export function sellingFault(
  source: ResourceRow<'demand_sources'>,
  lineItem: ResourceRow<'line_items'>,
): string | undefined {
  if (endedLineItemStates.includes(lineItem.lifecycle_state)) return 'The line item of the source has ended.';
  if (!isPriced(source.attributes, lineItem.attributes)) return 'The price of the line item is below the floor.';
  return undefined;
}

/** The outcome of a settlement. */
export interface Settlement {
  /** When the time of the next assigned ad is over. */
  readonly nextEnd: Date | undefined;
  /** The first ad that may not be assigned, in a sentence. */
  readonly fault: string | undefined;
}

/**
 * Submits, assigns and ends the ads of a source until nothing is left to do. Whether the source is paused, its line item has ended or the time of
 * an ad is over: what is no longer wanted ends.
 */
export async function settleAds(deps: SettleDeps, workspaceId: string, sourceId: string): Promise<Settlement> {
  const { pool, execute, clock } = deps;
  let fault: string | undefined;
  let nextEnd: Date | undefined;
  /** Submissions that a review policy leaves to a person, and assignments that a product does not allow. */
  const refused = new Set<string>();

  const send = <C extends OwnCommand>(key: string, command: ManagementCommand<C>) =>
    executeAsManagement(execute, { workspaceId, idempotencyKey: `demand:${key}` }, command);

  async function take(step: SettlementStep, source: ResourceRow<'demand_sources'>): Promise<void> {
    switch (step.kind) {
      case 'submit': {
        const { id, version } = step.creative;
        await send(`${id}:${version}`, { type: 'creative.submit', id, version, changes: { disclosure } });
        return;
      }
      case 'assign': {
        const { line_item_id, weight } = source.attributes;
        const changes = { line_item_id, creative_id: step.creative.id, weight };
        const key = `${sourceId}:${step.creative.id}:${step.count}`;
        await send(key, { type: 'creative_assignment.create', id: null, changes });
        return;
      }
      case 'activate': {
        const { id, version } = step.assignment;
        await send(`${id}:${version}`, { type: 'creative_assignment.activate', id, version, changes: {} });
        return;
      }
      case 'end': {
        const { id, version } = step.assignment;
        const changes = { cause: endedBecause };
        await send(`${id}:${version}`, { type: 'creative_assignment.end', id, version, changes });
      }
    }
  }

  const idOf = (step: SettlementStep) => ('creative' in step ? step.creative.id : step.assignment.id);

  for (let round = 0; round < maxRounds; round++) {
    const source = await findResource(pool, workspaceId, 'demand_sources', sourceId);
    if (!source) break;
    const lineItem = await findResource(pool, workspaceId, 'line_items', source.attributes.line_item_id);
    const sells = source.lifecycle_state === 'active' && sellingFault(source, lineItem!) === undefined;
    const valid = sells ? await listValidAds(pool, sourceId, clock()) : [];
    nextEnd = valid.map(({ validUntil }) => validUntil).sort((a, b) => a.getTime() - b.getTime())[0];
    const steps = settlementOf(
      new Set(valid.map(({ demandKey }) => demandKey)),
      await listSourceCreatives(pool, workspaceId, sourceId),
      await listAssignments(pool, workspaceId, source.attributes.line_item_id),
    ).filter((step) => !refused.has(idOf(step)));
    if (steps.length === 0) break;
    for (const step of steps) {
      try {
        await take(step, source);
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        refused.add(idOf(step));
        const { message } = error;
        if (!isProblem(error, ...raceCodes, 'policy_rejected')) fault ??= message;
      }
    }
  }
  return { nextEnd, fault };
}
