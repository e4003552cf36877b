import type { productCatalog } from '@longwave/command-catalog';
import type { Rules } from '@longwave/command-pipeline';
import type { GuardedFetch } from '@longwave/guarded-fetch';
import type { ObjectStore } from '@longwave/object-store';
import type { Pool } from '@longwave/postgres';
import { advertiserRules } from './advertising/advertisers/advertiser-rules.ts';
import { billingStatementRules, type BillingRuleOptions } from './commerce/billing/billing-statement-rules.ts';
import { batchEncodingRules } from './hosting/batch-encodings/batch-encoding-rules.ts';
import { breakPlanRules } from './advertising/break-plans/break-plan-rules.ts';
import { campaignRules } from './advertising/campaigns/campaign-rules.ts';
import { creativeAssignmentRules } from './advertising/creatives/creative-assignment-rules.ts';
import { creativeRules } from './advertising/creatives/creative-rules.ts';
import { demandSourceRules } from './advertising/demand-sources/demand-source-rules.ts';
import type { CheckAvailability } from './commerce/forecasts/check-availability.ts';
import { forecastRules } from './commerce/forecasts/forecast-rules.ts';
import { trafficModifierRules } from './commerce/forecasts/traffic-modifier-rules.ts';
import { episodeRules } from './hosting/episodes/episode-rules.ts';
import { importRules } from './hosting/imports/import-rules.ts';
import { inventoryUnitRules } from './advertising/inventory-units/inventory-unit-rules.ts';
import { exchangeRules } from './exchange/exchange-rules.ts';
import type { SumUnitCosts } from './advertising/campaigns/sum-unit-costs.ts';
import type { CountConfirmed } from './advertising/line-items/count-confirmed.ts';
import { lineItemRules } from './advertising/line-items/line-item-rules.ts';
import { mediaClipRules } from './hosting/media-clips/media-clip-rules.ts';
import type { PublicFetch } from './outside/public-fetch.ts';
import { createFindNamedUpload } from './hosting/podcasts/named-upload.ts';
import { podcastRules } from './hosting/podcasts/podcast-rules.ts';
import { createPublishGate } from './hosting/podcasts/publish-gate.ts';
import type { PrepareArtwork } from './outside/prepare-artwork.ts';
import { platformSubmissionRules, type SubmissionRuleOptions } from './hosting/platforms/platform-submission-rules.ts';
import { policyRules } from './workspace/policies/policy-rules.ts';
import { listenerErasureRules } from './workspace/privacy/listener-erasure-rules.ts';
import { productRules } from './advertising/products/product-rules.ts';
import { productionRules } from './hosting/productions/production-rules.ts';
import type { ProbeDuration } from './outside/probe-duration.ts';
import { makegoodRules } from './commerce/makegoods/makegood-rules.ts';
import { reconciliationRules } from './commerce/reconciliations/reconciliation-rules.ts';
import { reportDefinitionRules } from './workspace/reports/report-definition-rules.ts';
import { reportRunRules } from './workspace/reports/report-run-rules.ts';
import type { ReportOptions } from './workspace/reports/run-report.ts';
import { authorityGrantRules } from './workspace/authority/authority-grant-rules.ts';
import { machineKeyRules } from './workspace/authority/machine-key-rules.ts';
import { reviewRules } from './workspace/reviews/review-rules.ts';
import { servingHaltRules } from './advertising/serving-halts/serving-halt-rules.ts';
import { servingPlanRules } from './advertising/serving-plans/serving-plan-rules.ts';
import { statisticsExportRules } from './hosting/statistics-exports/statistics-export-rules.ts';
import { trackingEndpointRules } from './advertising/trackers/tracking-endpoint-rules.ts';
import type { WebhookSecrets } from './workspace/webhooks/endpoint-secrets.ts';
import { webhookEndpointRules } from './workspace/webhooks/webhook-endpoint-rules.ts';
import { uploadRules } from './workspace/uploads/upload-rules.ts';
import { workspaceRules } from './workspace/workspaces/workspace-rules.ts';

/** A rule for every command of the catalog that needs one; the compiler lists missing ones. */
export const createRules = (options: {
  readonly pool: Pool;
  readonly store: ObjectStore;
  readonly mediaUrl: string;
  readonly probeDuration: ProbeDuration;
  readonly prepareArtwork: PrepareArtwork;
  readonly fetch: GuardedFetch;
  /** Requests public addresses as directories do. */
  readonly publicFetch: PublicFetch;
  readonly countConfirmed: CountConfirmed;
  /** How much is left for a line item. */
  readonly checkAvailability: CheckAvailability;
  readonly sumUnitCosts: SumUnitCosts;
  readonly webhooks: { readonly secrets: WebhookSecrets; readonly allowOrigins: readonly string[] };
  /** Days that the result of a report is kept. */
  readonly reportDays: number;
  /** The plan of a workspace. */
  readonly findPlan: ReportOptions['findPlan'];
  /** What submissions to platforms need. */
  readonly submissions: SubmissionRuleOptions;
  /** The ledger that statements are computed from. */
  readonly ledger: BillingRuleOptions['ledger'];
  readonly clock: () => Date;
}): Rules<typeof productCatalog> => ({
  ...workspaceRules,
  ...authorityGrantRules,
  ...machineKeyRules,
  ...contentRules(options),
  ...importRules(options),
  ...platformSubmissionRules(options.submissions),
  ...uploadRules(options.pool, options.store, options.mediaUrl),
  ...productionRules(options),
  ...mediaClipRules(options),
  ...batchEncodingRules,
  ...statisticsExportRules,
  ...reportDefinitionRules,
  ...reportRunRules({ keptDays: options.reportDays, findPlan: options.findPlan }),
  ...advertiserRules,
  ...campaignRules(options),
  ...creativeRules(options),
  ...creativeAssignmentRules,
  ...demandSourceRules,
  ...lineItemRules(options),
  ...inventoryUnitRules,
  ...breakPlanRules,
  ...servingPlanRules(options),
  ...servingHaltRules,
  ...productRules,
  ...reconciliationRules(options),
  ...makegoodRules(options),
  ...trackingEndpointRules(options.webhooks),
  ...billingStatementRules(options),
  ...forecastRules,
  ...trafficModifierRules,
  ...policyRules,
  ...listenerErasureRules,
  ...exchangeRules,
  ...reviewRules,
  ...webhookEndpointRules(options.webhooks),
});

type RuleOptions = Parameters<typeof createRules>[0];

/** Rules of podcasts and episodes. */
function contentRules(options: RuleOptions) {
  const { pool, store, mediaUrl } = options;
  const shared = { ...options, findNamedUpload: createFindNamedUpload(pool, store, mediaUrl) };
  return {
    ...podcastRules({ ...shared, findFaults: createPublishGate(options) }),
    ...episodeRules(shared),
  };
}
