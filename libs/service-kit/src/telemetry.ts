import { randomUUID } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { diag, DiagLogLevel, metrics } from '@opentelemetry/api';
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus';
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { MeterProvider } from '@opentelemetry/sdk-metrics';
import { z } from 'zod';
import { readConfig } from './config.ts';
import type { Logger } from './logger.ts';
import { observeGauge } from './metrics.ts';

/** The variables of OpenTelemetry that decide what is loaded; its SDK reads the others itself. */
const schema = z.object({
  /** The collector that gets traces and metrics; without it, nothing is sent anywhere. */
  OTEL_EXPORTER_OTLP_ENDPOINT: z
    .literal('')
    .transform(() => undefined)
    .or(z.url({ protocol: /^https?$/ }))
    .optional(),
  OTEL_EXPORTER_OTLP_PROTOCOL: z.enum(['http/protobuf', 'http/json', 'grpc']).default('http/protobuf'),
  /** How often metrics are sent, in milliseconds. */
  OTEL_METRIC_EXPORT_INTERVAL: z.coerce.number().int().min(1).default(60_000),
});

/** A collector that does not answer holds up the end of a process no longer than this. */
const maxFlushMs = 3_000;

export interface Telemetry extends AsyncDisposable {
  /** Answers `/metrics` in the text format of Prometheus. */
  readonly serveMetrics: RequestListener;
}

/**
 * Starts measuring: `/metrics` always, traces and metrics to a collector when OTEL_EXPORTER_OTLP_ENDPOINT is set. Call it before the
 * packages are imported that traces are made of. Disposing sends what is left. Throws `ConfigError`.
 * @param currentLogger asked each time, because a service gets its final logger with its configuration
 */
export async function startTelemetry(
  service: string,
  environment: Readonly<Record<string, string | undefined>>,
  currentLogger: () => Logger,
): Promise<Telemetry> {
  const config = readConfig(schema, environment);
  const tell = (message: string) => currentLogger().warn({ reason: message }, 'telemetry.failed');
  const silent = () => undefined;
  diag.setLogger(
    { error: tell, warn: tell, info: silent, debug: silent, verbose: silent },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
  const resource = defaultResource()
    .merge(detectResources({ detectors: [envDetector] }))
    .merge(resourceFromAttributes({ 'service.name': service, 'service.instance.id': randomUUID() }));
  const prometheus = new PrometheusExporter({ preventServerStart: true, withoutScopeInfo: true });
  const otlp = config.OTEL_EXPORTER_OTLP_ENDPOINT
    ? await (
        await import('./otlp.ts')
      ).startOtlp(resource, config.OTEL_EXPORTER_OTLP_PROTOCOL, config.OTEL_METRIC_EXPORT_INTERVAL)
    : undefined;
  const provider = new MeterProvider({ resource, readers: [prometheus, ...(otlp ? [otlp.metricReader] : [])] });
  metrics.setGlobalMeterProvider(provider);
  observeProcess();
  return {
    serveMetrics: (request, response) => prometheus.getMetricsRequestHandler(request, response),
    [Symbol.asyncDispose]: async () => {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, maxFlushMs);
      });
      // A collector that is down must not turn a clean stop into a failure.
      const sent = Promise.allSettled([otlp?.shutdown(), provider.shutdown()]);
      await Promise.race([sent, late]).finally(() => clearTimeout(timer));
    },
  };
}

/** Metrics of every service's process. */
function observeProcess(): void {
  observeGauge('process.memory.usage', { unit: 'By', description: 'Resident memory' }, () => [
    { value: process.memoryUsage.rss() },
  ]);
  let before = performance.eventLoopUtilization();
  const utilization = 'Share of the time since the last scrape in which the event loop was busy';
  observeGauge('nodejs.eventloop.utilization', { unit: '1', description: utilization }, () => {
    const now = performance.eventLoopUtilization();
    const { utilization: value } = performance.eventLoopUtilization(now, before);
    before = now;
    return [{ value }];
  });
}
