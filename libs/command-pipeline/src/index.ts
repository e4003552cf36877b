export {
  accessOf,
  type Actor,
  type CommandOutcome,
  type CommandRequest,
  type OperationState,
  type OperationView,
  type ExecuteCommand,
} from './command-request.ts';
export type { Consequence, Decision, PreparedRule, RuleInput, Rules } from './command-rule.ts';
export { answerEnvelope, executeEnvelope, parseEnvelope } from './execute-envelope.ts';
export { createCommandExecutor, type ExecutorOptions } from './execute-command.ts';
export { createApprovedRunner, type RunApproved } from './run-approved.ts';
export { whoIs } from './request-review.ts';
export { endWaiting } from './waiting-operation.ts';
export { createReceiptSigner, receiptHash } from './receipt.ts';
export { startOutboxRelay } from './relay-outbox.ts';
export { createResourceReader, type Scope, type ResourceReader } from './read-resources.ts';
export {
  definitionOf,
  notFoundProblem,
  resourceView,
  revisionDigest,
  type LinkName,
  type ResourceRow,
} from './resource-row.ts';
export {
  findAnywhere,
  findLink,
  findResource,
  findRevisionBefore,
  holdResource,
  listByIds,
  listInStates,
  listLinked,
  lockResource,
} from './versioned-store.ts';
export { listDue, type Due, type DueQuestion } from './list-due.ts';
export { findWithParents, listParents, type ParentRow } from './list-parents.ts';
export { findRevision, listLinkedAt } from './read-revisions.ts';
export { permissionProblem } from './check-request.ts';
