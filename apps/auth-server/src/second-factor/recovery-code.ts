import { randomBytes } from 'node:crypto';

/** Crockford's Base32: no letter looks like a digit. */
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';
const length = 20;
const count = 10;

const newRecoveryCode = (): string =>
  Array.from(randomBytes(length), (byte) => alphabet[byte % alphabet.length]).join('');

/** Ten new codes of 100 random bits each. */
export const newRecoveryCodes = (): readonly string[] => Array.from({ length: count }, newRecoveryCode);

/** A code as it is shown, in groups of five. */
export const shownRecoveryCode = (code: string): string => code.replace(/.{5}(?=.)/g, '$&-');

/** A code as a person types it: hyphens, spaces and case do not count, and look-alike letters mean their digits. */
export function tryParseRecoveryCode(text: string): string | undefined {
  const code = text.toLowerCase().replace(/[\s-]/g, '').replace(/o/g, '0').replace(/[il]/g, '1');
  return code.length === length && [...code].every((letter) => alphabet.includes(letter)) ? code : undefined;
}
