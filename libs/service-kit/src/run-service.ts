import { ConfigError } from './config.ts';
import { guardOutput } from './guard-output.ts';
import { createLogger, type Logger } from './logger.ts';
import { serveHealth, type ReadinessChecks } from './health.ts';

/** What an app gives back once it serves. */
export interface RunningApp extends AsyncDisposable {
  readonly readiness: ReadinessChecks;
}

/**
 * The life of a process: read the configuration, create the app, serve health, wait for SIGTERM or SIGINT, dispose.
 * Whatever the process says meanwhile is redacted.
 * Exit code 0 after a clean stop, 78 for a wrong configuration (BSD sysexits EX_CONFIG), 1 for anything else.
 */
export async function runService<C extends { readonly LOG_LEVEL: string; readonly HEALTH_LISTEN: string }>(
  service: string,
  readConfiguration: (environment: Readonly<Record<string, string | undefined>>) => C,
  createApp: (config: C, logger: Logger) => Promise<RunningApp>,
): Promise<void> {
  let logger = createLogger(service, 'info');
  guardOutput(() => logger);
  try {
    const config = readConfiguration(process.env);
    logger = createLogger(service, config.LOG_LEVEL);
    const stopping = new Promise<string>((resolve) => {
      for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolve(signal));
    });
    const app = await createApp(config, logger);
    const health = await serveHealth(config.HEALTH_LISTEN, app.readiness);
    logger.info({}, 'service.started');
    const signal = await stopping;
    logger.info({ signal }, 'service.stopping');
    const force = setTimeout(() => {
      logger.error({}, 'service.stop_timed_out');
      process.exit(1);
    }, 20_000);
    await health.close();
    await app[Symbol.asyncDispose]();
    clearTimeout(force);
    logger.info({}, 'service.stopped');
    process.exit(0);
  } catch (error) {
    if (error instanceof ConfigError) {
      process.stderr.write(`${service}: ${error.message}\n`);
      process.exit(78);
    }
    logger.error({ err: error }, 'service.failed');
    process.exit(1);
  }
}
