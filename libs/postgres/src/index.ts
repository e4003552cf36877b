export { setStatementTimeout } from './answer-timeout.ts';
export { appliedMigrations, assertNotContracted, ContractedSchema, isContraction } from './contractions.ts';
export { copyRows } from './copy-rows.ts';
export { databaseOutage } from './database-outage.ts';
export { databaseProblem } from './database-problem.ts';
export { inBatches } from './in-batches.ts';
export { isLockFailure } from './lock-failure.ts';
export {
  createPool,
  pingDatabase,
  sendStatement,
  transaction,
  type Pool,
  type Session,
  type Transaction,
} from './pool.ts';
export { queryPrepared } from './query-prepared.ts';
export { repeatSweeps } from './repeat-sweeps.ts';
export { closeMaintenanceDatabases, provisionOwners, sealMigrationHistory, type SchemaOwner } from './provision.ts';
export { isStatementTimeout } from './statement-timeout.ts';
export { tryOut } from './try-out.ts';
export { endWhenSilent, keepTalking, silentSessionMs } from './silent-session.ts';
