export { noAdReasons, verdictCodes } from './codes.ts';
export { decide, decidePrepared, preparePlay, type Decision } from './decide.ts';
export {
  freshInputs,
  type AdBreak,
  type DecisionContext,
  type DecisionInputs,
  type Share,
} from './decision-context.ts';
export { seedOf } from './decision-hash.ts';
export { decisionTraceSchema, toDecisionTrace, type DecisionTrace } from './decision-trace.ts';
export { buildIndex, type BreakPosition, type IndexedLine, type PlanIndex } from './plan-index.ts';
export type { PolicyVersion } from './policies.ts';
export { recordInputs, replayInputs, type RecordedInputs } from './recorded-inputs.ts';
export { noSuspensions, suspendLines, type SuspendedLines, type Suspensions } from './suspensions.ts';
