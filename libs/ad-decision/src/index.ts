export { noAdReasons, verdictCodes, type NoAdReason, type VerdictCode } from './codes.ts';
export { decide, decidePrepared, preparePlay, type Decision, type Pick, type PreparedPlay } from './decide.ts';
export {
  freshInputs,
  type AdBreak,
  type DecisionContext,
  type DecisionInputs,
  type Share,
  type SlotRule,
} from './decision-context.ts';
export { seedOf } from './decision-hash.ts';
export type { IndexedCreative, IndexedStream } from './index-creatives.ts';
export { buildIndex, tiers, type BreakPosition, type IndexedLine, type PlanIndex, type Tier } from './plan-index.ts';
export { recordInputs, replayInputs, type RecordedInputs, type Recording } from './recorded-inputs.ts';
export { noSuspensions, suspendLines, type SuspendedLines, type Suspensions } from './suspensions.ts';
export type { TraceCandidate, TraceStage } from './trace.ts';
