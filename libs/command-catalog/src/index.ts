export { identityCatalog, productCatalog, webhookEventTypes, type Catalog } from './catalog.ts';
export { describeCatalog, isForPeople } from './describe-catalog.ts';
export type { CommandDefinition, ResourceDefinition } from './definition.ts';
export { needsReason, reasonSchemaOf } from './reason.ts';
export { nameAttributeOf, sortKeysOf } from './sort-keys.ts';
export type {
  Attributes,
  ChangesInput,
  ChangesOf,
  CommandType,
  EventOf,
  EventType,
  IdentityCommand,
  LinkOf,
  MachineCommand,
  ProductCommand,
  ProductResource,
  Resource,
  ResourceType,
  CommandWithRule,
  StateOf,
  SubjectOf,
} from './types.ts';
export { isEvent, isResource, reactTo, typedResource, type Reactions } from './typed-events.ts';
export { appleCategories } from './hosting/apple-categories.ts';
export { isLegalText, maxDescriptionBytes, maxNotesBytes } from './fields.ts';
export { maxUploadBytes, partSizeBytes } from './workspace/upload.ts';
export { podcasts } from './hosting/podcast.ts';
export { episodes } from './hosting/episode.ts';
export { uploads } from './workspace/upload.ts';
export { productions } from './hosting/production.ts';
export { accounts } from './identity/account.ts';
export { credentials } from './identity/credential.ts';
export { memberPermissions } from './identity/member-permissions.ts';
export { memberships } from './identity/membership.ts';
export { users } from './identity/user.ts';
export { machineTokens } from './identity/machine-token.ts';
export { oauthClients } from './identity/oauth-client.ts';
export { operations } from './workspace/operation.ts';
export {
  hasOwnData,
  webhookDataSchema,
  webhookMessageSchema,
  type DetailedWebhookType,
  type WebhookDetails,
  type WebhookMessage,
} from './workspace/webhook-payload.ts';
export {
  webhookDeliveryProblems,
  webhookDeliverySchema,
  webhookDeliveryStates,
  type WebhookDelivery,
} from './workspace/webhook-delivery.ts';
export {
  lineItemAlertEvents,
  lineItemAlertKinds,
  lineItemAlertSchema,
  lineItemAlertStates,
  podcastAlertEvents,
  type LineItemAlert,
} from './commerce/line-item-alert.ts';
export { operationEnded, webhookTest, webhookTypeOf } from './workspace/webhook-endpoint.ts';
export { overbooking, reviewRequested, reviewTasks } from './workspace/review-task.ts';
export {
  policyRulesOf,
  policyScopes,
  type PolicyKind,
  type PolicyRules,
  type PolicyScope,
} from './workspace/policy-terms.ts';
export { batchEncodings, batchInitiators, defaultInitiator } from './hosting/batch-encoding.ts';
export { clipFormats, mediaClips } from './hosting/media-clip.ts';
export { statisticsExports } from './hosting/statistics-export.ts';
export { artwork, chapters, markers, storedTranscripts, templatePart } from './hosting/media-files.ts';
export { trackingScopes } from './advertising/tracking-endpoint.ts';
export { billingStatements, maxStatementLines } from './commerce/billing-statement.ts';
export {
  findingCodes,
  reconciliationAmbiguities,
  reconciliations,
  reconciliationVerdicts,
} from './commerce/reconciliation.ts';
export { maxForecastDays } from './commerce/forecast.ts';
export { reportFormats, reportRuns } from './workspace/report-run.ts';
export { contentSnapshots } from './exchange/content-snapshot.ts';
export { deliveryAliases } from './exchange/delivery-alias.ts';
export { servingIntents } from './exchange/serving-intent.ts';
export { surfaceCapabilities } from './exchange/surface-capability.ts';
