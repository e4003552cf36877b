import { afterAll, expect, test } from '@jest/globals';
import { trace } from '@opentelemetry/api';
import { NodeSDK, tracing } from '@opentelemetry/sdk-node';
import { connect, identities, say, serveProbe } from './_support.ts';

const spans = new tracing.InMemorySpanExporter();
const sdk = new NodeSDK({ autoDetectResources: false, spanProcessors: [new tracing.SimpleSpanProcessor(spans)] });
sdk.start();
afterAll(async () => {
  await sdk.shutdown();
});

test('calls on a stream stand in the traces of their callers, each in its own, and a call without a trace in none', async () => {
  const server = await serveProbe(async ({ storageKey }) => {
    await Promise.resolve();
    if (storageKey === 'two') throw new Error('private');
    return say(trace.getActiveSpan()?.spanContext().traceId ?? 'none');
  });
  const caller = connect(server.port, identities.management, 'calls on the stream');
  const tracer = trace.getTracer('test');
  // The stream is opened inside a trace, which must not become that of later calls.
  await tracer.startActiveSpan('opening', () => caller.streaming());
  spans.reset();
  const inTrace = (storageKey: string) =>
    tracer.startActiveSpan(storageKey, async (span) => {
      const outcome = await caller.probe({ storageKey }, {}).catch((error: Error) => error);
      span.end();
      return { outcome, traceId: span.spanContext().traceId };
    });
  const [one, two, none] = await Promise.all([inTrace('one'), inTrace('two'), caller.probe({ storageKey: '' }, {})]);
  caller.close();
  await server.close(0);
  expect(one.outcome).toEqual(say(one.traceId));
  expect(none).toEqual(say('none'));
  for (const { traceId } of [one, two]) {
    const [handled, sent, request] = spans.getFinishedSpans().filter((span) => span.spanContext().traceId === traceId);
    expect([handled!.name, sent!.name]).toEqual(Array(2).fill('longwave.probe.v1.ProbeService/Probe'));
    expect(handled!.parentSpanContext?.spanId).toBe(sent!.spanContext().spanId);
    expect(sent!.parentSpanContext?.spanId).toBe(request!.spanContext().spanId);
  }
});
