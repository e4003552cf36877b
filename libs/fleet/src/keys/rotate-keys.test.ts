import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { services } from '@longwave/services';
import { dataFolder } from '../data-folder.ts';
import { changeTexts, openSecrets } from '../secrets.ts';
import { countAccepted } from './count-accepted.ts';
import { keyPaths, readKeys } from './key-files.ts';
import { keyKinds } from './key-kinds.ts';
import { objectStoreKeys } from './logins.ts';
import { dropFormerKeys, rotateKey } from './rotate-keys.ts';
import { planFinish, recordRotation } from './rotation-plan.ts';
import { recordOf } from './rotation-records.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'longwave-keys-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
/** One that does not run. */
const installation = { data: dataFolder(folder), access: undefined };
const { secrets: at } = installation.data;
const now = new Date('2026-11-26T12:00:00Z');
const secrets = () => openSecrets(at, services);
const kids = (file: string) => readKeys(file).map((key) => String(key['kid']));

test('a new folder notes when its keys were made', () => {
  secrets();
  expect(recordOf(at, 'webhooks')).toEqual({ made_at: expect.any(String), replaced_at: [] });
});

test.each(['access-tokens', 'principals', 'second-factors'] as const)(
  'a new key of %s stands before the one before, in both files, until that is dropped',
  async (name) => {
    const { own, shared } = keyPaths(at, name);
    const [first] = kids(own);
    await rotateKey(name, installation, now);
    const [newest, second, ...more] = kids(own);
    expect([second, more, newest === first]).toEqual([first, [], false]);
    expect(kids(shared)).toEqual([newest, first]);
    await dropFormerKeys(name, 1, installation);
    expect([kids(own), kids(shared)]).toEqual([[newest], [newest]]);
  },
);

test('the key of receipts is replaced alone, because its public part is in the database', async () => {
  const { own } = keyPaths(at, 'receipts');
  const [first] = kids(own);
  await rotateKey('receipts', installation, now);
  expect([kids(own).length, kids(own)[0] === first]).toEqual([1, false]);
  expect(JSON.parse(readFileSync(own, 'utf8'))).toHaveProperty('d');
});

test.each([
  ['cursors', 'CURSOR_KEY'],
  ['delivery-tokens', 'DELIVERY_TOKEN_SECRETS'],
  ['webhooks', 'WEBHOOK_SECRET_KEYS'],
  ['listeners', 'LISTENER_SECRET'],
] as const)('a new key of %s stands before the others, and the oldest is dropped first', async (name, variable) => {
  const first = secrets().variables[variable];
  await rotateKey(name, installation, now);
  await rotateKey(name, installation, now);
  const list = secrets().variables[variable].split(',');
  expect([list.length, list.at(-1)]).toEqual([3, first]);
  if (name === 'listeners') expect(list[0]).toMatch(/^[0-9a-f]{64}@2026-12$/);
  await dropFormerKeys(name, 2, installation);
  expect(secrets().variables[variable]).toBe(list[0]);
});

test.each([
  ['cursors', 'cursor', 'CURSOR_KEY'],
  ['delivery-tokens', 'deliveryToken', 'DELIVERY_TOKEN_SECRETS'],
  ['webhooks', 'webhook', 'WEBHOOK_SECRET_KEYS'],
] as const)('a forced finish ends the key of %s before an interrupted rotation too', async (name, member, variable) => {
  const leaked = secrets().variables[variable];
  // The services knew the second key, and nobody used it yet.
  changeTexts(at, () => ({ [member]: `${leaked},${'0'.repeat(64)}` }));
  expect(countAccepted(installation.data, name)).toBe(2);
  await rotateKey(name, installation, now);
  expect(countAccepted(installation.data, name)).toBe(3);
  const record = recordRotation(keyKinds[name], { replaced_at: [] }, now);
  const accepted = countAccepted(installation.data, name);
  const plan = planFinish(keyKinds[name], record, { now, accepted, uses: 0, isForced: true });
  if ('refused' in plan) throw new Error(plan.refused);
  const [newest] = secrets().variables[variable].split(',');
  await dropFormerKeys(name, plan.drop, installation);
  expect(secrets().variables[variable]).toBe(newest);
  expect(newest).not.toBe(leaked);
});

test('the object store accepts the keys before with the same rights, until they are dropped', async () => {
  const former = objectStoreKeys(services, secrets());
  await rotateKey('object-store', installation, now);
  const both = objectStoreKeys(services, secrets());
  expect(both.slice(former.length)).toEqual(former);
  expect(both.map(({ permissions }) => permissions)).toEqual(
    [...former, ...former].map(({ permissions }) => permissions),
  );
  expect(new Set(both.map(({ accessKey }) => accessKey)).size).toBe(both.length);
  await dropFormerKeys('object-store', 1, installation);
  expect(objectStoreKeys(services, secrets())).toEqual(both.slice(0, former.length));
});

test('a stopped installation gets new passwords of services, and keeps those that only a running engine can change', async () => {
  const before = secrets();
  await rotateKey('database', installation, now);
  await rotateKey('redis', installation, now);
  const after = secrets();
  expect(after.postgresPassword).toBe(before.postgresPassword);
  expect(after.rolePassword('product')).not.toBe(before.rolePassword('product'));
  expect(after.services.management.redisPassword).not.toBe(before.services.management.redisPassword);
  expect(after.services.management.s3SecretKey).toBe(before.services.management.s3SecretKey);
});
