export { listSorts, resourceViewSchema, type ListSort, type ResourceView } from './resource-view.ts';
export { domainEventSchema, topics, type DomainEvent } from './domain-event.ts';
export {
  addressVerdicts,
  byteRangeServedSchema,
  deliveryEventFactId,
  deliveryEventKinds,
  deliveryFactSchema,
  factMessageSchema,
  factsPublishedSchema,
  maxCellsOfPart,
  mediaRangeServedSchema,
  trackDescribedSchema,
  userAgentSeenSchema,
  type ByteRangeServed,
  type CountedPart,
  type DeliveryEvent,
  type DeliveryEventKind,
  type DeliveryFact,
  type FactsPublished,
  type MediaRangeServed,
  type TrackDescribed,
  type UserAgentSeen,
} from './delivery-fact.ts';
export { encodingJobInputs, encodingJobKinds, type EncodingJobInput, type EncodingJobKind } from './encoding-job.ts';
export { tryParseTick, type EncodingStage, type ProgressTick } from './encoding-progress.ts';
export { forecastJobInputs, forecastJobKinds, type ForecastJobInput, type ForecastJobKind } from './forecast-job.ts';
export { operationConsequenceSchema, type OperationConsequence } from './operation-consequence.ts';
export {
  isMoneyDimension,
  isMoneyMetric,
  moneyDimensions,
  moneyMetrics,
  opportunityFacts,
  reportBases,
  reportConflicts,
  reportDimensions,
  reportFacts,
  reportFilterDimensions,
  reportMetricNames,
  reportMetrics,
  type MoneyDimension,
  type MoneyMetric,
  type ReportConflict,
  type ReportDimension,
  type ReportFacts,
  type ReportMetric,
} from './report-fields.ts';
export { servedAdSchema } from './served-ad.ts';
export { decisionMadeSchema, type DecisionMade } from './decision-made.ts';
export { opportunitiesCountedSchema, type OpportunitiesCounted } from './opportunities-counted.ts';
export { planPoliciesKey, planPoliciesSchema, type PlanPolicy } from './plan-policies.ts';
export { changePlan } from './change-plan.ts';
export {
  adPictureSchema,
  adTrackSchema,
  anyTargeting,
  defaultSeparation,
  hlsAudioFormat,
  hlsPictureFormat,
  planChangesSchema,
  servingPlanSchema,
  type AdPicture,
  type AdTrack,
  type PlanLineItem,
  type PlanTargeting,
  type Separation,
  type ServingPlanDocument,
} from './serving-plan.ts';
