export { noAdReasons, verdictCodes, type NoAdReason, type VerdictCode } from './codes.ts';
export { decide, type Decision, type Pick, type TraceCandidate, type TraceStage } from './decide.ts';
export type { AdBreak, DecisionContext, MayServe, SlotRule } from './decision-context.ts';
export type { IndexedCreative, IndexedStream } from './index-creatives.ts';
export { buildIndex, tiers, type BreakPosition, type IndexedLine, type PlanIndex, type Tier } from './plan-index.ts';
