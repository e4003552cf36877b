import {
  context,
  propagation,
  ROOT_CONTEXT,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Context,
  type Span,
  type SpanOptions,
} from '@opentelemetry/api';

/** A place in a trace, as the `traceparent` of W3C Trace Context has it (https://www.w3.org/TR/trace-context/#traceparent-header). */
export type TracePosition = string;

const tracer = () => trace.getTracer('longwave');

function positionIn(place: Context): TracePosition | undefined {
  const carrier: { traceparent?: string } = {};
  propagation.inject(place, carrier);
  return carrier.traceparent;
}

/** Where the running work belongs in a trace; undefined when it is in none, or in one that nobody records. */
export function tracePosition(): TracePosition | undefined {
  const active = trace.getActiveSpan()?.spanContext();
  if (!active || (active.traceFlags & TraceFlags.SAMPLED) === 0) return undefined;
  return positionIn(context.active());
}

/** The trace and the span that the running work belongs to, as log lines name them; empty when it is in none. */
export function traceFields(): { readonly trace_id?: string; readonly span_id?: string } {
  const active = trace.getActiveSpan()?.spanContext();
  return active && trace.isSpanContextValid(active) ? { trace_id: active.traceId, span_id: active.spanId } : {};
}

/** A span that goes on with a trace from another process. */
export interface OpenSpan {
  /** Of this span, for whom its work is handed to. */
  readonly position: TracePosition | undefined;
  /** Runs work as part of the span. */
  run<T>(work: () => T): T;
  /** @param error why the work failed, when it did; only its name is told */
  end(error?: unknown): void;
}

function endSpan(span: Span, error: unknown): void {
  if (error !== undefined) {
    span.setStatus({ code: SpanStatusCode.ERROR });
    span.setAttribute('error.type', error instanceof Error ? error.name : '_OTHER');
  }
  span.end();
}

/** Opens a span at a place in a trace; undefined when there is no such place. Whoever opens it ends it. */
export function openSpan(
  position: TracePosition | undefined,
  name: string,
  options: Omit<SpanOptions, 'links'> & { readonly links?: readonly TracePosition[] },
): OpenSpan | undefined {
  const parent = position === undefined ? undefined : contextOf(position);
  if (!parent) return undefined;
  const links = (options.links ?? []).flatMap((each) => {
    const linked = contextOf(each);
    return linked ? [{ context: trace.getSpanContext(linked)! }] : [];
  });
  const span = tracer().startSpan(name, { ...options, links }, parent);
  const inside = trace.setSpan(parent, span);
  return {
    position: positionIn(inside),
    run: (work) => context.with(inside, work),
    end: (error) => endSpan(span, error),
  };
}

/** Undefined for a text that names no place. */
function contextOf(traceparent: TracePosition): Context | undefined {
  const place = propagation.extract(ROOT_CONTEXT, { traceparent });
  return trace.getSpanContext(place) ? place : undefined;
}

/**
 * Runs work as one span at a place in another trace, as far as there is such a place. That span and the span of the caller, which stays in
 * its own trace, are linked with each other.
 */
export function joinTrace<T>(position: TracePosition | undefined, name: string, work: () => Promise<T>): Promise<T> {
  const here = tracePosition();
  const place = position === undefined ? undefined : contextOf(position);
  if (!place) return work();
  trace.getActiveSpan()?.addLink({ context: trace.getSpanContext(place)! });
  return continueTrace(position, name, { links: here === undefined ? [] : [here] }, work);
}

/** Names the running server span by its route, as the semantic conventions for HTTP ask: never by the path that a client sent. */
export function nameRoute(method: string, route: string): void {
  trace.getActiveSpan()?.setAttribute('http.route', route).updateName(`${method} ${route}`);
}

/** Runs work that belongs to no trace, whoever calls it. */
export const outsideTraces = <T>(work: () => T): T => context.with(ROOT_CONTEXT, work);

/** Runs work as one span at a place in a trace, or outside of all traces when there is no such place. */
export async function continueTrace<T>(
  position: TracePosition | undefined,
  name: string,
  options: Parameters<typeof openSpan>[2],
  work: () => Promise<T>,
): Promise<T> {
  const span = openSpan(position, name, options);
  if (!span) return outsideTraces(work);
  try {
    const result = await span.run(work);
    span.end();
    return result;
  } catch (error) {
    span.end(error);
    throw error;
  }
}
