import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, expect, test } from '@jest/globals';
import { bareEnvironment } from '@longwave/test-kit';
import { parseLogLine, renderLogLine } from '../src/logs/log-line.ts';

const script = path.resolve(import.meta.dirname, '../src/main.ts');
const data = mkdtempSync(path.join(tmpdir(), 'longwave-logs-'));
const logs = path.join(data, 'logs');
mkdirSync(logs);
const followers: ChildProcess[] = [];
afterAll(() => {
  for (const follower of followers) follower.kill();
  rmSync(data, { recursive: true });
});

const line = (second: number, service: string, level: string, event: string, fields: object = {}) =>
  JSON.stringify({ level, time: `2026-11-25T10:00:0${second}.000Z`, service, event, ...fields });
const request = 'req_01jcq7v8z4n2m6k9s3x5t1r0wd';
const served = line(3, 'rest-gateway', 'info', 'request.served', { request_id: request, trace_id: 'a'.repeat(32) });
const failed = line(2, 'management', 'error', 'rpc.failed', { trace_id: 'a'.repeat(32) });
const other = line(1, 'rest-gateway', 'warn', 'request.served', { request_id: 'req_other' });
writeFileSync(path.join(logs, 'rest-gateway.log'), `${other}\n${served}\n`);
writeFileSync(path.join(logs, 'management.log'), `${line(0, 'management', 'info', 'service.started')}\n${failed}\n`);
writeFileSync(path.join(logs, 'postgres.log'), '2026-11-25 10:00:02.500 UTC [7] LOG:  ready\n  a second line of it\n');

function longwave(...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, 'logs', ...args, '--data', data], {
    encoding: 'utf8',
    env: bareEnvironment,
  });
  return { status, stderr, lines: stdout.trimEnd().split('\n') };
}
const eventsOf = (lines: readonly string[]) => lines.map((text) => (JSON.parse(text) as { event: string }).event);

test('lines of all services and engines come in the order of their times, as JSON lines where no terminal reads them', () => {
  const { status, stderr, lines } = longwave();
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect(eventsOf(lines)).toEqual([
    'service.started',
    'request.served',
    'rpc.failed',
    '2026-11-25 10:00:02.500 UTC [7] LOG:  ready',
    '  a second line of it',
    'request.served',
  ]);
  // A service's line is passed on byte for byte.
  expect(lines[1]).toBe(other);
  expect(JSON.parse(lines[4]!)).toMatchObject({ time: '2026-11-25T10:00:02.500Z', service: 'postgres' });
});

test('--request shows the lines of one request in every service, also those that name its trace alone', () => {
  expect(longwave('--request', request).lines).toEqual([failed, served]);
  expect(longwave('management', '--request', request).lines).toEqual([failed]);
});

test('the name of a service means all of its processes, and the name of a process that one', () => {
  const file = path.join(logs, 'management-2.log');
  const second = line(4, 'management', 'info', 'service.started');
  writeFileSync(file, `${second}\n`);
  expect(longwave('management', '--since', '2026-11-25T10:00:02Z').lines).toEqual([failed, second]);
  expect(longwave('management-2').lines).toEqual([second]);
  rmSync(file);
});

test('--level, --since and --lines leave out what is less severe, older, or before the last lines', () => {
  expect(longwave('--level', 'warn').lines).toEqual([other, failed]);
  expect(longwave('rest-gateway', '--since', '2026-11-25T10:00:02Z').lines).toEqual([served]);
  expect(longwave('rest-gateway', '--lines', '1').lines).toEqual([served]);
});

test('a wrong name, level or time is refused with what there is', () => {
  expect(longwave('managment')).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('Did you mean management?'),
  });
  expect(longwave('--level', 'loud')).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('debug, info, warn'),
  });
  expect(longwave('--since', 'soon')).toMatchObject({ status: 2, stderr: expect.stringContaining('10m') });
  expect(longwave('--folow')).toMatchObject({ status: 2, stderr: expect.stringContaining('Did you mean --follow?') });
});

test('--follow goes on with new lines, also of a service that starts later, until it is asked to stop', async () => {
  const child = spawn(process.execPath, [script, 'logs', '--follow', '--lines', '1', '--data', data], {
    env: bareEnvironment,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const reader = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async () => (await reader.next()).value as string;
  expect(await next()).toBe(served);
  const added = line(5, 'encoder', 'info', 'service.started');
  // The second half of a line comes later.
  appendFileSync(path.join(logs, 'encoder.log'), added.slice(0, 20));
  appendFileSync(path.join(logs, 'encoder.log'), `${added.slice(20)}\n`);
  expect(await next()).toBe(added);
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  expect(await exited).toEqual([0, null]);
  rmSync(path.join(logs, 'encoder.log'));
});

test('--follow of a service shows all of its processes, also one that starts later, and no other service', async () => {
  const child = spawn(process.execPath, [script, 'logs', 'management', '--follow', '--lines', '1', '--data', data], {
    env: bareEnvironment,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  followers.push(child);
  const reader = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async () => (await reader.next()).value as string;
  expect(await next()).toBe(failed);
  const second = path.join(logs, 'management-2.log');
  appendFileSync(path.join(logs, 'rest-gateway.log'), `${line(6, 'rest-gateway', 'info', 'service.stopped')}\n`);
  const [started, added] = [2, 7].map((at) => line(at, 'management', 'info', 'service.started', { process: at }));
  appendFileSync(second, `${started}\n`);
  expect(await next()).toBe(started);
  appendFileSync(path.join(logs, 'management.log'), `${added}\n`);
  expect(await next()).toBe(added);
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  await exited;
  rmSync(second);
});

test('nothing in a line steers the terminal of people', () => {
  const evil = '\u001b]0;title\u0007\u009b2Jx\u202e';
  const err = { stack: `Error: ${evil}\r\n    at ${evil}` };
  const text = JSON.stringify({
    ...{ level: 'info', time: '2026-11-25T10:00:04.000Z', service: 'management' },
    ...{ event: `two\nlines${evil}`, [evil]: evil, note: `a b${evil}`, err },
  });
  const engines = `LOG:\t${evil}`;
  for (const each of [text, engines]) {
    const shown = renderLogLine(parseLogLine('management', each, ''));
    expect(shown).not.toMatch(/(?![\n\t])[\p{Cc}\u202e]/u);
    expect(shown).toContain(String.raw`\u001b]0;title\u0007\u009b2Jx\u202e`);
  }
  expect(renderLogLine(parseLogLine('management', text, '')).split('\n')).toHaveLength(3);
  expect(renderLogLine(parseLogLine('postgres', engines, ''))).toContain('LOG:\t');
});

test('people read time, level, service, event and fields, with the stack of an error below', () => {
  const stack = 'Error: away\n    at connect';
  const text = line(4, 'management', 'error', 'rpc.failed', { method: 'Execute', note: 'two words', err: { stack } });
  expect(renderLogLine(parseLogLine('management', text, ''))).toBe(
    '10:00:04.000 error management       rpc.failed method=Execute note="two words"\n    Error: away\n        at connect',
  );
});
