import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createRedisBus } from '@longwave/event-bus';
import { namesOf, services, type ServiceName } from '@longwave/services';
import { Redis } from 'ioredis';
import { removeDataFolder, temporaryDataFolder } from '../src/data-folder.ts';
import { redisLogins, setRedisPasswords } from '../src/keys/redis-passwords.ts';
import { startRedisServer, type RedisServer } from '../src/redis-server.ts';
import { redisUserLine } from '../src/redis-user.ts';

const data = temporaryDataFolder();
const serviceNames = namesOf(services);
let server: RedisServer;

beforeAll(async () => {
  server = await startRedisServer({
    folder: data.inside('redis'),
    password: 'operator',
    users: serviceNames.map((service) => redisUserLine(service, services[service].redis ?? {}, `of-${service}`)),
    mode: 'fast',
    logFile: data.logFile('redis'),
    pidFolder: data.pids,
  });
});
afterAll(async () => {
  await server.stop();
  removeDataFolder(data);
});

const urlOf = (service: ServiceName, password = `of-${service}`) =>
  `redis://${service}:${password}@127.0.0.1:${server.port}`;

/** The answer of Redis to one command of a service: `OK` or `NOPERM`, or how the login fails. */
async function answerTo(url: string, [command = '', ...args]: readonly string[]): Promise<string> {
  const client = new Redis(url, { retryStrategy: () => null, maxRetriesPerRequest: 0 });
  client.on('error', () => undefined);
  try {
    await client.call(command, ...args);
    return 'OK';
  } catch (error) {
    return (error as Error).message.split(' ')[0] ?? '';
  } finally {
    client.disconnect();
  }
}

const entry = ['*', 'field', 'value'];

test.each<[ServiceName, string]>([
  ['rest-gateway', 'SET rate:requests:crd_1:1 1'],
  ['rest-gateway', 'SUBSCRIBE progress:pro_1'],
  ['mcp-server', 'HSET confirm:a bound b'],
  ['encoder', 'PUBLISH progress:pro_1 x'],
  ['encoder', 'SUBSCRIBE longwave:jobs'],
  ['management', 'PUBLISH longwave:jobs x'],
  ['management', 'XTRIM bus:delivery.facts:0 MAXLEN 10'],
  ['internal-serving', 'SET goal:li_1 1'],
  ['public-delivery', 'PING'],
  ['auth-server', 'PING'],
  ['analytics-sink', 'PING'],
])('on Redis %s may %s', async (service, command) => {
  expect(await answerTo(urlOf(service), command.split(' '))).toBe('OK');
});

test.each<[ServiceName, string]>([
  ['rest-gateway', 'GET goal:li_1'],
  ['rest-gateway', 'PUBLISH longwave:jobs x'],
  ['rest-gateway', 'HGET confirm:a bound'],
  ['rest-gateway', 'XRANGE bus:product.events:0 - +'],
  ['encoder', 'SET rate:requests:crd_1:1 0'],
  ['encoder', 'XRANGE bus:delivery.facts:0 - +'],
  ['management', 'SET goal:li_1 1'],
  ['internal-serving', `XADD bus:product.events:0 ${entry.join(' ')}`],
  ['internal-serving', 'XREADGROUP GROUP public-delivery owner STREAMS bus:delivery.facts:0 >'],
  ['analytics-sink', `XADD bus:delivery.facts:0 ${entry.join(' ')}`],
  ['analytics-sink', 'DEL bus:delivery.facts:0'],
  ['analytics-sink', 'GET bus:product.events:lease:management:0'],
  ['public-delivery', `XADD bus:serving.decisions:0 ${entry.join(' ')}`],
  ['auth-server', `XADD bus:product.events:0 ${entry.join(' ')}`],
  ...serviceNames.flatMap((service) =>
    ['FLUSHALL', 'CONFIG GET *', 'KEYS *', 'SCAN 0', 'ACL LIST', 'CLIENT LIST', 'CLIENT TRACKING ON BCAST'].map(
      (command): [ServiceName, string] => [service, command],
    ),
  ),
])('on Redis %s may not %s', async (service, command) => {
  expect(await answerTo(urlOf(service), command.split(' '))).toBe('NOPERM');
});

test('no service logs in as another one, nor without a name', async () => {
  expect(await answerTo(urlOf('management', 'of-encoder'), ['PING'])).toBe('WRONGPASS');
  expect(await answerTo(`redis://127.0.0.1:${server.port}`, ['PING'])).toBe('NOAUTH');
});

test.each<[string, ServiceName, ServiceName, string]>([
  ['product.events', 'management', 'public-delivery', 'public-delivery'],
  ['product.events', 'management', 'internal-serving', 'internal-serving'],
  ['product.events', 'management', 'internal-serving', 'internal-serving.states'],
  ['product.events', 'management', 'auth-server', 'auth-server'],
  ['product.events', 'management', 'management', 'management'],
  ['identity.events', 'auth-server', 'management', 'management'],
  ['delivery.facts', 'public-delivery', 'analytics-sink', 'analytics-sink'],
  ['serving.decisions', 'internal-serving', 'analytics-sink', 'analytics-sink'],
  ['serving.opportunities', 'internal-serving', 'analytics-sink', 'analytics-sink'],
])('%s of %s reach %s as group %s, with tries, dead letters and another delivery', async (topic, from, to, group) => {
  await using publisher = createRedisBus({ redisUrl: urlOf(from), clientName: from });
  await using follower = createRedisBus({ redisUrl: urlOf(to), clientName: to });
  const message = (id: string) => ({ topic, key: 'key', id, type: 'tested', payload: { id } });
  await publisher.publish([message(`${group}-good`), message(`${group}-bad`)]);
  await publisher.publishToAll(topic, (part) => ({ ...message(`${group}-all`), id: `${group}-${part}` }));
  const seen = new Set<string>();
  const redriven = Promise.withResolvers<void>();
  let refusing = true;
  const subscription = await follower.subscribe({
    topic,
    group,
    batchSize: 1,
    retry: { attempts: 2, initialDelayMs: 1, maxDelayMs: 1 },
    handle: async (messages) => {
      for (const { id } of messages) {
        if (id === `${group}-bad` && refusing) throw new Error('refused');
        seen.add(id);
        if (id === `${group}-bad`) redriven.resolve();
      }
    },
  });
  while ((await follower.listDeadLetters(topic, group)).length === 0)
    await new Promise((resolve) => setTimeout(resolve, 20));
  refusing = false;
  await follower.redriveDeadLetters(topic, group);
  await redriven.promise;
  await subscription.close();
  for (const id of [`${group}-good`, `${group}-0`, `${group}-7`]) expect(seen).toContain(id);
});

test('a new password counts beside the former ones, then alone: one that an interrupted rotation left is refused too', async () => {
  const operator = (password: string) => `redis://:${password}@127.0.0.1:${server.port}`;
  const made = (generation: string) =>
    redisLogins(
      `operator${generation}`,
      Object.fromEntries(serviceNames.map((service) => [service, { redisPassword: `${generation}-${service}` }])),
    );
  const answers = async (generation: string) =>
    Promise.all(
      [operator(`operator${generation}`), urlOf('management', `${generation}-management`)].map((url) =>
        answerTo(url, ['PING']),
      ),
    );
  // Interrupted: Redis knows these passwords, and no secret does.
  await setRedisPasswords(operator('operator'), made('1'), 'beside');
  await setRedisPasswords(operator('operator'), made('2'), 'beside');
  for (const generation of ['1', '2']) expect(await answers(generation)).toEqual(['OK', 'OK']);
  expect(await answerTo(operator('operator'), ['PING'])).toBe('OK');
  await setRedisPasswords(operator('operator'), made('2'), 'alone');
  expect(await answers('2')).toEqual(['OK', 'OK']);
  expect(await answers('1')).toEqual(['WRONGPASS', 'WRONGPASS']);
  expect(await answerTo(operator('operator'), ['PING'])).toBe('WRONGPASS');
  expect(await answerTo(urlOf('management'), ['PING'])).toBe('WRONGPASS');
  expect(await answerTo(urlOf('management', '2-management'), ['SET', 'goal:li_1', '1'])).toBe('NOPERM');
});
