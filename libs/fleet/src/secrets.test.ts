import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { services } from '@longwave/services';
import { openSecrets } from './secrets.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'longwave-secrets-'));
afterAll(() => rmSync(folder, { recursive: true }));

test('secrets are made once, and the token secret is 32 bytes in hex', () => {
  const made = openSecrets(folder, services);
  expect(made.variables.DELIVERY_TOKEN_SECRETS).toMatch(/^[0-9a-f]{64}$/);
  const { keys } = JSON.parse(readFileSync(made.variables.SECOND_FACTOR_KEYS, 'utf8')) as { keys: { k: string }[] };
  expect(keys.map(({ k }) => Buffer.from(k, 'base64url').length)).toEqual([32]);
  const { rolePassword: _made, ...first } = made;
  const { rolePassword: _again, ...second } = openSecrets(folder, services);
  expect(second).toEqual(first);
});

test('the token keys of a folder made before keys rotated become its secrets, in the same order', () => {
  const file = path.join(folder, 'secrets.json');
  const stored = JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>;
  const [newer, older] = ['ab'.repeat(32), 'cd'.repeat(32)];
  const deliveryToken = JSON.stringify([
    { kid: 2, key: newer },
    { kid: 1, key: older },
  ]);
  writeFileSync(file, JSON.stringify({ ...stored, deliveryToken }));
  expect(openSecrets(folder, services).variables.DELIVERY_TOKEN_SECRETS).toBe(`${newer},${older}`);
});
