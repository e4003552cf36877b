export { addressVariableOf, namesOf, routesOf, schemaOwners, soleServiceOf, type PublicRoute } from './derive.ts';
export { gateways, isGateway, services, type CallerName, type ServiceName } from './manifest.ts';
export {
  publicHosts,
  type DocumentedApi,
  type Manifest,
  type ObjectRights,
  type PublicHost,
  type RedisRights,
  type SecretVariable,
  type ServiceEntry,
} from './service-entry.ts';
