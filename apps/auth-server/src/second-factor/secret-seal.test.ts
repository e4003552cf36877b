import { randomBytes } from 'node:crypto';
import { expect, test } from '@jest/globals';
import type { JWK } from 'jose';
import { createSecretSeal } from './secret-seal.ts';

const newKey = (kid: string): JWK => ({ kty: 'oct', kid, k: randomBytes(32).toString('base64url') });
const key = newKey('1');
const now = new Date('2026-11-23T12:00:00Z');

test('a sealed secret opens for its person, and does not contain the secret', async () => {
  const { seal, open } = createSecretSeal(() => [key]);
  const sealed = await seal('usr_1', 'SECRET');
  expect([await open('usr_1', sealed, now), sealed.includes('SECRET')]).toEqual(['SECRET', false]);
});

test('it opens neither for another person, nor changed, nor when it has expired, nor without its key', async () => {
  const { seal, open } = createSecretSeal(() => [key]);
  const sealed = await seal('usr_1', 'SECRET', new Date(now.getTime() + 60_000));
  expect(await open('usr_2', sealed, now)).toBeUndefined();
  expect(await open('usr_1', `${sealed.slice(0, -2)}AA`, now)).toBeUndefined();
  expect(await open('usr_1', 'no seal', now)).toBeUndefined();
  expect(await open('usr_1', sealed, new Date(now.getTime() + 60_000))).toBeUndefined();
  expect(await createSecretSeal(() => [newKey('2')]).open('usr_1', sealed, now)).toBeUndefined();
  expect(await createSecretSeal(() => [newKey('1')]).open('usr_1', sealed, now)).toBeUndefined();
});

test('a newer key seals, and the older one still opens what it sealed', async () => {
  const [old, newer] = [newKey('1'), newKey('2')];
  const sealed = await createSecretSeal(() => [old]).seal('usr_1', 'SECRET');
  const both = createSecretSeal(() => [newer, old]);
  expect(await both.open('usr_1', sealed, now)).toBe('SECRET');
  const again = await both.seal('usr_1', 'SECRET');
  expect(await createSecretSeal(() => [newer]).open('usr_1', again, now)).toBe('SECRET');
});
