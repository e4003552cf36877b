import { accountCommands, accounts } from './identity/account.ts';
import { credentialCommands, credentials } from './identity/credential.ts';
import { membershipCommands, memberships } from './identity/membership.ts';
import { oauthClientCommands, oauthClients } from './identity/oauth-client.ts';
import { userCommands, users } from './identity/user.ts';
import { advertiserCommands, advertisers } from './advertising/advertiser.ts';
import { billingStatementCommands, billingStatements } from './commerce/billing-statement.ts';
import { batchEncodingCommands, batchEncodings } from './hosting/batch-encoding.ts';
import { breakPlanCommands, breakPlans } from './advertising/break-plan.ts';
import { campaignCommands, campaigns } from './advertising/campaign.ts';
import { creativeAssignmentCommands, creativeAssignments } from './advertising/creative-assignment.ts';
import { creativeCommands, creatives } from './advertising/creative.ts';
import { authorityGrantCommands, authorityGrants } from './workspace/authority-grant.ts';
import { machineKeyCommands, machineKeys } from './workspace/machine-key.ts';
import { contentRevocationCommands, contentRevocations } from './exchange/content-revocation.ts';
import { contentSnapshotCommands, contentSnapshots } from './exchange/content-snapshot.ts';
import { deliveryAliasCommands, deliveryAliases } from './exchange/delivery-alias.ts';
import { platformEvidence, platformEvidenceCommands } from './exchange/platform-evidence.ts';
import { servingIntentCommands, servingIntents } from './exchange/serving-intent.ts';
import { surfaceCapabilities, surfaceCapabilityCommands } from './exchange/surface-capability.ts';
import { demandSourceCommands, demandSources } from './advertising/demand-source.ts';
import { forecastCommands, forecasts } from './commerce/forecast.ts';
import { trafficModifierCommands, trafficModifiers } from './commerce/traffic-modifier.ts';
import type { CommandDefinition, ResourceDefinition } from './definition.ts';
import { episodeCommands, episodes } from './hosting/episode.ts';
import { inventoryUnitCommands, inventoryUnits } from './advertising/inventory-unit.ts';
import { lineItemCommands } from './advertising/line-item-commands.ts';
import { lineItems } from './advertising/line-item.ts';
import { machineTokenCommands, machineTokens } from './identity/machine-token.ts';
import { mediaClipCommands, mediaClips } from './hosting/media-clip.ts';
import { listenerErasureCommands, listenerErasures } from './workspace/listener-erasure.ts';
import { operationCommands } from './workspace/operation.ts';
import { platformSubmissionCommands, platformSubmissions } from './hosting/platform-submission.ts';
import { podcastCommands, podcasts } from './hosting/podcast.ts';
import { reportDefinitionCommands, reportDefinitions } from './workspace/report-definition.ts';
import { reportRunCommands, reportRuns } from './workspace/report-run.ts';
import { productionCommands, productions } from './hosting/production.ts';
import { policies, policyCommands } from './workspace/policy.ts';
import { reviewCommands, reviewRequested, reviewTasks } from './workspace/review-task.ts';
import { productCommands, products } from './advertising/product.ts';
import { rateCardCommands, rateCards } from './advertising/rate-card.ts';
import { makegoodCommands, makegoods } from './commerce/makegood.ts';
import { reconciliationCommands, reconciliations } from './commerce/reconciliation.ts';
import { servingHaltCommands, servingHalts } from './advertising/serving-halt.ts';
import { servingPlanCommands, servingPlans } from './advertising/serving-plan.ts';
import { statisticsExportCommands, statisticsExports } from './hosting/statistics-export.ts';
import { trackingEndpointCommands, trackingEndpoints } from './advertising/tracking-endpoint.ts';
import { uploadCommands, uploads } from './workspace/upload.ts';
import { defineWebhookEndpointCommands, defineWebhookEndpoints, webhookTypes } from './workspace/webhook-endpoint.ts';
import { workspaceCommands, workspaces } from './workspace/workspace.ts';

/** A closed set of commands over a closed set of resource types, executed by one service over one schema. */
export interface Catalog {
  readonly resources: Readonly<Record<string, ResourceDefinition>>;
  readonly commands: Readonly<Record<string, CommandDefinition>>;
}

/** Everything that management executes but webhook endpoints, which are told of all of it. */
const observedCatalog = {
  resources: {
    workspaces,
    authority_grants: authorityGrants,
    machine_keys: machineKeys,
    podcasts,
    episodes,
    uploads,
    productions,
    media_clips: mediaClips,
    batch_encodings: batchEncodings,
    statistics_exports: statisticsExports,
    platform_submissions: platformSubmissions,
    report_definitions: reportDefinitions,
    report_runs: reportRuns,
    advertisers,
    campaigns,
    line_items: lineItems,
    creatives,
    creative_assignments: creativeAssignments,
    demand_sources: demandSources,
    inventory_units: inventoryUnits,
    break_plans: breakPlans,
    serving_plans: servingPlans,
    serving_halts: servingHalts,
    products,
    rate_cards: rateCards,
    reconciliations,
    makegoods,
    tracking_endpoints: trackingEndpoints,
    billing_statements: billingStatements,
    forecasts,
    traffic_modifiers: trafficModifiers,
    policies,
    content_snapshots: contentSnapshots,
    content_revocations: contentRevocations,
    surface_capabilities: surfaceCapabilities,
    delivery_aliases: deliveryAliases,
    platform_evidence: platformEvidence,
    serving_intents: servingIntents,
    listener_erasures: listenerErasures,
    review_tasks: reviewTasks,
  },
  commands: {
    ...workspaceCommands,
    ...authorityGrantCommands,
    ...machineKeyCommands,
    ...podcastCommands,
    ...episodeCommands,
    ...uploadCommands,
    ...productionCommands,
    ...mediaClipCommands,
    ...batchEncodingCommands,
    ...statisticsExportCommands,
    ...platformSubmissionCommands,
    ...reportDefinitionCommands,
    ...reportRunCommands,
    ...advertiserCommands,
    ...campaignCommands,
    ...lineItemCommands,
    ...creativeCommands,
    ...creativeAssignmentCommands,
    ...demandSourceCommands,
    ...inventoryUnitCommands,
    ...breakPlanCommands,
    ...servingPlanCommands,
    ...servingHaltCommands,
    ...productCommands,
    ...rateCardCommands,
    ...reconciliationCommands,
    ...makegoodCommands,
    ...trackingEndpointCommands,
    ...billingStatementCommands,
    ...forecastCommands,
    ...trafficModifierCommands,
    ...policyCommands,
    ...contentSnapshotCommands,
    ...contentRevocationCommands,
    ...surfaceCapabilityCommands,
    ...deliveryAliasCommands,
    ...platformEvidenceCommands,
    ...servingIntentCommands,
    ...listenerErasureCommands,
    ...reviewCommands,
    ...operationCommands,
  },
} as const satisfies Catalog;

/** The event types that a webhook endpoint may choose. */
export const webhookEventTypes: readonly string[] = webhookTypes([
  ...Object.values(observedCatalog.commands),
  { subject: reviewTasks.type, event: reviewRequested },
]);

/** The catalog that management executes. */
export const productCatalog = {
  resources: { ...observedCatalog.resources, webhook_endpoints: defineWebhookEndpoints(webhookEventTypes) },
  commands: { ...observedCatalog.commands, ...defineWebhookEndpointCommands(webhookEventTypes) },
} as const satisfies Catalog;

/** The catalog that auth-server executes. */
export const identityCatalog = {
  resources: {
    users,
    accounts,
    credentials,
    memberships,
    machine_tokens: machineTokens,
    oauth_clients: oauthClients,
  },
  commands: {
    ...userCommands,
    ...accountCommands,
    ...credentialCommands,
    ...membershipCommands,
    ...machineTokenCommands,
    ...oauthClientCommands,
  },
} as const satisfies Catalog;
