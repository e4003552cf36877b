/**
 * Telemetry preload: node --import ./tools/otel.mjs dist/main.js. Does nothing, and imports nothing, unless an OTLP endpoint
 * or METRICS_PORT is set. Listeners' addresses and tokens never become attributes: URLs and headers are left out.
 */
if (process.env.OTEL_EXPORTER_OTLP_ENDPOINT || process.env.METRICS_PORT) {
  const { register } = await import('node:module');
  register('@opentelemetry/instrumentation/hook.mjs', import.meta.url);
  const [sdk, prometheus, http, express, grpc, kafka, pg, redis, prisma] = await Promise.all([
    import('@opentelemetry/sdk-node'),
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
  const secretAttributes = [
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
  ];
  const scrub = (span) => span.setAttributes(Object.fromEntries(secretAttributes.map((name) => [name, '***'])));
  const started = new sdk.NodeSDK({
    serviceName: process.env.OTEL_SERVICE_NAME ?? 'longwave',
    ...(process.env.METRICS_PORT && {
      metricReaders: [new prometheus.PrometheusExporter({ port: Number(process.env.METRICS_PORT), host: '127.0.0.1' })],
    }),
    instrumentations: [
      new http.HttpInstrumentation({ applyCustomAttributesOnSpan: scrub }),
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
