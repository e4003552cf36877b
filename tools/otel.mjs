/**
 * Telemetry preload: node --import ./tools/otel.mjs dist/main.js. Does nothing, and imports nothing, unless an OTLP endpoint
 * or METRICS_PORT is set. Listeners' addresses and tokens never leave: URLs, agents and addresses are left out of every span, and
 * all its other texts (name, attributes, events with their exceptions, status) pass `redact`.
 */
if (process.env.OTEL_EXPORTER_OTLP_ENDPOINT || process.env.METRICS_PORT) {
  const { register } = await import('node:module');
  register('@opentelemetry/instrumentation/hook.mjs', import.meta.url);
  const [{ redact }, sdk, { getSpanProcessorsFromEnv }, prometheus, http, express, grpc, kafka, pg, redis, prisma] =
    await Promise.all([
      import('../libs/service-kit/src/redact.ts'),
      import('@opentelemetry/sdk-node'),
      // What the SDK does itself when it is given no processors; it has no public name.
      import('@opentelemetry/sdk-node/build/src/utils.js'),
      import('@opentelemetry/exporter-prometheus'),
      import('@opentelemetry/instrumentation-http'),
      import('@opentelemetry/instrumentation-express'),
      import('@opentelemetry/instrumentation-grpc'),
      import('@opentelemetry/instrumentation-kafkajs'),
      import('@opentelemetry/instrumentation-pg'),
      import('@opentelemetry/instrumentation-ioredis'),
      import('@prisma/instrumentation'),
    ]);
  if (!process.env.OTEL_EXPORTER_OTLP_ENDPOINT) {
    process.env.OTEL_TRACES_EXPORTER ??= 'none';
    process.env.OTEL_LOGS_EXPORTER ??= 'none';
  }
  /** Attributes that could carry an address, an agent, a token or a signature. */
  const secretAttributes = new Set([
    'url.full',
    'url.path',
    'url.query',
    'http.url',
    'http.target',
    'http.user_agent',
    'user_agent.original',
    'client.address',
    'http.client_ip',
    'net.peer.ip',
    'network.peer.address',
    'net.sock.peer.addr',
  ]);
  const redacted = (value) =>
    typeof value === 'string' ? redact(value) : Array.isArray(value) ? value.map(redacted) : value;
  const clean = (attributes = {}) =>
    Object.fromEntries(
      Object.entries(attributes).map(([name, value]) => [name, secretAttributes.has(name) ? '***' : redacted(value)]),
    );
  /** The last hand on a span before any exporter sees it. */
  const redacting = {
    onStart: () => undefined,
    onEnding: (span) => {
      span.updateName(redact(span.name));
      span.setAttributes(clean(span.attributes));
      for (const event of span.events)
        Object.assign(event, { name: redact(event.name), attributes: clean(event.attributes) });
      for (const link of span.links) link.attributes = clean(link.attributes);
      if (span.status.message) span.setStatus({ ...span.status, message: redact(span.status.message) });
    },
    onEnd: () => undefined,
    forceFlush: () => Promise.resolve(),
    shutdown: () => Promise.resolve(),
  };
  const exporting = getSpanProcessorsFromEnv();
  const started = new sdk.NodeSDK({
    serviceName: process.env.OTEL_SERVICE_NAME ?? 'longwave',
    ...(process.env.METRICS_PORT && {
      metricReaders: [new prometheus.PrometheusExporter({ port: Number(process.env.METRICS_PORT), host: '127.0.0.1' })],
    }),
    spanProcessors: exporting.length > 0 ? [redacting, ...exporting] : [],
    instrumentations: [
      new http.HttpInstrumentation(),
      new express.ExpressInstrumentation(),
      new grpc.GrpcInstrumentation(),
      new kafka.KafkaJsInstrumentation(),
      new pg.PgInstrumentation({ requireParentSpan: true }),
      new redis.IORedisInstrumentation(),
      new prisma.PrismaInstrumentation(),
    ],
  });
  started.start();
  // A collector that is down must not turn a clean stop into a failure.
  for (const signal of ['SIGTERM', 'SIGINT'])
    process.once(signal, () => void started.shutdown().catch(() => undefined));
}
