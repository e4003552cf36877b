export { addressSchema, busConfig, commonConfig, ConfigError, objectStoreConfig, readConfig } from './config.ts';
export { createLogger, redact, type Logger } from './logger.ts';
export { serveHealth, type ReadinessChecks } from './health.ts';
export { runService, type RunningApp } from './run-service.ts';
export { renderProblem } from './render-problem.ts';
export { listenHttp, type HttpListener } from './listen-http.ts';
