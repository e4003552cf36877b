export { databaseOutage } from './database-outage.ts';
export { createPool, transaction, type Pool, type Transaction } from './pool.ts';
export { provisionOwners, sealMigrationHistory, type SchemaOwner } from './provision.ts';
