import { expect, test } from '@jest/globals';
import { moneyText } from './money-text.ts';

const text = (...of: Parameters<typeof moneyText>) => moneyText(...of).replaceAll(/\s/g, ' ');

test.each([
  ['18500000', 'EUR', 'EUR 18.50'],
  ['1200000000', 'JPY', 'JPY 1,200'],
  ['3250000', 'BHD', 'BHD 3.250'],
  ['-490000000', 'EUR', '−EUR 490.00'],
  ['0', 'EUR', 'EUR 0.00'],
  ['12345', 'EUR', 'EUR 0.012345'],
  ['90071992547409931234567', 'EUR', 'EUR 90,071,992,547,409,931.234567'],
])('%s millionths of %s are %s', (micros, currency, expected) => {
  expect(text(micros, currency, 'en')).toBe(expected);
});

test('in German the amount comes first', () => {
  expect(text('1234500000', 'EUR', 'de')).toBe('1.234,50 EUR');
});
