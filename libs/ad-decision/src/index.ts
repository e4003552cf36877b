export { addBit, createBits, hasBit, nextBit, removeBit, type Bits } from './bitset.ts';
export { noAdReasons, verdictCodes, type VerdictCode } from './codes.ts';
export {
  decide,
  decidePrepared,
  preparePlay,
  prepareUntraced,
  type BreakVerdicts,
  type Decision,
  type PreparedPlay,
} from './decide.ts';
export {
  freshInputs,
  type AdBreak,
  type DecisionContext,
  type DecisionInputs,
  type Share,
} from './decision-context.ts';
export { capKeysOf } from './frequency.ts';
export { seedOf } from './decision-hash.ts';
export { decisionTraceSchema, toDecisionTrace, type DecisionTrace } from './decision-trace.ts';
export type { BreakPosition } from './index-floors.ts';
export { buildIndex, tiers, type IndexedLine, type PlanIndex } from './plan-index.ts';
export type { PolicyVersion } from './policies.ts';
export { recordInputs, replayInputs, type RecordedInputs } from './recorded-inputs.ts';
export { noSuspensions, suspendLines, type SuspendedLines, type Suspensions } from './suspensions.ts';
export { createUrgency, setUrgency, urgencyOf, type Urgency, type UrgencyLevel } from './urgency.ts';
export { createVerdictCounts } from './verdict-counts.ts';
