import { mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { until } from '@longwave/test-kit';
import { removeDataFolder, temporaryDataFolder, type DataFolder } from '../src/data-folder.ts';
import { freePort } from '../src/free-ports.ts';
import type { ServiceEvent } from '../src/keep-running.ts';
import { superviseService, type SupervisedService } from '../src/supervised-service.ts';

let data: DataFolder;
let events: ServiceEvent[];
let service: SupervisedService;

async function supervise(environment: Record<string, string>): Promise<void> {
  const healthAddress = `127.0.0.1:${await freePort()}`;
  service = await superviseService({
    name: 'fixture',
    main: path.join(import.meta.dirname, 'fixture-service.mjs'),
    environment: { ...environment, HEALTH_LISTEN: healthAddress },
    healthAddress,
    data,
    onEvent: (event) => events.push(event),
  });
}

beforeEach(() => {
  data = temporaryDataFolder();
  events = [];
});
afterEach(async () => {
  await service.stop();
  removeDataFolder(data);
});

test('a service that is killed comes back by itself', async () => {
  await supervise({ GREETING: 'hello' });
  await service.ready();
  const { pid, exited } = service;
  service.kill('SIGKILL');
  expect(await exited).toEqual({ code: null, signal: 'SIGKILL' });
  await service.ready();
  expect(service.pid).not.toBe(pid);
  expect(service.restarts).toBe(1);
  expect(events.map(({ kind }) => kind)).toEqual(['exited', 'restarted']);
});

/** A folder in its place lets nobody write the pid file, as a full disk does. Answers how to make room again. */
function blockPidFile(): () => void {
  const pidFile = path.join(data.pids, 'fixture.json');
  rmSync(pidFile);
  mkdirSync(pidFile);
  return () => rmSync(pidFile, { recursive: true });
}

test('a service that cannot be started again on a full disk is tried again, and comes back by itself when there is room', async () => {
  await supervise({ GREETING: 'hello' });
  await service.ready();
  const makeRoom = blockPidFile();
  service.kill('SIGKILL');
  await until(() => events.filter(({ kind }) => kind === 'restart-failed').length === 2);
  expect(service.pid).toBeUndefined();
  makeRoom();
  await service.ready();
  expect(service.restarts).toBe(1);
  expect(events.at(-1)).toMatchObject({ kind: 'restarted' });
});

test('a service that is stopped while it cannot be started again stays down', async () => {
  await supervise({ GREETING: 'hello' });
  await service.ready();
  const makeRoom = blockPidFile();
  service.kill('SIGKILL');
  await until(() => events.some(({ kind }) => kind === 'restart-failed'));
  await service.stop();
  makeRoom();
  expect(service.pid).toBeUndefined();
  await expect(service.ready(300)).rejects.toThrow('no answer');
});

test('a stopped service stays down until it is started', async () => {
  await supervise({ GREETING: 'hello' });
  await service.ready();
  await service.stop();
  expect(service.pid).toBeUndefined();
  await expect(service.ready(300)).rejects.toThrow('no answer');
  await service.start();
  await service.ready();
  expect(service.restarts).toBe(0);
});

test('a refused configuration is reported with the log, not tried again', async () => {
  await supervise({});
  await expect(service.ready()).rejects.toThrow('GREETING is missing');
  expect(events).toEqual([]);
});
