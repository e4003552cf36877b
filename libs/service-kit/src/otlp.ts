import { register } from 'node:module';
import { createNoopMeter, type Attributes } from '@opentelemetry/api';
import { registerInstrumentations } from '@opentelemetry/instrumentation';
import { ExpressInstrumentation } from '@opentelemetry/instrumentation-express';
import { GrpcInstrumentation } from '@opentelemetry/instrumentation-grpc';
import { HttpInstrumentation } from '@opentelemetry/instrumentation-http';
import { IORedisInstrumentation } from '@opentelemetry/instrumentation-ioredis';
import { PgInstrumentation } from '@opentelemetry/instrumentation-pg';
import type { Resource } from '@opentelemetry/resources';
import { PeriodicExportingMetricReader, type PushMetricExporter } from '@opentelemetry/sdk-metrics';
import { NodeSDK, type NodeSDKConfiguration } from '@opentelemetry/sdk-node';
import { PrismaInstrumentation } from '@prisma/instrumentation';
import { redact } from './redact.ts';

type SpanExporter = NodeSDKConfiguration['traceExporter'];
type Span = Parameters<SpanExporter['export']>[0][number];
type Protocol = 'http/protobuf' | 'http/json' | 'grpc';

/** Modules whose calls become spans; no other is touched. */
const instrumented = ['http', 'https', 'express', '@grpc/grpc-js', 'pg', 'pg-pool', 'ioredis'];

/** Calls that are part of nothing that anybody asked for: the stream of carried calls, and the questions of idle workers and followers. */
const untraced = ['Carry', 'ClaimJob', 'FollowChanges', 'RenewLease'];

/** Requests to the private port of a service: no part of any trace. */
const privatePaths: readonly unknown[] = ['/healthz', '/readyz', '/metrics'];

/** Only the exporters of the protocol in use are loaded. */
const exporters: Readonly<
  Record<Protocol, () => Promise<{ readonly traces: SpanExporter; readonly metrics: PushMetricExporter }>>
> = {
  'http/protobuf': async () => {
    const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-proto');
    const { OTLPMetricExporter } = await import('@opentelemetry/exporter-metrics-otlp-proto');
    return { traces: new OTLPTraceExporter(), metrics: new OTLPMetricExporter() };
  },
  'http/json': async () => {
    const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-http');
    const { OTLPMetricExporter } = await import('@opentelemetry/exporter-metrics-otlp-http');
    return { traces: new OTLPTraceExporter(), metrics: new OTLPMetricExporter() };
  },
  grpc: async () => {
    const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-grpc');
    const { OTLPMetricExporter } = await import('@opentelemetry/exporter-metrics-otlp-grpc');
    return { traces: new OTLPTraceExporter(), metrics: new OTLPMetricExporter() };
  },
};

export interface Otlp {
  /** Sends metrics to the collector; belongs into the one meter provider of the process. */
  readonly metricReader: PeriodicExportingMetricReader;
  /** Sends the spans that are left. */
  shutdown(): Promise<void>;
}

/**
 * Sends traces to the collector of OTEL_EXPORTER_OTLP_ENDPOINT, and prepares the same for metrics. The SDK reads the usual variables
 * (OTEL_EXPORTER_OTLP_HEADERS, OTEL_TRACES_SAMPLER, OTEL_BSP_* …). Log lines stay on standard output.
 */
export async function startOtlp(resource: Resource, protocol: Protocol, metricsEveryMs: number): Promise<Otlp> {
  register('@opentelemetry/instrumentation/hook.mjs', import.meta.url, { data: { include: instrumented } });
  registerInstrumentations({
    instrumentations: [
      new HttpInstrumentation({
        ignoreIncomingRequestHook: ({ url }) => privatePaths.includes(url),
        requireParentforOutgoingSpans: true,
      }),
      new ExpressInstrumentation(),
      new GrpcInstrumentation({ ignoreGrpcMethods: untraced }),
      new PgInstrumentation({ requireParentSpan: true }),
      // Keys name listeners and those who sign in.
      new IORedisInstrumentation({ dbStatementSerializer: (command) => command }),
      new PrismaInstrumentation(),
    ],
    // Their metrics carry what clients send, for example the Host header.
    meterProvider: { getMeter: createNoopMeter },
  });
  const { traces, metrics } = await exporters[protocol]();
  const sdk = new NodeSDK({
    resource,
    autoDetectResources: false,
    traceExporter: redacting(traces),
    metricReaders: [],
    logRecordProcessors: [],
  });
  sdk.start();
  return {
    metricReader: new PeriodicExportingMetricReader({
      exporter: metrics,
      exportIntervalMillis: metricsEveryMs,
      exportTimeoutMillis: Math.min(metricsEveryMs, 30_000),
    }),
    shutdown: () => sdk.shutdown(),
  };
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

/** Names of our own servers, which may be addresses. */
const serverAttributes = new Set(['server.address', 'net.peer.name']);

/** E-mail addresses and the addresses of machines. */
const addresses = [
  /[^\s@<>"'(),;:=]+@[^\s@<>"'(),;:=]+\.[a-z]{2,}/gi,
  /\b(?:\d{1,3}\.){3}\d{1,3}\b/g,
  /\b(?:[0-9a-f]{1,4}:){3,7}[0-9a-f]{1,4}\b/gi,
  /\b(?:[0-9a-f]{1,4}:){1,6}(?::[0-9a-f]{1,4}){1,6}\b/gi,
];

/** A text of a span without secrets and without addresses. */
const redactText = (text: string): string =>
  addresses.reduce((clean, address) => clean.replace(address, '***'), redact(text));

const redactValue = (value: Attributes[string]): Attributes[string] => {
  if (typeof value === 'string') return redactText(value);
  return Array.isArray(value) ? (value.map((each) => redactValue(each as string)) as string[]) : value;
};

const redactAttribute = (name: string, value: Attributes[string]): Attributes[string] => {
  if (secretAttributes.has(name)) return '***';
  return serverAttributes.has(name) ? value : redactValue(value);
};

const redactAttributes = (attributes: Attributes = {}): Attributes =>
  Object.fromEntries(Object.entries(attributes).map(([name, value]) => [name, redactAttribute(name, value)]));

/** A span whose texts (name, attributes, events with their exceptions, links, status) carry no address, agent or secret. */
const redactSpan = (span: Span): Span => ({
  // The instrumentation of gRPC puts its own word before the name that the semantic conventions give.
  name: redactText(span.name).replace(/^grpc\./, ''),
  kind: span.kind,
  spanContext: () => span.spanContext(),
  ...(span.parentSpanContext && { parentSpanContext: span.parentSpanContext }),
  startTime: span.startTime,
  endTime: span.endTime,
  status:
    span.status.message === undefined ? span.status : { ...span.status, message: redactText(span.status.message) },
  attributes: redactAttributes(span.attributes),
  links: span.links.map((link) => ({ ...link, attributes: redactAttributes(link.attributes) })),
  events: span.events.map((event) => ({
    ...event,
    name: redactText(event.name),
    attributes: redactAttributes(event.attributes),
  })),
  duration: span.duration,
  ended: span.ended,
  resource: span.resource,
  instrumentationScope: span.instrumentationScope,
  droppedAttributesCount: span.droppedAttributesCount,
  droppedEventsCount: span.droppedEventsCount,
  droppedLinksCount: span.droppedLinksCount,
});

/** Redacts spans before they leave the process. */
const redacting = (exporter: SpanExporter): SpanExporter => ({
  export: (spans, onDone) => exporter.export(spans.map(redactSpan), onDone),
  forceFlush: async () => exporter.forceFlush?.(),
  shutdown: () => exporter.shutdown(),
});
