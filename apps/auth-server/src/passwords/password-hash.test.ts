import { expect, test } from '@jest/globals';
import { hashPassword, isOutdated, isPassword } from './password-hash.ts';

test('a password is known again, another one is not, and two hashes of one password differ', async () => {
  const [first, second] = [await hashPassword('correct horse'), await hashPassword('correct horse')];
  expect(first).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
  expect(second).not.toBe(first);
  expect(await isPassword('correct horse', first)).toBe(true);
  expect(await isPassword('correct horsf', first)).toBe(false);
});

test('a composed and a decomposed character are one', async () => {
  expect(await isPassword('Cafe\u0301 12345', await hashPassword('Café 12345'))).toBe(true);
});

test('the reference hash of another program is known', async () => {
  // From the tests of the reference implementation (P-H-C/phc-winner-argon2, src/test.c).
  const reference = '$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc';
  expect(await isPassword('password', reference)).toBe(true);
  expect(isOutdated(reference)).toBe(true);
  const encoded = await hashPassword('other');
  expect(isOutdated(encoded)).toBe(false);
  expect(isOutdated(encoded.replace('m=19456', 'm=4096'))).toBe(true);
});

test('nobody has the password of nobody', async () => {
  expect(await isPassword('')).toBe(false);
  expect(await isPassword('anything')).toBe(false);
});
