import path from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { removeDataFolder, temporaryDataFolder, type DataFolder } from '../src/data-folder.ts';
import { freePort } from '../src/free-ports.ts';
import { superviseService, type ServiceEvent, type SupervisedService } from '../src/supervised-service.ts';

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
