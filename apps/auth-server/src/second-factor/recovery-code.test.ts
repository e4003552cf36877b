import { expect, test } from '@jest/globals';
import { newRecoveryCodes, shownRecoveryCode, tryParseRecoveryCode } from './recovery-code.ts';

test('ten codes are all different, and each is read as it is shown, in capitals and with spaces', () => {
  const codes = newRecoveryCodes();
  expect(new Set(codes).size).toBe(10);
  for (const code of codes) {
    const shown = shownRecoveryCode(code);
    expect(shown).toMatch(/^([0-9a-z]{5}-){3}[0-9a-z]{5}$/);
    for (const typed of [shown, shown.toUpperCase(), ` ${shown.replaceAll('-', ' ')} `])
      expect(tryParseRecoveryCode(typed)).toBe(code);
  }
});

test('letters that look like digits are read as those digits', () => {
  expect(tryParseRecoveryCode('OoIiL-lllll-00000-00000')).toBe('00111111110000000000');
});

test.each(['', '123456', '00000-00000-00000-0000', '00000-00000-00000-0000u', '00000-00000-00000-00000-0'])(
  '“%s” is no recovery code',
  (text) => expect(tryParseRecoveryCode(text)).toBeUndefined(),
);
