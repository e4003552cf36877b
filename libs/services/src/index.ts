export { apiContractSchema, describeApi, type ApiContract, type Deprecation } from './api-contract.ts';
export { chartServices } from './chart-services.ts';
export { isConsolePath, reservedPrefixes } from './console-paths.ts';
export { deliveryContract, isCurrent, type DeliveryContract } from './delivery-contract.ts';
export {
  addressVariableOf,
  migrationRoleOf,
  namesOf,
  routesOf,
  schemaOwners,
  serviceRoleOf,
  soleServiceOf,
  youngGenerationMbOf,
} from './derive.ts';
export { gateways, isGateway, services, type CallerName, type ServiceName } from './manifest.ts';
export { changesChannel, jobsChannel, progressKeyOf } from './redis-names.ts';
export {
  publicHosts,
  secretsInFiles,
  type Manifest,
  type ObjectRights,
  type PublicHost,
  type RedisRights,
  type SecretVariable,
  type ServiceEntry,
} from './service-entry.ts';
