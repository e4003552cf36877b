import { setSourceMapsSupport } from 'node:module';
import { ConfigError } from './config.ts';
import { guardOutput } from './guard-output.ts';
import { createLogger, type Logger } from './logger.ts';
import { serveHealth, type ReadinessChecks } from './health.ts';

/** A started app; disposing it stops it. */
export interface RunningApp extends AsyncDisposable {
  readonly readiness: ReadinessChecks;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** The modules of a service. They are imported after telemetry has started, because it can measure only what is loaded after it. */
export interface ServiceModules<C> {
  readonly config: () => Promise<{ readonly readConfiguration: (environment: Environment) => C }>;
  readonly app: () => Promise<{ readonly createApp: (config: C, logger: Logger) => Promise<RunningApp> }>;
}

/**
 * The life of a process: start telemetry, read the configuration, create the app, serve health and metrics, wait for SIGTERM or
 * SIGINT, dispose. All output of the process is redacted.
 * Exit code 0 after a clean stop, 78 for a wrong configuration (BSD sysexits EX_CONFIG), 1 for anything else.
 */
export async function runService<C extends { readonly LOG_LEVEL: string; readonly HEALTH_LISTEN: string }>(
  service: string,
  modules: ServiceModules<C>,
): Promise<void> {
  // Not by a flag of Node, which would hold the maps of every package in memory.
  setSourceMapsSupport(true, { nodeModules: false, generatedCode: false });
  const output = guardOutput(() => logger);
  let logger = createLogger(service, 'info', output);
  try {
    // Loaded here, because other users of this library need only its logger.
    const { startTelemetry } = await import('./telemetry.ts');
    const telemetry = await startTelemetry(service, process.env, () => logger);
    const config = (await modules.config()).readConfiguration(process.env);
    logger = createLogger(service, config.LOG_LEVEL, output);
    const stopping = new Promise<string>((resolve) => {
      for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolve(signal));
    });
    const app = await (await modules.app()).createApp(config, logger);
    const health = await serveHealth(config.HEALTH_LISTEN, app.readiness, telemetry.serveMetrics);
    logger.info({}, 'service.started');
    const signal = await stopping;
    logger.info({ signal }, 'service.stopping');
    const force = setTimeout(() => {
      logger.error({}, 'service.stop_timed_out');
      process.exit(1);
    }, 20_000);
    await health.close();
    await app[Symbol.asyncDispose]();
    await telemetry[Symbol.asyncDispose]();
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
