import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Secret, TOTP } from 'otpauth';
import { newTotpSecret, stepOf, totpAddress } from './totp.ts';

const at = (seconds: number) => new Date(seconds * 1000);

/** RFC 6238, appendix B, for SHA-1; a code of six digits is the end of the one of eight. */
test.each([
  [59, '94287082'],
  [1_111_111_109, '07081804'],
  [1_111_111_111, '14050471'],
  [1_234_567_890, '89005924'],
  [2_000_000_000, '69279037'],
  [20_000_000_000, '65353130'],
])('the code of RFC 6238 at %i s belongs to its step', (seconds, code) => {
  const secret = Secret.fromUTF8('12345678901234567890').base32;
  expect(stepOf(secret, ` ${code.slice(2, 5)} ${code.slice(5)}`, at(seconds))).toBe(Math.floor(seconds / 30));
});

test('a code counts during its own step, the one before and the one after, and at no other time', () => {
  const secret = newTotpSecret();
  const offsets = fc.integer({ min: -5, max: 5 });
  fc.assert(
    fc.property(fc.integer({ min: 100, max: 100_000_000 }), offsets, fc.nat(29), (step, offset, second) => {
      const code = TOTP.generate({ secret: Secret.fromBase32(secret), timestamp: step * 30_000 });
      const found = stepOf(secret, code, at((step + offset) * 30 + second));
      // Two steps have the same code once in a million.
      if (Math.abs(offset) <= 1) expect([step, step - 1, step + 1]).toContain(found);
      else expect(found).not.toBe(step);
    }),
  );
});

test.each(['', '12345', '1234567', 'abcdef', '      ', '１２３４５６'])('“%s” is no code', (text) =>
  expect(stepOf(newTotpSecret(), text, at(59))).toBeUndefined(),
);

test('the address names the service and the person, and has the secret of 160 bits', () => {
  const secret = newTotpSecret();
  expect(Secret.fromBase32(secret).bytes).toHaveLength(20);
  const address = new URL(totpAddress(secret, 'ada+1@example.com'));
  expect([address.protocol, address.host, decodeURIComponent(address.pathname)]).toEqual([
    'otpauth:',
    'totp',
    '/Longwave:ada+1@example.com',
  ]);
  expect(Object.fromEntries(address.searchParams)).toMatchObject({ secret, issuer: 'Longwave', digits: '6' });
});
