export {
  busConfig,
  commonConfig,
  pagesConfig,
  ConfigError,
  fetchConfig,
  objectStoreConfig,
  publicObjectStoreConfig,
  readConfig,
  readKafkaConfig,
  type BusConfig,
  type ObjectStoreConfig,
  type TlsConfig,
} from './config.ts';
export { kafkaFaults, kafkaSecurity, type KafkaSecurity, type KafkaVariable } from './kafka-security.ts';
export { openRedis } from './open-redis.ts';
export { readSecretsFile } from './secrets-file.ts';
export { addressSchema, parseListenAddress, renderListenAddress, type ListenAddress } from './listen-address.ts';
export { parseServiceAddress, serviceAddressSchema } from './service-address.ts';
export { proxyProtocolSetting } from './proxy-protocol-setting.ts';
export { isLoopbackName, sharedOriginFaults } from './public-origins.ts';
export { createGate, createGates, type Gate } from './gate.ts';
export { createDuration, meter, observeGauge } from './metrics.ts';
export { createLogger, type Logger } from './logger.ts';
export { outliveWriteErrors } from './outlive-write-errors.ts';
export { redact } from './redact.ts';
export { serveHealth, type ReadinessChecks } from './health.ts';
export {
  continueTrace,
  joinTrace,
  nameRoute,
  openSpan,
  outsideTraces,
  tracePosition,
  type OpenSpan,
  type TracePosition,
} from './trace.ts';
export { runService, type RunningApp } from './run-service.ts';
