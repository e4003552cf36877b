import { accountCommands, accounts, credentials, memberships } from './account.ts';
import { advertiserCommands, advertisers } from './advertiser.ts';
import { batchEncodingCommands, batchEncodings } from './batch-encoding.ts';
import { breakPlanCommands, breakPlans } from './break-plan.ts';
import { campaignCommands, campaigns } from './campaign.ts';
import { creativeAssignmentCommands, creativeAssignments } from './creative-assignment.ts';
import { creativeCommands, creatives } from './creative.ts';
import type { CommandDefinition, ResourceDefinition } from './definition.ts';
import { episodeCommands, episodes } from './episode.ts';
import { inventoryUnitCommands, inventoryUnits } from './inventory-unit.ts';
import { lineItemCommands } from './line-item-commands.ts';
import { lineItems } from './line-item.ts';
import { machineTokenCommands, machineTokens } from './machine-token.ts';
import { mediaClipCommands, mediaClips } from './media-clip.ts';
import { podcastCommands, podcasts } from './podcast.ts';
import { productionCommands, productions } from './production.ts';
import { reviewCommands, reviewTasks } from './review-task.ts';
import { servingHaltCommands, servingHalts } from './serving-halt.ts';
import { servingPlanCommands, servingPlans } from './serving-plan.ts';
import { statisticsExportCommands, statisticsExports } from './statistics-export.ts';
import { uploadCommands, uploads } from './upload.ts';
import { workspaceCommands, workspaces } from './workspace.ts';

/** A closed set of commands over a closed set of resource types, executed by one service over one schema. */
export interface Catalog {
  readonly resources: Readonly<Record<string, ResourceDefinition>>;
  readonly commands: Readonly<Record<string, CommandDefinition>>;
}

/** Everything management executes. */
export const productCatalog = {
  resources: {
    workspaces,
    podcasts,
    episodes,
    uploads,
    productions,
    media_clips: mediaClips,
    batch_encodings: batchEncodings,
    statistics_exports: statisticsExports,
    advertisers,
    campaigns,
    line_items: lineItems,
    creatives,
    creative_assignments: creativeAssignments,
    inventory_units: inventoryUnits,
    break_plans: breakPlans,
    serving_plans: servingPlans,
    serving_halts: servingHalts,
    review_tasks: reviewTasks,
  },
  commands: {
    ...workspaceCommands,
    ...podcastCommands,
    ...episodeCommands,
    ...uploadCommands,
    ...productionCommands,
    ...mediaClipCommands,
    ...batchEncodingCommands,
    ...statisticsExportCommands,
    ...advertiserCommands,
    ...campaignCommands,
    ...lineItemCommands,
    ...creativeCommands,
    ...creativeAssignmentCommands,
    ...inventoryUnitCommands,
    ...breakPlanCommands,
    ...servingPlanCommands,
    ...servingHaltCommands,
    ...reviewCommands,
  },
} as const satisfies Catalog;

/** Everything auth-server executes. */
export const identityCatalog = {
  resources: { accounts, credentials, memberships, machine_tokens: machineTokens },
  commands: { ...accountCommands, ...machineTokenCommands },
} as const satisfies Catalog;
