import { context, propagation, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace, type Span } from '@opentelemetry/api';
import type { Call } from './generated/longwave/call/v1/call.ts';

/** Where a call belongs in a trace: W3C Trace Context, empty without one. */
export type TracePosition = Pick<Call, 'traceparent' | 'tracestate'>;

const tracer = () => trace.getTracer('@longwave/rpc');

/** A name and attributes like those of the semantic conventions for gRPC, as unary calls have them. */
function spanOf(path: string, kind: SpanKind) {
  const [, service, method] = path.split('/');
  const attributes = { 'rpc.system': 'grpc', 'rpc.service': service!, 'rpc.method': method! };
  return [path.slice(1), { kind, attributes }] as const;
}

async function untilSettled<T>(span: Span, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    span.setStatus({ code: SpanStatusCode.ERROR });
    throw error;
  } finally {
    span.end();
  }
}

const noPosition: TracePosition = { traceparent: '', tracestate: '' };

/** Sends a call as a span of the trace that its caller makes, if any. */
export function traceSent<T>(path: string, send: (position: TracePosition) => Promise<T>): Promise<T> {
  if (!trace.getActiveSpan()) return send(noPosition);
  return tracer().startActiveSpan(...spanOf(path, SpanKind.CLIENT), (span) => {
    const position = { ...noPosition };
    propagation.inject(context.active(), position);
    return untilSettled(span, () => send(position));
  });
}

/** Handles a call in the trace of its caller, and never in that of the stream which carries it. */
export function traceHandled<T>(path: string, position: TracePosition, handle: () => Promise<T>): Promise<T> {
  if (position.traceparent === '') return context.with(ROOT_CONTEXT, handle);
  const parent = propagation.extract(ROOT_CONTEXT, position);
  return tracer().startActiveSpan(...spanOf(path, SpanKind.SERVER), parent, (span) => untilSettled(span, handle));
}
