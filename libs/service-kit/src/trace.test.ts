import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { trace } from '@opentelemetry/api';
import { NodeSDK, tracing } from '@opentelemetry/sdk-node';
import { createLogger } from './logger.ts';
import { continueTrace, joinTrace, nameRoute, openSpan, outsideTraces, tracePosition } from './trace.ts';

const place = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const unrecorded = place.replace(/01$/, '00');

test('without a collector there are no positions and no spans, and work goes on as it is', async () => {
  expect(tracePosition()).toBeUndefined();
  expect(openSpan(place, 'work', {})).toBeUndefined();
  expect(await continueTrace(place, 'work', {}, async () => tracePosition() ?? 'none')).toBe('none');
  expect(await joinTrace(place, 'work', async () => 'done')).toBe('done');
});

describe('with a collector', () => {
  const spans = new tracing.InMemorySpanExporter();
  const sdk = new NodeSDK({ autoDetectResources: false, spanProcessors: [new tracing.SimpleSpanProcessor(spans)] });
  beforeAll(() => sdk.start());
  beforeEach(() => spans.reset());
  afterAll(() => sdk.shutdown());
  const inSpan = <T>(work: () => Promise<T>) =>
    trace.getTracer('test').startActiveSpan('caller', (span) => work().finally(() => span.end()));

  test('work goes on in the trace of its position, and hands on a position inside of its span', async () => {
    const inside = await continueTrace(place, 'work', { attributes: { kind: 'a' } }, async () => tracePosition());
    const [span] = spans.getFinishedSpans();
    expect(span).toMatchObject({ name: 'work', attributes: { kind: 'a' } });
    expect(span!.parentSpanContext).toMatchObject({ traceId: place.slice(3, 35), spanId: place.slice(36, 52) });
    expect(inside).toBe(`00-${place.slice(3, 35)}-${span!.spanContext().spanId}-01`);
  });

  test('work without a position, and with a text that is none, is part of no trace, whoever calls it', async () => {
    await inSpan(async () => {
      expect(await continueTrace(undefined, 'work', {}, async () => tracePosition())).toBeUndefined();
      expect(await continueTrace('00-nonsense', 'work', {}, async () => tracePosition())).toBeUndefined();
      expect(outsideTraces(() => tracePosition())).toBeUndefined();
    });
    expect(spans.getFinishedSpans().map(({ name }) => name)).toEqual(['caller']);
  });

  test('a trace that nobody records is handed on to nobody', async () => {
    expect(await continueTrace(unrecorded, 'work', {}, async () => tracePosition())).toBeUndefined();
    expect(spans.getFinishedSpans()).toEqual([]);
  });

  test('of an error only its name is told', async () => {
    const failing = continueTrace(place, 'work', {}, () => Promise.reject(new RangeError('ada@example.com')));
    await expect(failing).rejects.toThrow(RangeError);
    const [span] = spans.getFinishedSpans();
    expect(span).toMatchObject({ attributes: { 'error.type': 'RangeError' }, events: [] });
    expect(JSON.stringify([span!.status, span!.attributes])).not.toContain('ada@');
  });

  test('work that joins another trace and its caller are linked with each other', async () => {
    await inSpan(() => joinTrace(place, 'work', async () => undefined));
    const [joined, caller] = spans.getFinishedSpans();
    expect(joined!.spanContext().traceId).toBe(place.slice(3, 35));
    expect(joined!.links.map(({ context }) => context.spanId)).toEqual([caller!.spanContext().spanId]);
    expect(caller!.links.map(({ context }) => context.spanId)).toEqual([place.slice(36, 52)]);
  });

  test('a span is named by its route', async () => {
    await inSpan(async () => nameRoute('GET', '/feeds/:name'));
    const [span] = spans.getFinishedSpans();
    expect(span).toMatchObject({ name: 'GET /feeds/:name', attributes: { 'http.route': '/feeds/:name' } });
  });

  test('log lines name the trace and the span in which they are written, and none outside of traces', async () => {
    const lines: Record<string, unknown>[] = [];
    const logger = createLogger('test', 'info', { write: (line) => void lines.push(JSON.parse(line)) });
    await inSpan(async () => logger.info({}, 'inside'));
    logger.info({}, 'outside');
    const { traceId, spanId } = spans.getFinishedSpans()[0]!.spanContext();
    expect(lines[0]).toMatchObject({ event: 'inside', trace_id: traceId, span_id: spanId });
    expect(Object.keys(lines[1]!).sort()).toEqual(['event', 'level', 'service', 'time']);
  });
});
