import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from '@jest/globals';
import { z } from 'zod';
import { ConfigError, readConfig } from './config.ts';
import { openRedis } from './open-redis.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'longwave-secrets-file-'));
const file = path.join(folder, 'service.json');
afterEach(() => rmSync(file, { force: true }));

const schema = z.object({
  HEALTH_LISTEN: z.string(),
  DATABASE_URL: z.string().min(1).meta({ secret: true }),
  KEYS: z
    .string()
    .transform((text) => text.split(','))
    .optional()
    .meta({ secret: true }),
});
const environment = { HEALTH_LISTEN: '127.0.0.1:1', SECRETS_FILE: file };

function write(secrets: unknown): void {
  writeFileSync(`${file}.new`, typeof secrets === 'string' ? secrets : JSON.stringify(secrets));
  renameSync(`${file}.new`, file);
}
/** Longer than a change takes to be noticed. */
const noticed = () => sleep(300);

test('a member answers what the file says now, parsed, and the same value as long as nothing changed', async () => {
  write({ DATABASE_URL: 'first', KEYS: 'a' });
  const config = readConfig(schema, environment);
  expect([config.DATABASE_URL, config.KEYS, config.HEALTH_LISTEN]).toEqual(['first', ['a'], '127.0.0.1:1']);
  const { KEYS: before } = config;
  await noticed();
  expect(config.KEYS).toBe(before);
  write({ DATABASE_URL: 'second', KEYS: 'b,a' });
  await noticed();
  expect([config.DATABASE_URL, config.KEYS]).toEqual(['second', ['b', 'a']]);
});

test.each(['no JSON', { DATABASE_URL: '' }, { DATABASE_URL: 'other', HEALTH_LISTEN: '127.0.0.1:2' }])(
  'a file that becomes %j changes nothing, and the next good one counts',
  async (broken) => {
    write({ DATABASE_URL: 'first' });
    const config = readConfig(schema, environment);
    write(broken);
    await noticed();
    expect(config.DATABASE_URL).toBe('first');
    write({ DATABASE_URL: 'second' });
    await noticed();
    expect(config.DATABASE_URL).toBe('second');
  },
);

test('a variable of the environment wins over the file', () => {
  write({ DATABASE_URL: 'file' });
  expect(readConfig(schema, { ...environment, DATABASE_URL: 'environment' }).DATABASE_URL).toBe('environment');
});

test.each([
  ['no JSON', 'is not a JSON object of texts'],
  [{ DATABASE_URL: 1 }, 'is not a JSON object of texts'],
  [{ DATABASE_URL: 'x', HEALTH_LISTEN: 'y' }, 'names what is no secret here: HEALTH_LISTEN'],
])('a start with the file %j is refused, and no secret is shown', (secrets, message) => {
  write(secrets);
  expect(() => readConfig(schema, environment)).toThrow(ConfigError);
  expect(() => readConfig(schema, environment)).toThrow(message);
});

test('a client of Redis logs in with the password that the address has at each connection', () => {
  let address = 'redis://user:first@127.0.0.1';
  const client = openRedis<{ options: { password?: string } }>(
    () => address,
    (url) => ({ options: { password: new URL(url).password } }),
  );
  expect(client.options.password).toBe('first');
  address = 'redis://user:sec%2Fond@127.0.0.1';
  expect(client.options.password).toBe('sec/ond');
});
