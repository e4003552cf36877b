import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { freePorts } from '@longwave/fleet';

const root = path.resolve(import.meta.dirname, '../../..');
const marks = ['aB-_9', 'hunter22', 'c0ffee'];
/** One of each kind, in the clear and as they stand in an encoded URL. */
const secrets = [
  `t1.${marks[0]!.repeat(20)}`,
  `t1%2E${marks[0]!.repeat(20)}`,
  `lw_key_${marks[1]}${marks[2]}`,
  `svc_pat_${marks[1]}${marks[2]}`,
  `Bearer ${marks[2]}${marks[1]}`,
  `postgres://role:${marks[1]}@db/longwave`,
  `http://s3/a?X-Amz-Signature=${marks[2]}${marks[2]}`,
].join(' ');
const leaked = new RegExp([...marks, 'SecretPlayer'].join('|'));

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('latin1');
}

/** The names that a collector has seen when every span and the metrics came: the route, an exception, the metrics. */
const exportedMarks = ['/p/:token', 'exception.stacktrace', '/v1/metrics'];

/** Runs the fixture beside a collector, lets it end when all was exported, and answers everything that came out of it. */
async function run(endsBy: string) {
  const exported: string[] = [];
  const collector = createServer((request, response) => {
    void textOf(request).then((text) => {
      exported.push(`${request.url} ${text}`);
      response.end();
      const all = exported.join('\n');
      if (child.stdin.writable && exportedMarks.every((mark) => all.includes(mark))) child.stdin.end('the end');
    });
  });
  collector.listen(0, '127.0.0.1');
  await once(collector, 'listening');
  const [http, health] = (await freePorts(2)) as [number, number];
  const child = spawn(process.execPath, [path.join(import.meta.dirname, 'fixture-sinks.ts')], {
    cwd: root,
    env: {
      ...{ TLS_CA: 'ca', TLS_CERT: 'cert', TLS_KEY: 'key', LOG_LEVEL: 'debug' },
      ...{
        HEALTH_LISTEN: `127.0.0.1:${health}`,
        HTTP_LISTEN: `127.0.0.1:${http}`,
        SECRETS: secrets,
        ENDS_BY: endsBy,
      },
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(collector.address() as AddressInfo).port}`,
      ...{ OTEL_BSP_SCHEDULE_DELAY: '10', OTEL_METRIC_EXPORT_INTERVAL: '200' },
    },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const [out, err, [code]] = await Promise.all([
    textOf(child.stdout as never),
    textOf(child.stderr as never),
    once(child, 'close'),
  ]);
  collector.closeAllConnections();
  collector.close();
  return { out, err, code: code as number, exported: exported.join('\n') };
}

test.each([
  ['signal', 0, 'service.stopped'],
  ['exception', 1, 'service.crashed'],
  ['rejection', 1, 'service.crashed'],
])(
  'no secret leaves a process that ends by %s: not by its log, console, warnings, spans, metrics, problems or last words',
  async (endsBy, exitCode, lastEvent) => {
    const { out, err, code, exported } = await run(endsBy);
    expect(code).toBe(exitCode);
    const events = out
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => (JSON.parse(line) as { event: string }).event);
    // Each sink was reached, so that silence is no success.
    expect(events).toContain(lastEvent);
    expect(events.filter((event) => event.startsWith('told '))).toHaveLength(5);
    expect(events.filter((event) => event === 'process.warning')).toHaveLength(2);
    expect(events.some((event) => event.startsWith('{"type":"urn:longwave:problem:'))).toBe(true);
    expect(out).toContain('failed at t1.*** t1.*** lw_key_***');
    // The bytes beside a secret stay what they were: UTF-8, read here as Latin-1.
    expect(err).toContain('*** Ã¤');
    expect(exported).toContain('GET t1.***');
    for (const [sink, text] of Object.entries({ out, err, exported }))
      expect({ sink, leaks: text.split('\n').filter((line) => leaked.test(line)) }).toEqual({ sink, leaks: [] });
  },
  30_000,
);
