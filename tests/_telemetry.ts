import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { namesOf, services } from '@longwave/services';
import { z } from 'zod';

/** The samples of a service's `/metrics`, by name and labels as they stand there: `longwave_jobs{kind="import_feed",state="queued"}`. */
export type Samples = ReadonlyMap<string, number>;

export async function scrape(
  address: string,
): Promise<{ readonly types: ReadonlyMap<string, string>; samples: Samples }> {
  const response = await fetch(`http://${address}/metrics`);
  const lines = (await response.text()).split('\n');
  const types = lines.flatMap((line) => {
    const [, name, type] = /^# TYPE (\S+) (\S+)$/.exec(line) ?? [];
    return name && type ? [[name, type] as const] : [];
  });
  const samples = lines.flatMap((line) => {
    const [, name, value] = /^([a-z_]+(?:\{.*\})?) (\S+)$/.exec(line) ?? [];
    return name ? [[name, Number(value)] as const] : [];
  });
  return { types: new Map(types), samples: new Map(samples) };
}

/** The sum of all samples of a name whose labels contain these. */
export function sumOf(samples: Samples, name: string, labels: Readonly<Record<string, string>> = {}): number {
  const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
  return [...samples]
    .filter(([sample]) => sample.split('{')[0] === name && wanted.every((each) => sample.includes(each)))
    .reduce((sum, [, value]) => sum + value, 0);
}

/** The names of the labels of every metric that has been measured anywhere, with those that a scrape adds. */
export async function measuredLabels(addresses: readonly string[]): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const found = new Map<string, Set<string>>([['up', new Set(['job', 'instance'])]]);
  for (const address of addresses)
    for (const sample of (await scrape(address)).samples.keys()) {
      const [, name = '', labels = ''] = /^(\w+)(?:\{(.*)\})?$/.exec(sample) ?? [];
      const known = found.get(name) ?? new Set(['job', 'instance']);
      for (const [, label] of labels.matchAll(/(\w+)="/g)) known.add(label!);
      found.set(name, known);
    }
  return found;
}

/** Every value of a label that any service reports, with the place where it stands. */
export async function labelValues(addresses: Readonly<Record<string, string>>): Promise<ReadonlySet<string>> {
  const values = new Set<string>();
  for (const [service, address] of Object.entries(addresses))
    for (const sample of (await scrape(address)).samples.keys())
      for (const [, label, value] of sample.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g))
        if (label !== 'le' && !sample.startsWith('target_info'))
          values.add(`${service} ${sample.split('{')[0]} ${label}=${value}`);
  return values;
}

const attributeSchema = z.object({ key: z.string(), value: z.record(z.string(), z.unknown()) });
const tracesSchema = z.object({
  resourceSpans: z.array(
    z.object({
      resource: z.object({ attributes: z.array(attributeSchema) }),
      scopeSpans: z.array(
        z.object({
          scope: z.object({ name: z.string() }),
          spans: z.array(
            z.object({
              traceId: z.string(),
              spanId: z.string(),
              parentSpanId: z.string().optional(),
              name: z.string(),
              kind: z.number(),
              attributes: z.array(attributeSchema),
              links: z.array(z.object({ traceId: z.string(), spanId: z.string() })).default([]),
            }),
          ),
        }),
      ),
    }),
  ),
});

interface CollectedSpan {
  readonly service: string;
  /** The part of OpenTelemetry that made it, without its prefix: `http`, `pg`. */
  readonly library: string;
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  /** 1 to 5: internal, server, client, producer, consumer. */
  readonly kind: number;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
}

const valueOf = (value: Readonly<Record<string, unknown>>): unknown => Object.values(value)[0];

/** A collector that speaks OTLP over HTTP with JSON and keeps what it gets. */
export async function startCollector() {
  const spans: CollectedSpan[] = [];
  const bodies: string[] = [];
  const paths = new Set<string>();
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      bodies.push(body);
      paths.add(request.url ?? '');
      if (request.url === '/v1/traces')
        for (const { resource, scopeSpans } of tracesSchema.parse(JSON.parse(body)).resourceSpans) {
          const service = resource.attributes.find(({ key }) => key === 'service.name')?.value['stringValue'];
          for (const { scope, spans: ofScope } of scopeSpans)
            for (const { attributes, parentSpanId, ...span } of ofScope)
              spans.push({
                ...span,
                parentSpanId,
                service: String(service),
                library: scope.name.replace('@opentelemetry/instrumentation-', ''),
                attributes: Object.fromEntries(attributes.map(({ key, value }) => [key, valueOf(value)])),
              });
        }
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  });
  const pathTo = (span: CollectedSpan): readonly CollectedSpan[] => {
    const parent = spans.find(({ spanId, traceId }) => spanId === span.parentSpanId && traceId === span.traceId);
    return parent ? [...pathTo(parent), span] : [span];
  };
  const hopsTo = (span: CollectedSpan) =>
    pathTo(span)
      .filter(({ kind, library }) => kind !== 1 && !['pg', 'ioredis'].includes(library))
      .map(
        ({ service, name, kind }) => `${service}: ${['server', 'client', 'producer', 'consumer'][kind - 2]} ${name}`,
      );
  const isWhole = (span: CollectedSpan) => pathTo(span)[0]!.parentSpanId === undefined;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans: spans as readonly CollectedSpan[],
    /** The span with all its ancestors, the first one first. */
    pathTo,
    /** The part of this path that crosses from one process to another, or between two lives of one. */
    hopsTo,
    /** Whether everything that a span is a part of has come too. */
    isWhole,
    /** A span of this name that a service made, once its whole path has come too. */
    find: (service: string, name: string, isWanted: (hops: readonly string[]) => boolean) =>
      spans.find((span) => span.service === service && span.name === name && isWanted(hopsTo(span)) && isWhole(span)),
    /** Everything that it got, as it came. */
    bodies: bodies as readonly string[],
    paths: paths as ReadonlySet<string>,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Names in the first column of the tables of docs/observe.md, by service. */
export function documentedMetrics(): Record<string, string[]> {
  const text = readFileSync(path.join(import.meta.dirname, '../docs/observe.md'), 'utf8');
  const rows = [...text.matchAll(/^\| `([a-z_]+)` +\|[^|]*\|[^|]*\| ([a-z, -]+?) +\|/gm)];
  const of = (service: string) =>
    rows
      .filter(([, , services]) => services === 'all' || services!.split(', ').includes(service))
      .map(([, name]) => name!);
  return Object.fromEntries(namesOf(services).map((service) => [service, of(service).sort()]));
}
