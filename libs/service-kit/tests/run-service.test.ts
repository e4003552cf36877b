import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, expect, test } from '@jest/globals';
import { freePort } from '@longwave/fleet';

const children = new Set<ReturnType<typeof spawn>>();
afterEach(() => {
  for (const child of children) child.kill('SIGKILL');
  children.clear();
});

const environment = { TLS_CA: 'ca.pem', TLS_CERT: 'cert.pem', TLS_KEY: 'key.pem' };

/** The fixture as a process of its own, its events and how it ends. */
function start(variables: Readonly<Record<string, string>>) {
  const file = path.join(import.meta.dirname, 'fixture-service.ts');
  const child = spawn(process.execPath, [file], { env: variables, stdio: ['ignore', 'pipe', 'pipe'] });
  children.add(child);
  const events: string[] = [];
  const lines: string[] = [];
  const errors: string[] = [];
  const started = Promise.withResolvers<void>();
  createInterface(child.stdout).on('line', (line) => {
    const { event } = JSON.parse(line) as { event: string };
    lines.push(line);
    events.push(event);
    if (event === 'service.started') started.resolve();
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => errors.push(text));
  const ended = once(child, 'close').then(([code, signal]: unknown[]) => ({ code, signal }));
  return { child, events, lines, errors, started: Promise.race([started.promise, ended]), ended };
}

test.each(['SIGTERM', 'SIGINT'] as const)(
  'a service asked to stop by %s disposes its app and exits with 0',
  async (signal) => {
    const listen = `127.0.0.1:${await freePort()}`;
    const service = start({ ...environment, HEALTH_LISTEN: listen, MODE: 'serve' });
    await service.started;
    const ready = await fetch(`http://${listen}/readyz`);
    expect(await ready.json()).toEqual({ status: 'ready', failed: [] });
    service.child.kill(signal);
    expect(await service.ended).toEqual({ code: 0, signal: null });
    expect(service.events).toEqual(['service.started', 'service.stopping', 'fixture.disposed', 'service.stopped']);
  },
);

test('a wrong configuration exits with 78 and tells the operator every wrong variable', async () => {
  const service = start({ TLS_CA: 'ca.pem', HEALTH_LISTEN: 'nowhere' });
  expect(await service.ended).toEqual({ code: 78, signal: null });
  const told = service.errors.join('');
  expect(told).toMatch(/^fixture: The configuration is not valid:\n/);
  for (const name of ['HEALTH_LISTEN', 'TLS_CERT', 'TLS_KEY', 'MODE']) expect(told).toContain(`  ${name}: `);
  expect(told).not.toContain('TLS_CA');
});

test('a service that cannot start exits with 1 and logs why, without the password', async () => {
  const service = start({ ...environment, HEALTH_LISTEN: '127.0.0.1:0', MODE: 'fail' });
  expect(await service.ended).toEqual({ code: 1, signal: null });
  expect(service.events).toEqual(['service.failed']);
  expect(service.lines[0]).toContain('cannot reach');
  expect(service.lines[0]).not.toContain('hunter2');
});

test('a service that fails while stopping does not pretend a clean stop', async () => {
  const service = start({ ...environment, HEALTH_LISTEN: '127.0.0.1:0', MODE: 'fail_to_stop' });
  await service.started;
  service.child.kill('SIGTERM');
  expect(await service.ended).toEqual({ code: 1, signal: null });
  expect(service.events).toEqual(['service.started', 'service.stopping', 'service.failed']);
});

/** The whole lines of a log, and whether a line after them was cut. */
function readLog(file: string) {
  const lines = readFileSync(file, 'utf8').split('\n');
  const cut = lines.pop() !== '';
  return { cut, lines: lines.filter(Boolean).map((line) => JSON.parse(line) as Record<string, unknown>) };
}

test('a log that cannot be written ends no service: it works on, and says how many lines are missing when it can write again', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'longwave-log-'));
  const log = path.join(folder, 'service.log');
  const listen = `127.0.0.1:${await freePort()}`;
  // A file that may not grow over 1,024 bytes (ulimit counts in 512): the kernel refuses further writes, as on a full disk.
  const command = `ulimit -f 2; exec "${process.execPath}" "${path.join(import.meta.dirname, 'fixture-service.ts')}" >> "${log}"`;
  const child = spawn('/bin/sh', ['-c', command], {
    env: { ...environment, HEALTH_LISTEN: listen, MODE: 'chatter' },
    stdio: 'ignore',
  });
  children.add(child);
  const ended = once(child, 'close');
  const ask = async () => (await fetch(`http://${listen}/readyz`)).status;
  while ((await ask().catch(() => 0)) !== 200) await new Promise((resolve) => setTimeout(resolve, 20));
  let asked = 1;
  for (; asked < 50; asked++) expect(await ask()).toBe(200);

  // A line is written at the end of its turn, which may be after the answer of that turn; the answer of a later turn says it was.
  expect((await fetch(`http://${listen}/healthz`)).status).toBe(200);
  const full = readLog(log);
  truncateSync(log);
  expect(await ask()).toBe(200);
  child.kill('SIGTERM');
  expect(await ended).toEqual([0, null]);
  const after = readLog(log);
  rmSync(folder, { recursive: true });

  const written = full.lines.filter(({ event }) => event === 'fixture.asked').length;
  expect(written).toBeLessThan(asked);
  expect(after.lines.map(({ event }) => event)).toEqual([
    'fixture.asked',
    'log.lost',
    'service.stopping',
    'fixture.disposed',
    'service.stopped',
  ]);
  expect(after.lines[1]).toMatchObject({ lines_since_start: asked - written - (full.cut ? 1 : 0) });
});

test('a running service says on its private port what it measures, in the text format of Prometheus', async () => {
  const listen = `127.0.0.1:${await freePort()}`;
  const service = start({ ...environment, HEALTH_LISTEN: listen, MODE: 'serve' });
  await service.started;
  const response = await fetch(`http://${listen}/metrics`);
  expect(response.headers.get('content-type')).toBe('text/plain');
  const text = await response.text();
  expect(text).toMatch(/^target_info\{.*service_name="fixture".*\} 1$/m);
  const resident = Number(/^process_memory_usage (\d+)$/m.exec(text)?.[1]);
  expect(resident).toBeGreaterThan(20 * 2 ** 20);
  expect(resident).toBeLessThan(500 * 2 ** 20);
});

test('a collector that is away ends no service and holds up no stop; the log says that it is away', async () => {
  const endpoint = `http://127.0.0.1:${await freePort()}`;
  const service = start({
    ...{ ...environment, HEALTH_LISTEN: '127.0.0.1:0', MODE: 'serve' },
    ...{ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_METRIC_EXPORT_INTERVAL: '100' },
  });
  await service.started;
  const askedMs = performance.now();
  service.child.kill('SIGTERM');
  expect(await service.ended).toEqual({ code: 0, signal: null });
  expect(performance.now() - askedMs).toBeLessThan(8_000);
  expect(service.events.at(-1)).toBe('service.stopped');
});

test('a wrong setting of telemetry exits with 78 and says which', async () => {
  const service = start({
    ...{ ...environment, HEALTH_LISTEN: '127.0.0.1:0', MODE: 'serve' },
    ...{ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318', OTEL_EXPORTER_OTLP_PROTOCOL: 'carrier pigeon' },
  });
  expect(await service.ended).toEqual({ code: 78, signal: null });
  for (const name of ['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_PROTOCOL'])
    expect(service.errors.join('')).toContain(`  ${name}: `);
});
