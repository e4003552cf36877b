export { awayAddresses } from './away-addresses.ts';
export { bucketPolicy } from './bucket-policy.ts';
export { startChild, type Child } from './child.ts';
export {
  dataFolder,
  defaultDataFolder,
  moveDataFolder,
  removeDataFolder,
  temporaryDataFolder,
  type DataFolder,
} from './data-folder.ts';
export { developmentCa, type IdentityFiles } from './development-ca.ts';
export { startKafkaServer } from './kafka-server.ts';
export { startVersityGateway } from './versity-gateway.ts';
export { privateLog, startEmbeddedPostgres } from './embedded-postgres.ts';
export { freePort, freePorts, isPortFree } from './free-ports.ts';
export { dataVersion, ownVersion, setDataVersion } from './data-version.ts';
export { readReleases, releaseSchema, type Release } from './releases.ts';
export { assertRoom, roomNeededBytes } from './room.ts';
export { assertReleaseFits, countMissingMigrations, deployMigrations } from './migrate-schema.ts';
export { startObjectStoreServer, type ObjectStoreServer } from './object-store-server.ts';
export { redisMemoryBytes, renderRedisConfiguration } from './redis-configuration.ts';
export { startRedisServer, type RedisServer } from './redis-server.ts';
export { redisUserLine, redisUserLines } from './redis-user.ts';
export { countAccepted } from './keys/count-accepted.ts';
export { countUses } from './keys/key-uses.ts';
export { keyKinds, keyNames, type KeyKind, type KeyName } from './keys/key-kinds.ts';
export { objectStoreKeys, serviceLogins } from './keys/logins.ts';
export { lockKeys } from './keys/lock-keys.ts';
export { listKeys, rowOf, type KeyRow } from './keys/list-keys.ts';
export { dropFormerKeys, rotateKey, type Installation } from './keys/rotate-keys.ts';
export { planFinish, recordRotation, usedFrom } from './keys/rotation-plan.ts';
export { recordOf, saveRecord } from './keys/rotation-records.ts';
export { openSecrets } from './secrets.ts';
export { startEarlierDatabase } from './earlier-database.ts';
export { startTestDatabase, type TestDatabase } from './test-database.ts';
export { startTestObjectStore } from './test-object-store.ts';
export { sharedRedisDatabases, startTestRedis, type TestRedis } from './test-redis.ts';
export { workspaceRoot } from './workspace-root.ts';
export { findRunningFleet, FleetIsRunning, type FleetAccess } from './fleet-state.ts';
export { ownApps } from './apps.ts';
export { localUrls, PortTaken, type PublicPorts } from './fleet-ports.ts';
export type { FleetUrls, PublicUrls } from './service-environment.ts';
export { createEdge } from './edge.ts';
export { soleUpstream } from './upstreams.ts';
export type { OutsideEngines } from './start-engines.ts';
export { startFleet, type Fleet, type FleetOptions } from './start-fleet.ts';
export type { ServiceEvent } from './keep-running.ts';
