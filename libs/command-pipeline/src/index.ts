export { createActorOfCall, type ActorOfCall } from './execute/actor-of-call.ts';
export {
  accessOf,
  actorId,
  clientIdOf,
  subjectOf,
  type Actor,
  type CommandOutcome,
  type CommandRequest,
  type ExecuteCommand,
} from './execute/command-request.ts';
export type { CommandRule, Consequence, Decision, PreparedRule, RuleInput, Rules } from './execute/command-rule.ts';
export { answerEnvelope, executeEnvelope, parseEnvelope } from './execute/execute-envelope.ts';
export { createCommandExecutor, type ExecutorOptions } from './execute/execute-command.ts';
export { StalePreparation } from './execute/stale-preparation.ts';
export { createReviewPreview, type PreviewReview } from './execute/preview-review.ts';
export { createApprovedRunner, type RunApproved } from './execute/run-approved.ts';
export type { DecideReview, ReviewQuestion } from './execute/decide-review.ts';
export type { ReviewVerdict } from './review/review-verdict.ts';
export type { CheckRequester, CheckWorkspace } from './execute/command-context.ts';
export { checkTexts, ifMatchForm, permissionProblem } from './execute/check-request.ts';
export { endWaiting } from './review/waiting-operation.ts';
export { startOutboxRelay } from './outbox/relay-outbox.ts';
export { listChangedSince, listNewestChanges } from './read/change-feed-table.ts';
export { openCursor, sealCursor, type CursorKeys } from './read/cursor.ts';
export type { ChangesQuery } from './read/list-changes.ts';
export { findAnywhere, findLink, findResource, listByIds, listInStates, listLinked } from './read/find-resources.ts';
export { listDue, type Due, type DueQuestion } from './read/list-due.ts';
export { findWithParents, listParents, type ParentRow } from './read/list-parents.ts';
export { pageLimit, type Scope } from './read/list-resources.ts';
export type { PatchStep } from './read/diff-attributes.ts';
export type { VersionView } from './read/list-versions.ts';
export { createResourceReader, type ResourceReader } from './read/read-resources.ts';
export { receiptService } from './read/receipt-service.ts';
export { findRevision, findRevisionBefore, listLinkedAt } from './read/read-revisions.ts';
export { receiptHash } from './receipts/chain.ts';
export { findOperationSubject } from './store/cancel-table.ts';
export { insertNotice } from './store/change-table.ts';
export {
  nextSafeActions,
  operationStates,
  systemProcesses,
  type OperationView,
  type ProviderOutcome,
  type SystemProcess,
} from './store/operation.ts';
export { beginOperation } from './store/operation-table.ts';
export {
  createCheckpointSigner,
  createReceiptSigner,
  publicReceiptKey,
  type DecisionBasis,
  type PolicyVersion,
} from './store/receipt.ts';
export { keepReceiptKeys, type ReceiptKeys } from './store/receipt-keys.ts';
export { createReceiptLog, makeCheckpoint, type ReceiptLog } from './store/checkpoint-table.ts';
export { startCheckpoints } from './store/start-checkpoints.ts';
export { holdResource, lockResource } from './store/resource-table.ts';
export {
  definitionOf,
  entityTagOf,
  notFoundProblem,
  resourceView,
  revisionDigest,
  type LinkName,
  type ResourceRow,
} from './store/resource-row.ts';
